"""encode_hybrid against the formulas of bge-m3, computed from the hidden states of the model."""

import numpy as np
import pytest

import fbg
from fbg.runtime.steps import compute
from fbg.tasks.context import steps_of
from helpers import tiny_bert
from helpers.tiny_outputs import DIMENSION, MULTI, SPARSE, random
from helpers.tiny_outputs import write_hybrid as write
from helpers.torch_files import write_torch_file

TEXTS = ["the cat", "Ada lives in the north, the cat too.", "x", "", "zebra 42! the \u4e2d"]


def layer(name, x, rows):
    weight = random(f"{name}.weight", rows, x.shape[1]).astype(np.float16).astype(np.float32)
    return x @ weight.T + random(f"{name}.bias", rows).astype(np.float16).astype(np.float32)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_embeddings_are_those_of_the_formulas(tmp_path, isa):
    model = fbg.load(write(tmp_path))
    found = model.encode_hybrid(TEXTS)
    dense_weights = found.sparse.to_dense()
    assert found.sparse.data.size > 0
    assert model.encode_hybrid([]).dense.shape[0] == 0
    np.testing.assert_allclose(found.dense, model.encode(TEXTS), rtol=0, atol=1e-6)
    special = {*model.tokenizer.frame, model.tokenizer.unknown_id, model.tokenizer.padding_id}
    for n, ids in enumerate(model.tokenizer(TEXTS)):
        states = model.forward(ids[None]).last_hidden_state[0]
        vectors = unit(layer(MULTI, states[1:], DIMENSION))
        np.testing.assert_allclose(found.multi[n], vectors, rtol=0, atol=1e-5)
        wanted = np.zeros(dense_weights.shape[1], np.float32)
        for token, value in zip(ids, layer(SPARSE, states, 1)[:, 0], strict=True):
            if token not in special:
                wanted[token] = max(wanted[token], value)
        np.testing.assert_allclose(dense_weights[n], wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 3, 100])
def test_hidden_states_of_one_batch_are_kept_at_a_time(tmp_path, batch_size):
    model = fbg.load(write(tmp_path))
    steps = steps_of(fbg.Model.encode_hybrid)(model, TEXTS * 20, batch_size)
    counts = []
    work = next(steps)
    while True:
        assert (work.before, work.after) == (sum(counts), 100 - sum(counts) - len(work.ids))
        counts.append(len(work.ids))
        try:
            work = steps.send(compute(work, 1))
        except StopIteration as end:
            assert len(end.value.multi) == sum(counts) == 100
            break
    assert max(counts) == batch_size


def test_other_models_have_no_such_layers(tmp_path):
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path / "bert"))
    with pytest.raises(fbg.ModelError, match=r"has no sparse_linear\.pt and colbert_linear\.pt"):
        model.encode_hybrid("a")
    model = fbg.load(write(tmp_path / "mean", pooling="mean"))
    with pytest.raises(fbg.ModelError, match="must embed a text by its first token, got pooling"):
        model.encode_hybrid("a")


FLOATS = np.ones((1, 32), np.float32)


@pytest.mark.parametrize(
    ("name", "tensors", "message"),
    [
        (SPARSE, None, r"sparse_linear\.pt: no such file, but there is the other head"),
        (MULTI, None, r"colbert_linear\.pt: no such file"),
        (SPARSE, {"weight": FLOATS}, "tensor bias is missing"),
        (SPARSE, dict.fromkeys("edcab", FLOATS), "tensor a has no place in a linear layer"),
        (MULTI, {"weight": FLOATS, "bias": np.ones(2, np.float32)}, "weight must have shape"),
        (MULTI, {"weight": FLOATS, "bias": np.ones(1, np.int64)}, "bias must have floats"),
    ],
)
def test_a_wrong_file_is_named(tmp_path, name, tensors, message):
    (write(tmp_path) / name).unlink()
    if tensors is not None:
        write_torch_file(tmp_path / name, tensors)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)
