"""Indices that a run computes: in range, out of range, and whatever the number of threads."""

import numpy as np
import pytest

from fbg.errors import ModelError
from helpers.onnx_models import make_net, node

rng = np.random.default_rng(5)
X = rng.standard_normal((5, 7)).astype(np.float32)
# Each op reads indices k + 0, which the run computes.
CASES = {
    "Gather": (["x", "i"], {"axis": 1}, (4,), r"within \[-7, 6\]", 7),
    "GatherElements": (["x", "i"], {"axis": 0}, (2, 7), r"within \[-5, 4\]", 5),
    "GatherND": (["x", "i"], {}, (3, 2), r"within \[-5, 4\] and within \[-7, 6\]", 7),
    "ScatterElements": (["x", "i", "u"], {"axis": 1}, (5, 2), r"within \[-7, 6\]", -8),
    "ScatterND": (["x", "i", "u"], {}, (3, 1), r"within \[-5, 4\]", -6),
}


def built(op, **options):
    inputs, attributes, shape, *_ = CASES[op]
    updates = {"ScatterElements": shape, "ScatterND": (3, 7)}.get(op, (1,))
    nodes = [node("Add", ["k", "zero"], "i"), node(op, inputs, "y", **attributes)]
    constants = {"zero": np.zeros((), np.int64), "u": np.ones(updates, np.float32)}
    return make_net(nodes, {"x": X, "k": (np.int64, shape)}, ["y"], constants, **options)


@pytest.mark.parametrize("op", CASES)
def test_computed_indices_are_followed_as_onnxruntime_follows_them(op):
    shape = CASES[op][2]
    k = rng.permutation(5)[:1].repeat(np.prod(shape)).reshape(shape) if "Sc" not in op else None
    if k is None:
        k = np.broadcast_to(np.arange(shape[-1]), shape) if op == "ScatterElements" else None
    if k is None:
        k = np.array([[4], [-4], [0]])
    wanted = built(op, backends=("onnxruntime",)).run({"x": X, "k": np.array(k)})["y"]
    for threads in (1, 2, 3):
        net = built(op, backends=("fbg",), num_threads=threads)
        np.testing.assert_array_equal(net.run({"x": X, "k": np.array(k)})["y"], wanted)


@pytest.mark.parametrize("op", CASES)
def test_an_index_out_of_range_is_an_error_of_its_node(op):
    *_, shape, limits, wrong = CASES[op]
    net = built(op, backends=("fbg",))
    k = np.zeros(shape, np.int64)
    net.run({"x": X, "k": k})
    k.reshape(-1)[-1] = wrong
    with pytest.raises(ModelError, match=f"node 'y': indices must be {limits}"):
        net.run({"x": X, "k": k})
    net.run({"x": X, "k": np.zeros(shape, np.int64)})  # later runs are not concerned


def test_tensors_without_elements_are_known_beforehand():
    nodes = [
        node("Slice", ["x", "five", "five"], "none"),
        node("ReduceSum", ["none", "zero"], "sum", keepdims=0),
        node("Add", ["sum", "x"], "y"),
    ]
    constants = {"five": np.array([5]), "zero": np.array([0])}
    net = make_net(nodes, {"x": X}, ["y"], constants, backends=("fbg",))
    np.testing.assert_array_equal(net(X), X)
