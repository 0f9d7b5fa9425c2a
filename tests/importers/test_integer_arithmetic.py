"""Sums, products, comparisons and casts of integers on fbg itself, exact for all their bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from helpers.onnx_models import make_net, node

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
