"""Zeros that a Pad puts around an image become padding of the convolution behind it."""

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
