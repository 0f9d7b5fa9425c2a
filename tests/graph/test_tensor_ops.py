"""Ops of tensors: what they refuse when they are added, and how they are called in a program."""

from __future__ import annotations

import numpy as np
import pytest

from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.elements import Convert
from fbg.graph.ops.moves import AxisMap, Concat, Move, Reshape, Transpose, input_behind
from fbg.graph.ops.products import MatMul
from fbg.graph.ops.tensors import Constant, Foreign, TensorInput
from helpers.tensor_graphs import Tensors

WRONG = {
    r"reshape: shape must have 24 elements, got \(5, 5\)": lambda x: Reshape(x, (5, 5)),
    r"transpose: perm must name each of 3 axes once, got \(0, 0, 1\)": lambda x: Transpose(
        x, (0, 0, 1)
    ),
    r"concat: values must agree with \(2, 3, 4\) but along the axis": lambda x: Concat(
        (x, Graph().add(TensorInput("y", (2, 2, 4), "float32"))), 0
    ),
    r"matmul: b must have 4 rows, got \(2, 3, 4\)": lambda x: MatMul(x, x),
    "too many elements": lambda x: Move(x, (AxisMap(2**24), AxisMap(2**24), AxisMap(2))),
}


@pytest.mark.parametrize("message", WRONG)
def test_an_op_that_does_not_fit_is_refused(message):
    x = Tensors().input(2, 3, 4)
    with pytest.raises(ValueError, match=message):
        WRONG[message](x).infer()


@pytest.mark.parametrize(("dtype", "fill"), [("uint8", -1.0), ("int8", 0.5), ("int64", np.nan)])
def test_integers_that_cannot_hold_a_fill_are_refused(dtype, fill):
    x = Tensors().input(2, dtype=dtype)
    with pytest.raises(ValueError, match=f"{fill} in a tensor of {dtype}"):
        Move(x, (AxisMap(3, table=(0, 1, -1)),), fill).infer()


def test_programs_show_what_is_known_where_it_is_read():
    tensors = Tensors()
    x = tensors.input(2, 3)
    y = tensors.map("add", tensors.map("affine", x, c0=0.5, c1=1), tensors.constant(np.ones(3)))
    y = tensors.map("multiply", y, tensors.constant(0.25))
    tensors.graph.output(tensors.add(Foreign((y,), "v", "TopK", "onnxruntime", (2, "?"), "int64")))
    assert str(tensors.graph).splitlines() == [
        "%0: float32[2, 3] = input(x)",
        "%1: float32[2, 3] = affine(%0, 0.5, 1)  # n1",
        "%2: float32[2, 3] = add(%1, float32[3])  # n3",
        "%3: float32[2, 3] = multiply(%2, 0.25)  # n5",
        "%4: int64[2, ?] = onnxruntime(TopK, %3)  # n6",
        "return %4",
    ]


def test_a_long_map_is_a_list_of_functions():
    x = Tensors().input(2)
    steps = tuple(("clip", n, n, -0.125, 0.125) for n in range(12))
    assert Map((x,), steps).expression({x: "%0"}) == f"map([%0], {' > '.join(['clip'] * 12)})"


def test_indices_are_followed_to_the_input_that_brings_them():
    tensors = Tensors()
    x = tensors.add(Convert(tensors.input(2, 3, dtype="int64"), "int32"))
    assert input_behind(tensors.add(Transpose(tensors.add(Reshape(x, (3, 2))), (1, 0)))) == "x"
    assert input_behind(tensors.add(Move(x, (AxisMap(1, 0), AxisMap(3, 1))))) is None
    assert input_behind(tensors.add(Constant(np.zeros(2, np.int64)))) is None


def test_values_are_computed_just_before_they_are_read():
    tensors = Tensors()
    x, unread = tensors.input(2, 2), tensors.input(2)
    early = tensors.map("exp", x)
    y = tensors.map("sin", x)
    z = tensors.map("add", y, early)
    tensors.graph.output(tensors.map("cos", z))
    names = [value.name for value in tensors.graph.late()]
    assert names == [x.name, unread.name, y.name, early.name, z.name, "cos"]
