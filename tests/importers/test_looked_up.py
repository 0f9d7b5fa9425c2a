"""Functions of integers that a product gives, for all 256 of them and on every instruction set."""

import math

import numpy as np
import pytest
from onnx import helper

import fbg
from fbg import _fbg
from helpers.onnx_models import make_net, node

erf = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ISAS = fbg.isa.supported()
FUNCTIONS = {
    "Abs": np.abs,
    "Celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Erf": erf,
    "Exp": np.exp,
    "Gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
    "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "LeakyRelu": lambda x: np.where(x > 0, x, 0.01 * x),
    "Mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "Relu": lambda x: np.maximum(x, 0),
    "Sigmoid": sigmoid,
    "SiLU": lambda x: x * sigmoid(x),
    "Softplus": lambda x: np.logaddexp(0, x),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Tanh": np.tanh,
}
WAYS = {
    **{f"MatMul {n}": ("MatMul", n) for n in (5, 16, 24, 64, 100)},
    **{f"Conv {n}": ("Conv", n) for n in (16, 40, 96)},
    **{f"depthwise {n}": ("depthwise", n) for n in (16, 24, 32, 64, 80)},
}


def codes(way, n, dtype):
    """All 256 integers in each place of a vector."""
    low = int(np.iinfo(dtype).min)
    rows = np.arange(256)[:, None] + np.arange(n)
    q = (rows % 256 + low).astype(dtype)
    return q if way == "MatMul" else q.T.reshape(1, n, 16, 16)


def copying(way, n):
    """Weights whose product is x."""
    if way == "MatMul":
        return np.eye(n, dtype=np.int8)
    kernel = np.zeros((1 if way == "depthwise" else n, n, 3, 3), np.int8)
    kernel[:, :, 1, 1] = 1 if way == "depthwise" else np.eye(n)
    return kernel.transpose(1, 0, 2, 3) if way == "depthwise" else kernel


def net_of(way, n, dtype, function, scales, points):
    constants = {
        "w": copying(way, n),
        "one": np.float32(1),
        "sx": np.float32(scales[0]),
        "sy": np.float32(scales[1]),
        "zx": dtype(points[0]),
        "zy": dtype(points[1]),
    }
    given = ["real", "v"]
    more = {"pads": [1, 1, 1, 1], "group": n if way == "depthwise" else 1}
    product = node("Conv", given, "p", **more) if way != "MatMul" else node("MatMul", given, "p")
    if function == "SiLU":
        applied = [node("Sigmoid", ["d"], "s"), node("Mul", ["d", "s"], "f")]
    else:
        applied = [node(function, ["d"], "f")]
    nodes = [
        node("DequantizeLinear", ["x", "sx", "zx"], "real"),
        helper.make_node("DequantizeLinear", ["w", "one"], ["v"], "v"),
        product,
        node("QuantizeLinear", ["p", "sx", "zx"], "q"),
        node("DequantizeLinear", ["q", "sx", "zx"], "d"),
        *applied,
        node("QuantizeLinear", ["f", "sy", "zy"], "y"),
    ]
    x = codes(way, n, dtype)
    return make_net(nodes, {"x": x}, {"y": x}, constants)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_of_all_integers(function, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    for scales, points in (
        ((0.05, 0.03), (low + 128, low + 40)),
        ((0.002, 0.004), (low + 3, low + 128)),
        ((0.7, 0.9), (low + 200, low)),
    ):
        net = net_of("MatMul", 64, dtype, function, scales, points)
        x = codes("MatMul", 64, dtype)
        real = (x.astype(np.float64) - points[0]) * np.float32(scales[0])
        wanted = FUNCTIONS[function](real) / np.float32(scales[1]) + points[1]
        got = net.run({"x": x})["y"]
        off = np.abs(got - np.clip(wanted, low, high))
        assert got.dtype == dtype and off.max() <= 0.5 + 1e-3


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("way", WAYS)
def test_products_of_every_shape_on_every_instruction_set(way, dtype):
    kind, n = WAYS[way]
    x = codes(kind, n, dtype)
    low = np.iinfo(dtype).min
    found = []
    for isa in ISAS:
        with fbg.isa.limit(isa):
            net = net_of(kind, n, dtype, "SiLU", (0.05, 0.03), (low + 128, low + 40))
            found.append(net.run({"x": x})["y"])
            steps = [step.algorithm for step in net.plan().steps]
            apart = not _fbg.looks_up(_fbg.active_features())
        assert any(step.startswith("look_up") for step in steps) == apart
    real = (x.astype(np.float64) - (low + 128)) * np.float32(0.05)
    wanted = FUNCTIONS["SiLU"](real) / np.float32(0.03) + (low + 40)
    assert np.abs(found[0] - np.clip(wanted, low, low + 255)).max() <= 0.5 + 1e-3
    for isa, other in zip(ISAS, found, strict=True):
        assert np.array_equal(other, found[0]), isa
