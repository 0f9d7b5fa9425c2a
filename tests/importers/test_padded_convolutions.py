"""Zeros that a Pad puts around an image become padding of the windows that read it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

SIDES = st.lists(st.integers(-1, 3), min_size=4, max_size=4)


def network(rng, sides, kernel, *, fill=0.0, channels=0, pads=(0, 0, 0, 0), stride=1, groups=1):
    inputs = 4 + channels
    constants = {
        "p": np.array([0, 0, *sides[:2], 0, channels, *sides[2:]]),
        "v": np.float32(fill),
        "w": rng.standard_normal((8, inputs // groups, kernel, kernel), np.float32),
    }
    options = {"pads": list(pads), "strides": [stride, stride], "group": groups}
    nodes = [node("Pad", ["x", "p", "v"], "padded"), node("Conv", ["padded", "w"], "y", **options)]
    return nodes, constants, {"x": rng.standard_normal((2, 4, 9, 8), np.float32)}


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    sides=SIDES,
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    kernel=st.sampled_from([1, 3, 5]),
    stride=st.integers(1, 2),
    groups=st.sampled_from([1, 2, 4]),
    channels=st.sampled_from([0, 0, 4]),
    fill=st.sampled_from([0.0, 0.0, -0.0, 1.0]),
)
def test_results_are_those_of_onnxruntime(
    seed, sides, pads, kernel, stride, groups, channels, fill
):
    rng = np.random.default_rng(seed)
    more = {"fill": fill, "channels": channels, "pads": pads, "stride": stride, "groups": groups}
    nodes, constants, feed = network(rng, sides, kernel, **more)
    wanted = plain_onnxruntime(make_model(nodes, feed, ["y"], constants), feed)[0]
    y = make_net(nodes, feed, ["y"], constants, backends=("fbg",)).run(feed)["y"]
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("sides", "kernel", "more", "folded"),
    [
        ([0, 0, 1, 1], 3, {"stride": 2}, True),
        ([1, 2, 2, 1], 5, {"stride": 2, "groups": 4}, True),
        ([1, 1, 1, 1], 3, {"pads": (1, 1, 1, 1)}, True),
        ([1, 1, 1, 1], 3, {"fill": 1.0}, False),
        ([1, 1, 1, 1], 3, {"channels": 4}, False),
        ([-1, 0, 1, 1], 3, {}, False),
        ([1, 1, 1, 1], 1, {}, False),
    ],
)
def test_zeros_around_an_image_are_not_written(sides, kernel, more, folded):
    nodes, constants, feed = network(np.random.default_rng(0), sides, kernel, **more)
    net = make_net(nodes, feed, ["y"], constants, backends=("fbg",))
    assert ("padded" in str(net.profile(feed))) != folded


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    op=st.sampled_from(["QLinearConv", "ConvInteger", "computed"]),
    sides=SIDES,
    kernel=st.sampled_from([1, 3]),
    fill=st.sampled_from([0, 7, 7, 9]),
)
def test_integers_are_padded_with_their_zero_point(seed, op, sides, kernel, fill):
    rng = np.random.default_rng(seed)
    constants = {
        "p": np.array([0, 0, *sides[:2], 0, 0, *sides[2:]]),
        "v": np.uint8(fill),
        # Larger weights saturate in onnxruntime on CPUs without VNNI.
        "w": rng.integers(-64, 65, (8, 4, kernel, kernel), np.int8),
        "z": np.uint8(7),
        "wz": np.int8(0),
        **{name: np.float32(scale) for name, scale in (("s", 0.1), ("ws", 0.01), ("ys", 0.4))},
    }
    feed = {"x": rng.integers(0, 256, (2, 4, 9, 8), np.uint8)}
    if op == "computed":
        del constants["z"]
        feed["z"] = np.array(7, np.uint8)
    inputs = {"QLinearConv": ["padded", "s", "z", "w", "ws", "wz", "ys", "z"]}
    conv = "ConvInteger" if op == "computed" else op
    nodes = [
        node("Pad", ["x", "p", "v"], "padded"),
        node(conv, inputs.get(op, ["padded", "w", "z", "wz"]), "y", pads=[1, 0, 0, 1]),
    ]
    results = {"y": (np.uint8 if op == "QLinearConv" else np.int32, None)}
    wanted = plain_onnxruntime(make_model(nodes, feed, results, constants), feed)[0]
    net = make_net(nodes, feed, results, constants, backends=("fbg",))
    np.testing.assert_array_equal(net.run(feed)["y"], wanted)
    written = "padded" in str(net.profile(feed))
    assert written or (fill == 7 and op != "computed") or max(map(abs, sides)) == 0


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    sides=SIDES,
    pads=st.sampled_from([(0, 0, 0, 0), (1, 0, 0, 1)]),
    kernel=st.sampled_from([2, 3]),
    stride=st.integers(1, 2),
    fill=st.sampled_from([0.0, 0.0, 1.0]),
    options=st.fixed_dictionaries(
        {"count_include_pad": st.integers(0, 1), "ceil_mode": st.integers(0, 1)}
    ),
)
def test_means_count_the_zeros_of_a_pad(seed, sides, pads, kernel, stride, fill, options):
    rng = np.random.default_rng(seed)
    constants = {"p": np.array([0, 0, *sides[:2], 0, 0, *sides[2:]]), "v": np.float32(fill)}
    windows = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": list(pads)}
    nodes = [
        node("Pad", ["x", "p", "v"], "padded"),
        node("AveragePool", ["padded"], "y", **windows, **options),
    ]
    feed = {"x": rng.standard_normal((2, 4, 9, 8), np.float32)}
    wanted = plain_onnxruntime(make_model(nodes, feed, ["y"], constants), feed)[0]
    y = make_net(nodes, feed, ["y"], constants, backends=("fbg",)).run(feed)["y"]
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


def test_means_over_a_small_border_are_one_step():
    constants = {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "v": np.float32(0)}
    nodes = [
        node("Pad", ["x", "p", "v"], "padded"),
        node("AveragePool", ["padded"], "y", kernel_shape=[3, 3]),
    ]
    feed = {"x": np.ones((1, 4, 8, 8), np.float32)}
    net = make_net(nodes, feed, ["y"], constants, backends=("fbg",))
    assert "padded" not in str(net.profile(feed))
