"""Convolutions of a network in int8 that stay in float32 as they are faster."""

import numpy as np
import pytest

from fbg.importers.int8 import costs
from fbg.importers.int8.agreement import relative_error
from helpers.onnx_models import make_net, node

RNG = np.random.default_rng(9)
CONSTANTS = {
    "k1": RNG.standard_normal((16, 3, 3, 3)).astype(np.float32),
    "k2": RNG.standard_normal((16, 16, 3, 3)).astype(np.float32) / 12,
    "k3": RNG.standard_normal((8, 16, 1, 1)).astype(np.float32) / 4,
    "gain": RNG.uniform(0.5, 2, 16).astype(np.float32),
    "shift": RNG.standard_normal(16).astype(np.float32),
}
# Only a and c read tensors that are in float32 anyway: the input, and the result of a norm.
NODES = [
    node("Conv", ["x", "k1"], "a", pads=[1, 1, 1, 1]),
    node("Relu", ["a"], "ra"),
    node("Conv", ["ra", "k2"], "b", pads=[1, 1, 1, 1]),
    node("InstanceNormalization", ["b", "gain", "shift"], "n"),
    node("Conv", ["n", "k2"], "c", pads=[1, 1, 1, 1]),
    node("Relu", ["c"], "rc"),
    node("Conv", ["rc", "k3"], "y"),
]
FEED = {"x": RNG.standard_normal((1, 3, 20, 20), np.float32)}


def in_int8(net):
    """The names of the convolutions that read integers."""
    nodes = net.network.nodes
    return {n.name for n in nodes if n.op == "Conv" and "dequantized" in n.inputs[0]}


@pytest.fixture
def cost_of(monkeypatch):
    """Sets the cost of a convolution, a function of the dtype and the number of inputs."""

    def install(cost):
        def packed_cost(packed, pixels):
            assert pixels == (1, 20, 20, packed.in_channels)
            return cost(packed.dtype.name, packed.in_channels)

        monkeypatch.setattr(costs, "_cost", packed_cost)

    return install


@pytest.mark.parametrize("cheaper", ["int8", "float32"])
def test_the_cheaper_form_is_taken_where_both_are_at_hand(cost_of, cheaper):
    cost_of(lambda dtype, _: 0 if dtype == cheaper else 1e6)
    net = make_net(NODES, FEED, ["y"], CONSTANTS, calibrate=[FEED])
    assert in_int8(net) == ({"a", "b", "c", "y"} if cheaper == "int8" else {"b", "y"})
    exact = make_net(NODES, FEED, ["y"], CONSTANTS).run(FEED)["y"]
    assert relative_error(net.run(FEED)["y"], exact) < 0.03
    if cheaper == "float32":  # what it computes is integers, by the convolution itself
        steps = [set(step.nodes) for step in net.plan().steps]
        assert any({"a", "ra", "ra.quantized"} <= names for names in steps)
        rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
        assert {"ra", "rc"} <= rounded and "x" not in rounded


def test_the_rounding_counts_and_little_does_not(cost_of):
    pixels = FEED["x"].size
    for gained, stays in ((costs.LEAST - pixels - 9, False), (costs.LEAST - pixels + 9, True)):
        cost_of(lambda dtype, inputs, g=gained: g if (dtype, inputs) == ("int8", 3) else 0)
        net = make_net(NODES, FEED, ["y"], CONSTANTS, calibrate=[FEED])
        assert ("a" not in in_int8(net)) is stays


def test_nodes_of_a_wanted_accuracy_stay_in_float32_besides(cost_of):
    cost_of(lambda dtype, inputs: 1e6 if (dtype, inputs) == ("int8", 3) else 0)
    options = {"calibrate": [FEED], "accuracy": 0.99995}
    net = make_net(NODES, FEED, ["y"], CONSTANTS, **options)
    assert net.kept.agreement >= 0.99995 and "a" not in in_int8(net)
    assert "a" not in [each.name for each in net.kept.nodes]
    net = make_net(NODES, FEED, ["y"], CONSTANTS, calibrate=[FEED], higher_precision=["b"])
    assert in_int8(net) == {"c", "y"}
