"""Integers on fbg itself: sums, moves, joined channels, functions looked up; to the bit."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from fbg import _fbg
from helpers.onnx_models import make_net, node

# Sums, products, comparisons and casts of integers on fbg itself, exact for all their bits.

ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}
COMPARISONS = {"Less": np.less, "Greater": np.greater, "Equal": np.equal}
SHAPES = [((3, 5), (3, 5)), ((3, 5), (5,)), ((), (4, 1, 7)), ((2, 19), (2, 1)), ((), ())]


def integers(rng, dtype, shape):
    """Random integers of all magnitudes; bool."""
    if dtype == np.bool_:
        return np.asarray(rng.random(shape) < 0.5)
    kind = np.iinfo(dtype)
    x = rng.integers(kind.min, kind.max, shape, dtype, endpoint=True)
    return np.asarray(x >> rng.integers(0, kind.bits, shape).astype(dtype), dtype)


@settings(max_examples=40)
@given(
    op=st.sampled_from([*ARITHMETIC, *COMPARISONS]),
    shapes=st.sampled_from(SHAPES),
    seed=st.integers(0, 2**32 - 1),
    isa=st.sampled_from(fbg.isa.supported()),
    constant=st.booleans(),
)
def test_int32_is_computed_as_integers(op, shapes, seed, isa, constant):
    rng = np.random.default_rng(seed)
    a, b = (integers(rng, np.int32, shape) for shape in shapes)
    b = np.where(rng.random(np.broadcast_shapes(*shapes)) < 0.3, a, b) if not constant else b
    function = (ARITHMETIC | COMPARISONS)[op]
    with np.errstate(over="ignore"):
        wanted = function(a, b)
    inputs = {"a": a} if constant else {"a": a, "b": b}
    with fbg.isa.limit(isa):
        net = make_net(
            [node(op, ["a", "b"], "y")],
            inputs,
            {"y": (wanted.dtype, wanted.shape)},
            {"b": b} if constant else {},
            backends=("fbg",),
        )
        np.testing.assert_array_equal(net.run(inputs)["y"], wanted)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8, np.bool_])
def test_equal_of_all_integers(dtype):
    rng = np.random.default_rng(1)
    for shapes in SHAPES:
        a, b = (integers(rng, dtype, shape) for shape in shapes)
        b = np.where(rng.random(np.broadcast_shapes(*shapes)) < 0.5, a, b).astype(dtype)
        wanted = a == b
        inputs, outputs = {"a": a, "b": b}, {"y": (np.bool_, wanted.shape)}
        net = make_net([node("Equal", ["a", "b"], "y")], inputs, outputs, backends=("fbg",))
        np.testing.assert_array_equal(net.run(inputs)["y"], wanted)


def test_equal_looks_at_both_words_of_int64():
    a = np.array([1, 2**32 + 1, 2**40, -1, 2**63 - 1], np.int64)
    b = np.array([1, 1, 2**41, 2**32 - 1, 2**63 - 1], np.int64)
    nodes, inputs = [node("Equal", ["a", "b"], "y")], {"a": a, "b": b}
    net = make_net(nodes, inputs, {"y": (np.bool_, a.shape)}, backends=("fbg",))
    assert net.run(inputs)["y"].tolist() == [True, False, False, False, True]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.bool_])
def test_casts_to_int32_leave_the_fraction_out(isa, dtype):
    x = np.linspace(-200, 200, 41).astype(dtype)
    if dtype == np.float32:
        x = np.concatenate([x, np.array([2**24 - 1, -(2.0**31), 2.0**31 - 128, -0.75], dtype)])
    nodes = [node("Cast", ["x"], "y", to=6)]
    net = make_net(nodes, {"x": x}, {"y": (np.int32, x.shape)}, backends=("fbg",))
    np.testing.assert_array_equal(net.run({"x": x})["y"], x.astype(np.int32))


def test_integers_and_floats_in_one_chain():
    rng = np.random.default_rng(2)
    a, scale = integers(rng, np.int32, (6, 40)), np.float32(0.37)
    x = rng.uniform(-1e6, 1e6, 40).astype(np.float32)
    nodes = [
        node("Floor", ["x"], "floor"),
        node("Cast", ["floor"], "whole", to=6),
        node("Add", ["a", "whole"], "sum"),
        node("Cast", ["sum"], "real", to=1),
        node("Mul", ["real", "scale"], "scaled"),
        helper.make_node("Less", ["sum", "a"], ["less"], "less"),
    ]
    outputs = {"scaled": (np.float32, (6, 40)), "less": (np.bool_, (6, 40))}
    net = make_net(nodes, {"a": a, "x": x}, outputs, {"scale": scale}, backends=("fbg",))
    got = net.run({"a": a, "x": x})
    with np.errstate(over="ignore"):
        total = a + np.floor(x).astype(np.int32)
    np.testing.assert_array_equal(got["scaled"], total.astype(np.float32) * scale)
    np.testing.assert_array_equal(got["less"], total < a)


@pytest.mark.parametrize(("op", "wanted"), [("Div", [3, -3]), ("Pow", [49, 49])])
def test_other_functions_of_integers_are_exact(op, wanted):
    x, two = np.array([7, -7], np.int32), np.array(2, np.int32)
    result = {"y": (np.int32, (2,))}
    net = make_net([node(op, ["x", "two"], "y")], {"x": x}, result, {"two": two}, backends=("fbg",))
    np.testing.assert_array_equal(net.run({"x": x})["y"], wanted)


@pytest.mark.parametrize("exponent", [np.float32(2), np.array([2], np.float32)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_squares_are_products(dtype, exponent):
    x = np.array([[-3.5, 0, 1e-10, np.inf, np.nan]], dtype)
    two = np.asarray(exponent, dtype)
    net = make_net(
        [node("Pow", ["x", "two"], "y")], {"x": x}, {"y": (dtype, x.shape)}, {"two": two}
    )
    np.testing.assert_array_equal(net.run({"x": x})["y"], x * x)
    assert "power" not in str(net.plan())


# Channels are joined as integers, though each tensor has its own scale: the same bits.

SCALES = st.sampled_from([1e-3, 0.02, 0.37, 5.0])
PARTS = st.tuples(st.integers(1, 20), SCALES, st.integers(0, 255))  # channels, scale, zero point


@given(
    parts=st.lists(
        st.tuples(st.integers(1, 20), SCALES, st.integers(0, 255)), min_size=2, max_size=4
    ),
    spatial=st.sampled_from([(7,), (3, 5), (2, 3, 4)]),
    read_twice=st.booleans(),
    isa=st.sampled_from(fbg.isa.supported()),
)
def test_numbers_are_those_of_each_scale(parts, spatial, read_twice, isa):
    rng = np.random.default_rng(0)
    constants, nodes, feeds, wanted = {}, [], {}, []
    for n, (channels, scale, zero_point) in enumerate(parts):
        q = rng.integers(0, 256, (2, channels, *spatial), dtype=np.uint8)
        feeds[f"q{n}"], constants[f"s{n}"] = q, np.float32(scale)
        constants[f"z{n}"] = np.uint8(zero_point)
        nodes.append(node("DequantizeLinear", [f"q{n}", f"s{n}", f"z{n}"], f"x{n}"))
        wanted.append((q.astype(np.float32) - np.float32(zero_point)) * np.float32(scale))
    nodes.append(node("Concat", [f"x{n}" for n in range(len(parts))], "j", axis=1))
    nodes.append(node("Relu", ["j"], "y"))
    outputs = ["y", "j"] if read_twice else ["y"]
    with fbg.isa.limit(isa):
        got = make_net(nodes, feeds, outputs, constants, backends=("fbg",)).run(feeds)
    joined = np.concatenate(wanted, 1)
    np.testing.assert_array_equal(got["y"], np.maximum(joined, 0))
    if read_twice:
        np.testing.assert_array_equal(got["j"], joined)


@pytest.mark.parametrize("alike", [False, True])
def test_bytes_are_joined_in_one_step_and_read_by_another(alike):
    feeds = {name: np.zeros((1, 64, 8, 8), np.uint8) for name in ("p", "q")}
    constants = {"s": np.float32(0.5), "t": np.float32(0.5 if alike else 0.25), "z": np.uint8(9)}
    nodes = [
        node("DequantizeLinear", ["p", "s", "z"], "a"),
        node("DequantizeLinear", ["q", "t", "z"], "b"),
        node("Concat", ["a", "b"], "j", axis=1),
        node("Relu", ["j"], "y"),
    ]
    net = make_net(nodes, feeds, ["y"], constants, backends=("fbg",))
    net.run(feeds)
    assert len(net.plan().steps) == 2


@given(
    parts=st.lists(PARTS, min_size=1, max_size=3),
    operations=st.lists(st.sampled_from(["Mul", "Add", "Sub"]), min_size=1, max_size=5),
    read_twice=st.booleans(),
)
def test_constants_behind_integers_are_one_factor_and_one_addend(parts, operations, read_twice):
    """Of float64 numbers that are rounded once, so that results are as close as those in turn."""
    rng = np.random.default_rng(1)
    constants, nodes, feeds, wanted, most = {}, [], {}, [], []
    for n, (channels, scale, zero_point) in enumerate(parts):
        q = rng.integers(0, 256, (1, channels, 4, 5), dtype=np.uint8)
        feeds[f"q{n}"], constants[f"s{n}"] = q, np.float32(scale)
        constants[f"z{n}"] = np.uint8(zero_point)
        nodes.append(node("DequantizeLinear", [f"q{n}", f"s{n}", f"z{n}"], f"x{n}"))
        wanted.append((q.astype(np.float64) - zero_point) * np.float64(np.float32(scale)))
        most.append(np.full((channels, 1, 1), 255 * np.float64(np.float32(scale))))
    nodes.append(node("Concat", [f"x{n}" for n in range(len(parts))], "y0", axis=1))
    exact, bound = np.concatenate(wanted, 1), np.concatenate(most)
    for n, operation in enumerate(operations):
        c = rng.uniform(0.5, 2, bound.shape).astype(np.float32)
        constants[f"c{n}"] = c
        nodes.append(node(operation, [f"y{n}", f"c{n}"], f"y{n + 1}"))
        exact = {"Mul": exact * c, "Add": exact + c, "Sub": exact - c}[operation]
        bound = bound * c if operation == "Mul" else bound + c
    last = f"y{len(operations)}"
    outputs = [last, "y1"] if read_twice and len(operations) > 1 else [last]
    got = make_net(nodes, feeds, outputs, constants, backends=("fbg",)).run(feeds)[last]
    assert (np.abs(got - exact) <= bound * 8 * np.finfo(np.float32).eps).all()


# Functions of integers that a product gives, for all 256 of them and on every instruction set.

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


# Integer operators of random geometry: the bits that their definitions give.


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
