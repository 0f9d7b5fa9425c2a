"""Expressions of the elements of a product's result join its output pipeline."""

from __future__ import annotations

import numpy as np
import pytest

from fbg import _fbg
from fbg.graph.ops.common import Map
from fbg.graph.ops.products import Product
from fbg.graph.ops.tensors import Dequantize, Quantize
from fbg.graph.passes.expressions import fuse_expressions
from fbg.graph.passes.maps import fuse_maps
from fbg.graph.steps import Binary
from helpers.tensor_graphs import Tensors


def started():
    tensors = Tensors()
    return tensors, tensors.conv(tensors.input(1, 3, 2, 4), 5)


def fused(tensors, *outputs):
    for value in outputs:
        tensors.graph.output(value)
    graph = fuse_expressions(fuse_maps(tensors.graph))
    return graph, tensors.lines(graph)[0]


def product_of(graph):
    product = graph.outputs[0].op
    assert isinstance(product, Product)
    return product


def test_a_value_that_is_read_again_is_saved():
    tensors, x = started()
    gate = tensors.map("clip", tensors.map("add", x, tensors.constant(3)), c0=0, c1=6)
    y = tensors.map("divide", tensors.map("multiply", x, gate), tensors.constant(6))
    _, line = fused(tensors, tensors.map("add", y, tensors.constant(np.ones((5, 1, 1)))))
    steps = "save(0), add(3), clip(0, 6), multiply(slot 0), divide(6), add(channels)"
    assert line.startswith(f"conv(%0, float32[5, 3, 1, 1], {steps})")


def test_factors_that_follow_each_other_become_one():
    tensors, x = started()
    y = tensors.map("tanh", x)
    for function, factor in [("multiply", 3.0), ("divide", 6.0), ("multiply", 0.5)]:
        y = tensors.map(function, y, tensors.constant(factor))
    _, line = fused(tensors, y)
    assert "tanh, multiply(0.25))" in line


def test_factors_stay_apart_where_the_last_bit_decides():
    tensors, x = started()
    y = tensors.map("floor", tensors.map("divide", x, tensors.constant(49)))
    _, line = fused(tensors, tensors.map("multiply", y, tensors.constant(2)))
    assert "divide(49), floor, multiply(2))" in line


def test_operands_keep_their_order():
    tensors, x = started()
    y = tensors.map("subtract", tensors.constant(1), tensors.map("tanh", x))
    _, line = fused(tensors, tensors.map("divide", x, y))
    assert "save(0), tanh, subtract(1, x), divide(slot 0, x))" in line


def test_a_branch_is_computed_from_what_was_saved():
    tensors, x = started()
    plus, minus = (tensors.map(f, x, tensors.constant(1)) for f in ("add", "subtract"))
    _, line = fused(tensors, tensors.map("multiply", tensors.map("tanh", plus), minus))
    steps = "save(0), add(1), tanh, save(1), replace(slot 0), subtract(1), multiply(slot 1)"
    assert f"{steps})" in line


def test_one_tensor_of_the_same_shape_may_be_read_anywhere():
    tensors, x = started()
    other = tensors.input(1, 5, 2, 4)
    y = tensors.map("maximum", tensors.map("tanh", x), tensors.map("sigmoid", other))
    graph, line = fused(tensors, tensors.map("multiply", y, other))
    assert product_of(graph).residual is other
    first = "save(0), replace(%1), save(1), replace(slot 0)"  # the tensor is read once
    then = "tanh, save(0), replace(slot 1), sigmoid, maximum(slot 0, x), multiply(slot 1))"
    assert f"{first}, {then}" in line


def test_integers_of_a_tensor_are_read_as_they_are():
    tensors, x = started()
    q = tensors.input(1, 5, 2, 4, dtype="uint8")
    y = tensors.map("multiply", tensors.map("tanh", x), tensors.add(Dequantize(q, 0.5, 3)))
    graph, line = fused(tensors, tensors.add(Quantize(y, 0.1, 4, "int8")))
    assert "tanh, multiply(%1), requantize)" in line
    step = product_of(graph).post[1]
    assert isinstance(step, Binary) and (step.kind, step.scale, step.zero_point) == (
        "uint8",
        0.5,
        3,
    )


@pytest.mark.parametrize("more", ["another tensor", "a reader", "pixels", "no such function"])
def test_what_no_pipeline_computes_stays_an_op(more):
    tensors, x = started()
    y = tensors.map("multiply", x, tensors.map("tanh", x))
    outputs = []
    if more == "another tensor":
        for _ in range(2):
            y = tensors.map("multiply", y, tensors.input(1, 5, 2, 4))
    elif more == "a reader":
        outputs = [x]
    elif more == "pixels":
        y = tensors.map("multiply", y, tensors.constant(np.ones((2, 4))))
    else:
        y = tensors.map("power", y, tensors.constant(1.5))
    graph, line = fused(tensors, y, *outputs)
    assert line.startswith("conv(%0, float32[5, 3, 1, 1])  #")
    assert isinstance(graph.outputs[0].op, Map)


@pytest.mark.parametrize("kind", ["steps", "slots", "functions"])
def test_limits_end_a_pipeline(kind):
    tensors, x = started()
    y = x
    many = []
    if kind == "slots":
        many = [tensors.map("add", x, tensors.constant(i + 1)) for i in range(_fbg.MAX_SLOTS + 2)]
        many = [tensors.map("tanh", value) for value in many[:2]] + many[2:]
        y = many[0]
        for value in many[1:]:
            y = tensors.map("maximum", value, y)
        for value in many:
            y = tensors.map("minimum", y, value)
    else:
        function = "tanh" if kind == "functions" else "absolute"
        for _ in range(_fbg.MAX_STAGES if kind == "steps" else 6):
            y = tensors.map(function, y)
    graph, line = fused(tensors, y)
    assert line.startswith("conv(%0, float32[5, 3, 1, 1])  #")
    assert isinstance(graph.outputs[0].op, Map)
