"""Integer operators of random geometry: the bits that their definitions give."""

import numpy as np
import pytest
from onnx import helper

from helpers.onnx_models import make_net


def both(op, feeds, constants, **attributes):
    """The results of fbg and of the reference."""
    nodes = [helper.make_node(op, [*feeds, *constants], ["y"], "node", **attributes)]
    nets = [
        make_net(nodes, feeds, ["y"], constants, backends=backends, placement=placement)
        for backends, placement in [(("fbg",), None), (("reference",), {"node": "reference"})]
    ]
    return [net.run(feeds)["y"] for net in nets]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_quantize_linear_rounds_half_to_even(isa, dtype):
    x = np.arange(-700, 700, dtype=np.float32) / 4
    constants = {"s": np.float32(0.5), "z": dtype(3)}
    y, wanted = both("QuantizeLinear", {"x": x}, constants)
    np.testing.assert_array_equal(y, wanted)
