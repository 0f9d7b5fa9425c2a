"""Operators that fbg computes as moves, against onnxruntime: Compress, ReverseSequence, EyeLike,
pads, repetitions, blocks, and pools of whole images.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fbg.errors import ModelError
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

many = settings(max_examples=60, deadline=None)
DTYPES = st.sampled_from([np.float32, np.uint8, np.int64, np.float64])
SIZES = st.integers(1, 7)


def compare(nodes, feeds, constants=None, like=np.float32, **options):
    model = make_model(nodes, feeds, {"y": (like, None)}, constants)
    wanted = plain_onnxruntime(model, feeds)[0]
    net = make_net(nodes, feeds, {"y": (like, None)}, constants, backends=("fbg",), **options)
    got = net.run(feeds)["y"]
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def drawn(data, shape, dtype):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    return rng.integers(0, 200, shape).astype(dtype)


@many
@given(st.data())
def test_compress_by_a_known_condition(data):
    shape = data.draw(st.lists(SIZES, min_size=1, max_size=3))
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    size = int(np.prod(shape)) if axis is None else shape[axis]
    condition = data.draw(st.lists(st.booleans(), min_size=1, max_size=size))
    condition[0] = True
    x = drawn(data, shape, data.draw(DTYPES))
    own = {} if axis is None else {"axis": axis}
    nodes = [node("Compress", ["x", "c"], "y", **own)]
    compare(nodes, {"x": x}, {"c": np.array(condition)}, like=x.dtype)


@many
@given(st.data())
def test_sequences_are_reversed(data):
    shape = data.draw(st.lists(SIZES, min_size=2, max_size=4))
    time = data.draw(st.integers(0, 1))
    lengths = [data.draw(st.integers(0, shape[time])) for _ in range(shape[1 - time])]
    x = drawn(data, shape, data.draw(DTYPES))
    nodes = [node("ReverseSequence", ["x", "n"], "y", time_axis=time, batch_axis=1 - time)]
    compare(nodes, {"x": x, "n": np.array(lengths)}, like=x.dtype)


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


@many
@given(st.data())
def test_borders_and_repetitions(data):
    shape = data.draw(st.lists(SIZES, min_size=1, max_size=4))
    x = drawn(data, shape, data.draw(DTYPES))
    mode = data.draw(st.sampled_from(["constant", "edge", "reflect", "wrap"]))
    most = [n - 1 if mode == "reflect" else n for n in shape]
    pads = [data.draw(st.integers(0, n)) for n in (*most, *most)]
    nodes = [node("Pad", ["x", "p"], "y", mode=mode)]
    compare(nodes, {"x": x}, {"p": np.array(pads)}, like=x.dtype)
    repeats = [data.draw(st.integers(1, 4)) for _ in shape]
    compare([node("Tile", ["x", "r"], "y")], {"x": x}, {"r": np.array(repeats)}, like=x.dtype)


@many
@given(st.data())
def test_blocks_of_pixels_and_channels(data):
    b, c = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    n, h, w = data.draw(st.integers(1, 2)), data.draw(SIZES), data.draw(st.integers(1, 40))
    x = drawn(data, (n, c * b * b, h, w), np.float32)
    mode = data.draw(st.sampled_from(["DCR", "CRD"]))
    compare([node("DepthToSpace", ["x"], "y", blocksize=b, mode=mode)], {"x": x})
    x = drawn(data, (n, c, h * b, w * b), np.float32)
    compare([node("SpaceToDepth", ["x"], "y", blocksize=b)], {"x": x})


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
