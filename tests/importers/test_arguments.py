"""Functions behind products that are tables of bytes: the range of their argument, and results."""

import numpy as np
import pytest

from fbg.importers.int8.arguments import ArgumentObserver
from fbg.importers.int8.float_nodes import in_float
from fbg.importers.int8.observe import calibrate_network
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from fbg.quantization import HistogramObserver
from helpers.onnx_models import make_model, make_net, node

RNG = np.random.default_rng(3)
IMAGE = (2, 8, 6, 6)
CONSTANTS = {
    "k": RNG.standard_normal((8, 8, 3, 3)).astype(np.float32) / 8,
    "v": RNG.standard_normal((4, 8, 1, 1)).astype(np.float32) / 3,
    "low": np.linspace(-12, 1, 8, dtype=np.float32),
    "half": np.float32(0.5),
    "one": np.float32(1),
    "root": np.float32(np.sqrt(2)),
    "three": np.float32(3),
    "cubic": np.float32(0.044715),
    "factor": np.float32(np.sqrt(2 / np.pi)),
}


def silu(x):
    return x / (1 + np.exp(-x))


def error(scale, point, x):
    real = (np.clip(np.rint(x / scale) + point, 0, 255) - point) * scale
    return np.mean((silu(real) - silu(x)) ** 2)


@pytest.mark.parametrize("shift", [-20, -5, 0, 3])
def test_a_range_of_the_argument_changes_the_results_least(shift):
    x = (RNG.standard_normal(20000) * 4 + shift).astype(np.float32)
    own, other = ArgumentObserver(silu), HistogramObserver("mse")
    for observer in (own, other):
        observer.update(x)
    errors = [error(*observer.qparams(), x.astype(np.float64)) for observer in (own, other)]
    assert errors[0] <= errors[1] * 1.02
    if shift == -20:  # most of what there is becomes 0
        assert errors[0] < errors[1] / 4


def test_a_function_without_finite_results_takes_the_range_of_the_values():
    x = RNG.standard_normal(1000).astype(np.float32)
    own, other = ArgumentObserver(np.log), HistogramObserver("mse", candidates=48)
    for observer in (own, other):
        observer.update(x)
    assert own.qparams() == other.qparams()


FUNCTIONS = {
    "SiLU": [node("Sigmoid", ["a"], "s"), node("Mul", ["a", "s"], "b")],
    "GELU": [
        node("Div", ["a", "root"], "d"),
        node("Erf", ["d"], "e"),
        node("Add", ["e", "one"], "f"),
        node("Mul", ["a", "f"], "g"),
        node("Mul", ["g", "half"], "b"),
    ],
    "GELU by tanh": [
        node("Pow", ["a", "three"], "p"),
        node("Mul", ["p", "cubic"], "q"),
        node("Add", ["a", "q"], "r"),
        node("Mul", ["r", "factor"], "s"),
        node("Tanh", ["s"], "t"),
        node("Add", ["t", "one"], "u"),
        node("Mul", ["a", "u"], "h"),
        node("Mul", ["h", "half"], "b"),
    ],
    **{
        name: [node(name, ["a"], "b")]
        for name in ("Elu", "Erf", "Exp", "Gelu", "Mish", "Selu", "Sigmoid", "Softplus", "Tanh")
    },
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_behind_a_product_are_tables(name):
    nodes = [
        node("Conv", ["x", "k", "low"], "a", pads=[1, 1, 1, 1]),
        *FUNCTIONS[name],
        node("Conv", ["b", "v"], "y"),
    ]
    feed = {"x": RNG.standard_normal(IMAGE).astype(np.float32)}
    exact = make_net(nodes, feed, ["y"], CONSTANTS).run(feed)["y"]
    net = make_net(nodes, feed, ["y"], CONSTANTS, calibrate=[feed])
    got = net.run(feed)["y"]
    assert np.linalg.norm(got - exact) < 0.03 * np.linalg.norm(exact)
    rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
    assert rounded == {"x", "a", "b"}


@pytest.mark.parametrize("kept", ["s", "b"])
def test_a_node_that_stays_in_float32_takes_its_function_along(kept):
    nodes = [node("Conv", ["x", "k"], "a"), *FUNCTIONS["SiLU"], node("Conv", ["b", "v"], "y")]
    feed = {"x": RNG.standard_normal(IMAGE).astype(np.float32)}
    network = read_model(make_model(nodes, feed, ["y"], CONSTANTS), "test.onnx", None)
    found = calibrate_network(network, [feed], Net)
    assert found.parameters.keys() == {"x", "a", "b"}
    assert in_float(network, found, [kept]).parameters.keys() == {"x", "b"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_whose_result_is_joined_with_others_are_tables(name):
    own = {"a", *(n.output[0] for n in FUNCTIONS[name])}
    second = [
        node(n.op_type, [f"{x}2" if x in own else x for x in n.input], f"{n.output[0]}2")
        for n in FUNCTIONS[name]
    ]
    nodes = [
        node("Conv", ["x", "k"], "a"),
        *FUNCTIONS[name],
        node("Conv", ["x", "k"], "a2"),
        *second,
        node("Concat", ["b", "b2"], "c", axis=1),
        node("Conv", ["c", "joined"], "y"),
    ]
    feed = {"x": RNG.standard_normal(IMAGE).astype(np.float32)}
    constants = {**CONSTANTS, "joined": np.concatenate([CONSTANTS["v"]] * 2, 1)}
    net = make_net(nodes, feed, ["y"], constants, calibrate=[feed])
    rounded = {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}
    assert {"x", "a", "a2"} <= rounded
