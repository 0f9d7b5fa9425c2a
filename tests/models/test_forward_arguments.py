"""Bad arguments of load, forward and encode: an error that names the argument, never a crash."""

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

SMALL = tiny_bert.Geometry(8, 1, 2, 12, vocab_size=90, max_position_embeddings=16)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fbg.load(tiny_bert.write_checkpoint(tmp_path_factory.mktemp("good"), SMALL, seed=1))


# --- forward --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [-1, 90, 2**31, 2**32 + 5, -(2**40)])
def test_a_token_id_outside_the_vocabulary_is_named(model, wrong):
    with pytest.raises(ValueError, match=rf"input_ids.*90.*{wrong}"):
        model.forward(np.array([[2, 5, 3], [2, wrong, 3]]))


def test_an_unsigned_token_id_outside_the_vocabulary_is_named(model):
    with pytest.raises(ValueError, match=rf"input_ids.*{2**64 - 1}"):
        model.forward(np.array([[2, 2**64 - 1]], np.uint64))


@pytest.mark.parametrize("wrong", [-1, 2, 2**32])
def test_a_token_type_outside_its_table_is_named(model, wrong):
    with pytest.raises(ValueError, match=rf"token_type_ids.*{wrong}"):
        model.forward([[2, 5, 3]], token_type_ids=[[0, wrong, 0]])


def test_a_sequence_longer_than_the_position_table(model):
    assert model.forward(np.ones((1, 16), np.int64)).last_hidden_state.shape == (1, 16, 8)
    with pytest.raises(ValueError, match=r"17.*16"):
        model.forward(np.ones((1, 17), np.int64))


def test_a_long_text_is_cut_to_the_position_table(model):
    assert np.isfinite(model.encode("a b c d e f g h " * 50)).all()


@pytest.mark.parametrize(
    "ids", [5, [5, 6], [[[5]]], np.zeros((1, 2, 3), np.int32)], ids=["0-D", "1-D", "3-D", "array"]
)
def test_ids_of_the_wrong_rank_are_a_value_error(model, ids):
    with pytest.raises(ValueError, match="input_ids"):
        model.forward(ids)


@pytest.mark.parametrize("ids", [[[1.0, 2.0]], [["a"]], np.ones((1, 2), np.complex64)], ids=str)
def test_ids_that_are_no_integers_are_a_type_error(model, ids):
    with pytest.raises(TypeError, match="input_ids"):
        model.forward(ids)


def test_ragged_ids_are_a_value_error(model):
    with pytest.raises(ValueError, match="input_ids"):
        model.forward([[1, 2], [1]])


@pytest.mark.parametrize("argument", ["attention_mask", "token_type_ids"])
@pytest.mark.parametrize("shape", [(1, 2), (3, 1), (3,), (1, 3, 1)])
def test_companions_of_another_shape_are_a_value_error(model, argument, shape):
    with pytest.raises(ValueError, match=argument):
        model.forward([[2, 5, 3]], **{argument: np.ones(shape, np.int64)})


@pytest.mark.parametrize("argument", ["attention_mask", "token_type_ids"])
def test_companions_that_are_no_integers_are_a_type_error(model, argument):
    with pytest.raises(TypeError, match=argument):
        model.forward([[2, 5, 3]], **{argument: np.ones((1, 3), np.float32)})


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_an_empty_batch_is_legal(model, shape):
    output = model.forward(np.zeros(shape, np.int64))
    assert output.last_hidden_state.shape == (*shape, 8)
    assert output.pooler_output is not None
    assert output.pooler_output.shape == (shape[0], 8)


def test_a_row_that_is_masked_altogether_is_zeros_and_leaves_others_alone(model):
    alone = model.forward([[2, 5, 3]])
    output = model.forward([[2, 5, 3], [2, 6, 3]], [[1, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(output.last_hidden_state[0], alone.last_hidden_state[0])
    assert not output.last_hidden_state[1].any()


def test_inputs_are_not_written(model):
    ids = np.array([[2, 5, 3, 0]])
    mask = np.array([[1, 1, 1, 0]])
    for array in (ids, mask):
        array.setflags(write=False)
    model.forward(ids, mask)
    assert ids.tolist() == [[2, 5, 3, 0]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64])
def test_every_integer_dtype_and_stride_gives_the_same(model, dtype):
    ids = np.array([[2, 5, 3], [2, 9, 8]])
    expected = model.forward(ids).last_hidden_state
    strided = np.zeros((4, 6), dtype)[::2, ::-2]
    strided[...] = ids
    np.testing.assert_array_equal(model.forward(strided).last_hidden_state, expected)


# --- encode ---------------------------------------------------------------------------------------


def test_a_length_that_special_tokens_fill_is_an_error(tmp_path):
    directory = tiny_bert.write_checkpoint(tmp_path, SMALL)
    for length in (2, 1):  # the tokenizer of a model with length 1 would not cut at all
        tiny_bert.write_json(directory / "sentence_bert_config.json", {"max_seq_length": length})
        if length == 2:
            assert fbg.load(directory).token_counts(["a word"]) == [2]
    with pytest.raises(
        fbg.ModelError, match=r"tokenizer\.json: puts 2 special .* model takes only 1"
    ):
        fbg.load(directory)
