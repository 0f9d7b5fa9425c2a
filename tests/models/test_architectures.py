"""Every family of encoders against transformers: the same network from the same files.

A model is loaded once for each dtype and runs under every ISA. Models that each ISA loads for
itself are those of test_bert_golden.py and test_saved_models.py.
"""

import math

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks import registry
from fbg.networks.config import Buckets
from fbg.networks.distances import distance_buckets
from helpers import tiny_models, tiny_towers
from helpers.formulas import cosines
from helpers.tiny_bert import change_json
from helpers.tiny_models import (
    CONFIGS,
    TOKENIZERS,
    golden_inputs,
    tiny_model,
    write_tiny,
)

TOLERANCE = 1e-4
LEAST_COSINE = {"bfloat16": 0.999, "float16": 0.9999, "int8": 0.99}  # to transformers, mean
DTYPES = ["float32", *LEAST_COSINE]
BATCHES = ("full", "holey")
FAMILIES = list(TOKENIZERS)  # one model of each: what does not depend on details is tested with it
SHAPED = [*FAMILIES, "deberta-v2-convolution", "deberta-v2-groups", "nomic_bert-moe"]
HEADED = {name: "roberta." for name in FAMILIES if name.endswith(("roberta", "camembert"))}
HEADED["modernbert"] = "model."


@pytest.fixture(scope="module", params=list(CONFIGS))
def tiny(request):
    return tiny_model(request.param)


@pytest.fixture(scope="module")
def directory(tiny, tmp_path_factory):
    path = tmp_path_factory.mktemp(tiny.name)
    return write_tiny(path, tiny.name)


@pytest.fixture(scope="module")
def loaded(directory):
    """The model of `directory` in each dtype, on two threads, loaded before an ISA is chosen."""
    return {dtype: fbg.load(directory, dtype=dtype, num_threads=2) for dtype in DTYPES}


def run(model, tiny, batch):
    """The output for a golden batch, and its mask."""
    inputs = golden_inputs(tiny.config)
    ids = inputs[batch]
    mask = inputs.get(f"{batch}_mask", np.ones_like(ids))
    return model.forward(ids, mask, inputs.get(f"{batch}_types")), mask


# --- Numbers ----------------------------------------------------------------------------------


def test_every_family_has_a_golden_model(tmp_path):
    read = {
        registry.read_config(write_tiny(tmp_path / n, n) / "config.json").model_type
        for n in CONFIGS
    }
    towers = {config["model_type"] for config in tiny_towers.CONFIGS.values()}
    assert read | towers == set(registry.FAMILIES)
    assert set(FAMILIES) | towers == set(registry.FAMILIES)


def test_float32_agrees_with_transformers(tiny, loaded, isa):
    for batch in BATCHES:
        output, mask = run(loaded["float32"], tiny, batch)
        hidden = output.last_hidden_state
        expected = tiny.golden[f"{batch}_hidden"]
        np.testing.assert_allclose(hidden[mask == 1], expected, 0, TOLERANCE, err_msg=batch)
        assert not hidden[mask == 0].any()
        assert (output.pooler_output is None) == (f"{batch}_pooler" not in tiny.golden)
        if output.pooler_output is not None:
            first = mask[:, 0] == 1  # transformers pools position 0, also where it is masked
            pooled, expected = output.pooler_output[first], tiny.golden[f"{batch}_pooler"][first]
            np.testing.assert_allclose(pooled, expected, 0, TOLERANCE, err_msg=batch)


@pytest.mark.parametrize("dtype", LEAST_COSINE)
def test_other_dtypes_point_where_transformers_does(tiny, loaded, isa, dtype):
    for batch in BATCHES:
        output, mask = run(loaded[dtype], tiny, batch)
        hidden, expected = output.last_hidden_state[mask == 1], tiny.golden[f"{batch}_hidden"]
        assert cosines(hidden, expected).mean() >= LEAST_COSINE[dtype], batch
        assert np.abs(hidden - expected).max() > TOLERANCE, "it must not quietly run float32"


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_has_the_same_bits_alone_and_in_any_batch(tiny, directory, loaded, dtype):
    inputs = golden_inputs(tiny.config)
    ids, mask, types = inputs["holey"], inputs["holey_mask"], inputs.get("holey_types")
    together = loaded[dtype].forward(ids, mask, types)
    one = fbg.load(directory, dtype=dtype, num_threads=1)
    for row in range(ids.shape[0]):
        part = slice(row, row + 1)
        alone = one.forward(ids[part], mask[part], None if types is None else types[part])
        np.testing.assert_array_equal(
            alone.last_hidden_state, together.last_hidden_state[part], strict=True
        )
        if together.pooler_output is not None:
            assert alone.pooler_output is not None
            np.testing.assert_array_equal(alone.pooler_output, together.pooler_output[part])


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_at_the_right_changes_nothing(tiny, loaded, dtype):
    model = loaded[dtype]
    ids = golden_inputs(tiny.config)["full"][:, :9]
    padded = np.pad(ids, ((0, 0), (0, 4)), constant_values=tiny.config["pad_token_id"])
    mask = np.pad(np.ones_like(ids), ((0, 0), (0, 4)))
    result = model.forward(padded, mask).last_hidden_state[:, :9]
    np.testing.assert_array_equal(result, model.forward(ids).last_hidden_state)


