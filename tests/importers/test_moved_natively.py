"""Operators that fbg computes as moves: what is refused, ones on a diagonal, whole images."""

import numpy as np
import pytest

from fbg.errors import ModelError
from helpers.onnx_models import make_net, node


@pytest.mark.parametrize("wrong", [-1, 5, 2**40, -(2**63)])
def test_a_sequence_cannot_be_longer_than_its_steps_or_shorter_than_none(wrong):
    nodes = [node("ReverseSequence", ["x", "n"], "y")]
    feeds = {"x": np.ones((4, 2), np.float32), "n": np.array([4, 0])}
    net = make_net(nodes, feeds, ["y"], backends=("fbg",))
    net.run(feeds)
    with pytest.raises(ModelError, match="node 'y'"):
        net.run(feeds | {"n": np.array([wrong, 1])})


@pytest.mark.parametrize("k", [-9, -3, 0, 2, 9, 2**40])
@pytest.mark.parametrize("dtype", [None, 1, 7, 9, 10])
def test_ones_on_a_diagonal(k, dtype):
    x = np.zeros((4, 6), np.float32)
    own = {} if dtype is None else {"dtype": dtype}
    like = {None: "float32", 1: "float32", 7: "int64", 9: "bool", 10: "float16"}[dtype]
    compare_eye = np.eye(4, 6, max(min(k, 6), -4)).astype(like)
    net = make_net(
        [node("EyeLike", ["x"], "y", k=k, **own)],
        {"x": x},
        {"y": (np.dtype(like), None)},
        backends=("fbg",),
    )
    np.testing.assert_array_equal(net.run({"x": x})["y"], compare_eye)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("turned", [False, True])
def test_whole_images_are_pooled_where_they_lie(op, turned):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 5, 9, 11)).astype(np.float32)
    nodes = [node(op, ["t" if turned else "x"], "y")]
    if turned:
        nodes.insert(0, node("Transpose", ["x"], "t", perm=[0, 3, 1, 2]))
    net = make_net(nodes, {"x": x}, ["y"], backends=("fbg",))
    image = x.transpose(0, 3, 1, 2) if turned else x
    pick = np.max if op == "GlobalMaxPool" else np.mean
    np.testing.assert_allclose(net(x), pick(image, (2, 3), keepdims=True), 1e-5, 1e-6)
    assert any("arrange" in step.algorithm for step in net.plan().steps) is False