# --- Files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["auto", "model.encoder."])
def test_tensor_names_may_carry_the_prefix_of_a_model_with_a_head(
    tiny, directory, tmp_path, prefix
):
    if prefix == "auto":  # as transformers names it
        prefix = HEADED.get(tiny.config["model_type"], f"{tiny.config['model_type']}.")
    write_tiny(tmp_path, tiny.name, prefix=prefix)
    outputs = [run(fbg.load(path), tiny, "full")[0] for path in (directory, tmp_path)]
    np.testing.assert_array_equal(*(output.last_hidden_state for output in outputs))
    assert (outputs[0].pooler_output is None) == (outputs[1].pooler_output is None)


@pytest.mark.parametrize("name", SHAPED)
def test_every_missing_tensor_is_named(tmp_path, name):
    file = write_tiny(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    for missing in tensors:
        if "pooler" in missing and missing.endswith(".weight"):
            continue  # without it, there is no pooler
        save_file({key: value for key, value in tensors.items() if key != missing}, file)
        with pytest.raises(fbg.ModelError, match=rf"model\.safetensors: tensor {missing} is mis"):
            fbg.load(tmp_path)


@pytest.mark.parametrize("name", SHAPED)
def test_every_tensor_of_the_wrong_shape_is_named(tmp_path, name):
    file = write_tiny(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    for wrong, value in tensors.items():
        save_file({**tensors, wrong: np.concatenate([value, value])}, file)
        with pytest.raises(fbg.ModelError, match=rf"model\.safetensors: tensor {wrong} must have"):
            fbg.load(tmp_path)


def test_a_window_may_be_of_any_size(tmp_path):
    ids = [list(range(4, 34))]
    hidden = []
    for size in (80, 2**40, 2**70):
        write_tiny(tmp_path, "modernbert", local_attention=size)
        hidden.append(fbg.load(tmp_path).forward(ids).last_hidden_state)
    assert np.array_equal(hidden[0], hidden[1])
    assert np.array_equal(hidden[0], hidden[2])


def test_rotations_and_windows_are_read_as_transformers_4_wrote_them(tmp_path):
    new = fbg.load(write_tiny(tmp_path / "new", "modernbert"))
    assert new.config.windows == (None, 3, None, 3)
    old = write_tiny(tmp_path / "old", "modernbert")
    rope = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    change_json(old / "config.json", rope_parameters=None, layer_types=None, **rope)
    ids = np.arange(30)[None]
    states = [model.forward(ids).last_hidden_state for model in (new, fbg.load(old))]
    np.testing.assert_array_equal(*states)
    change_json(old / "config.json", local_rope_theta=50)
    assert not np.array_equal(fbg.load(old).forward(ids).last_hidden_state, states[0])


def test_distances_fall_into_the_buckets_of_transformers():
    # By its formula: exact up to 8, then logarithmic up to 128, keys after the query from 16 on.
    for distance in range(1, 1000):
        near = distance if distance < 8 else min(15, 8 + int(2 * math.log2(distance / 8) + 1e-9))
        got = distance_buckets(np.array([-distance, distance]), Buckets(32, 128))
        np.testing.assert_array_equal(got, [near, near + 16])
    assert distance_buckets(np.array([0]), Buckets(32, 128)) == [0]


def test_tables_of_a_network_are_made_once_and_reported(tmp_path):
    for name, columns in (("modernbert", 18 * 2), ("mpnet", 3 * 2), ("roberta", 0)):
        model = fbg.load(write_tiny(tmp_path / name, name))
        model.forward([[5]])
        length = model.max_length if name == "modernbert" else model.max_length - 0.5
        assert model.memory_report().derived == 4 * length * columns
        derived = model.network.derived
        assert all(a is b for a, b in zip(derived, model.network.derived, strict=True))


# --- Sequences and text -----------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_the_longest_sequence_has_a_position_for_every_token(tmp_path, name):
    model = fbg.load(write_tiny(tmp_path, name))
    config = tiny_model(name).config
    longest = tiny_models.max_length(config)
    assert model.max_length == model.config.max_length == longest
    token = config["pad_token_id"] + 1
    assert model.forward(np.full((1, longest), token)).last_hidden_state.any()
    with pytest.raises(ValueError, match=f"{longest + 1} positions, but the model has {longest}"):
        model.forward(np.full((1, longest + 1), token))


def test_a_family_without_token_types_takes_zeros_only(tmp_path):
    model = fbg.load(write_tiny(tmp_path, "distilbert"))
    ids = np.array([[2, 9, 3]])
    without = model.forward(ids).last_hidden_state
    np.testing.assert_array_equal(model.forward(ids, None, ids * 0).last_hidden_state, without)
    with pytest.raises(ValueError, match=r"token_type_ids must be in \[0, 1\), got 2"):
        model.forward(ids, None, ids)


@pytest.mark.parametrize("name", FAMILIES)
def test_encode_pools_the_hidden_states_of_the_tokenizers_ids(tmp_path, name):
    tokenizer = TOKENIZERS[name]()
    model = fbg.load(write_tiny(tmp_path, name, tokenizer=tokenizer))
    # A text that spells the padding token has its id: positions must skip it here too.
    for text in ("the cat", "", "a b, c <pad> the end", "the the the " * 20):
        ids = tokenizer.encode(text).ids
        cut = ids if len(ids) <= model.max_length else [*ids[: model.max_length - 1], ids[-1]]
        assert model.token_counts([text]) == [len(cut)]
        expected = model.forward([cut]).last_hidden_state[0].mean(axis=0)
        np.testing.assert_allclose(model.encode(text), expected, rtol=0, atol=1e-6)


def test_repr_names_the_family(tmp_path):
    assert "distilbert, 3 layers, hidden size 36, 2 heads" in repr(
        fbg.load(write_tiny(tmp_path, "distilbert"))
    )
