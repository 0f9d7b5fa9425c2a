"""Ops take the integers that stand for numbers where they can."""

from __future__ import annotations

import numpy as np
import pytest

from fbg.graph.ops.elements import Gather, rows_along
from fbg.graph.ops.moves import AxisMap, Concat, Move, Reshape, Transpose
from fbg.graph.ops.products import IntegerWeights
from fbg.graph.ops.tensors import Dequantize, Quantize
from fbg.graph.ops.windows import Geometry, Reduce, Window
from fbg.graph.packed_weights import Weights
from fbg.graph.passes.integers import join_integers, take_integers, take_means
from helpers.tensor_graphs import Tensors

PAIRS = Geometry((1, 2), (1, 1), (1, 1), (0, 0), (0, 0), (2, 3))


def started():
    tensors = Tensors()
    q = tensors.input(1, 3, 2, 4, dtype="uint8")
    return tensors, q, tensors.add(Dequantize(q, 0.5, 3))


def passed(tensors, *outputs):
    for value in outputs:
        tensors.graph.output(value)
    return tensors.lines(take_integers(tensors.graph))


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (lambda x: Reshape(x, (3, 8)), "reshape(%0)  # n2"),
        (lambda x: Transpose(x, (0, 2, 3, 1)), "transpose(%0, perm=[0, 2, 3, 1])  # n2"),
        (
            lambda x: Move(x, tuple(AxisMap(1, axis) for axis in range(4)), -1.0),
            "move(%0, axis 1 0:1, axis 2 0:1, axis 3 0:1, fill=1)  # n2",
        ),
        (lambda x: Concat((x, x), 1), "concat([%0, %0], axis=1)  # n2"),
        (lambda x: Window(x, "max", PAIRS, (1, 3, 2, 3)), "max_window(%0, 1 x 2)  # n2"),
    ],
)
def test_integers_are_moved_themselves(op, text):
    tensors, _, x = started()
    lines = passed(tensors, tensors.add(op(x)))
    assert lines == [text, "dequantize(%1, scale=0.5, zero_point=3)  # n2", "return %2"]


def test_integers_are_gathered_themselves():
    tensors, _, x = started()
    indices = tensors.input(2, dtype="int64")
    x_shape = tuple(int(size) for size in x.shape)
    shape = (*x_shape[:2], 2, *x_shape[3:])
    places = rows_along(x_shape, 2, (2,))
    lines = passed(tensors, tensors.add(Gather(x, indices, places, shape)))
    assert lines[1].startswith("dequantize(%2, scale=0.5, zero_point=3)")


def test_a_fill_that_no_integer_stands_for_is_moved_among_numbers():
    tensors, _, x = started()
    axes = tuple(AxisMap(1, axis) for axis in range(4))
    lines = passed(tensors, tensors.add(Move(x, axes, 0.25)))
    assert lines[0].startswith("dequantize(%0") and "fill=0.25" in lines[1]


def test_integers_of_different_scales_are_joined_as_numbers():
    tensors, q, x = started()
    other = tensors.add(Dequantize(q, 0.25, 3))
    lines = passed(tensors, tensors.add(Concat((x, other), 1)))
    assert lines[2] == "concat([%1, %2], axis=1)  # n3"


def test_quantizing_in_the_same_way_is_the_integers_themselves():
    tensors, _, x = started()
    assert passed(tensors, tensors.add(Quantize(x, 0.5, 3, "uint8"))) == ["return %0"]


@pytest.mark.parametrize(("scale", "zero_point", "dtype"), [(1, 3, "uint8"), (0.5, 3, "int8")])
def test_quantizing_in_another_way_is_not(scale, zero_point, dtype):
    tensors, _, x = started()
    lines = passed(tensors, tensors.add(Quantize(x, scale, zero_point, dtype)))
    assert [line.partition("(")[0] for line in lines] == ["dequantize", "quantize", "return %2"]


@pytest.mark.parametrize("read_twice", [False, True])
def test_means_of_integers_are_rounded_where_nobody_reads_the_numbers(read_twice):
    tensors, _, x = started()
    means = tensors.add(Window(x, "mean", PAIRS, (1, 3, 2, 3)))
    rounded = tensors.add(Quantize(means, 0.25, 7, "uint8"))
    lines = passed(tensors, rounded, *([means] if read_twice else []))
    if read_twice:
        assert lines[:2] == [
            "mean_window(%0, 1 x 2)  # n2",
            "quantize(%1, scale=0.25, zero_point=7, dtype=uint8)  # n3",
        ]
    else:
        assert lines == ["mean_window(%0, 1 x 2, requantize)  # n2, n3", "return %1"]


def test_products_multiply_integers_where_the_weights_are():
    tensors, _, x = started()
    q = Weights.of(np.ones((5, 3, 1, 1), np.int8))
    weights = IntegerWeights(q, np.float32(0.1), np.int32(0))
    both = tensors.conv(x, 5, alternative=weights), tensors.conv(x, 5)
    lines = passed(tensors, *both)
    assert "conv(%0, int8[5, 3, 1, 1])  # n2" in lines
    assert "conv(%1, float32[5, 3, 1, 1])  # n3" in lines


def test_integers_of_different_scales_are_rounded_before_they_are_joined():
    tensors, q, x = started()
    joined = tensors.add(Concat((x, tensors.add(Dequantize(q, 0.25, 3))), 1))
    lines = passed(tensors, tensors.add(Quantize(joined, 0.5, 3, "uint8")))
    assert lines == [
        "dequantize(%0, scale=0.25, zero_point=3)  # n2",
        "quantize(%1, scale=0.5, zero_point=3, dtype=uint8)  # n4",
        "concat([%0, %2], axis=1)  # n3, n4",
        "return %3",
    ]


def test_means_of_all_pixels_read_the_integers():
    tensors, _, x = started()
    for axes, function in (((2, 3), "mean"), ((3,), "mean"), ((0, 2, 3), "mean"), ((2, 3), "max")):
        tensors.graph.output(tensors.add(Reduce(x, function, axes)))
    assert tensors.lines(take_means(tensors.graph)) == [
        "dequantize(%0, scale=0.5, zero_point=3)  # n1",
        "reshape(%0)  # n2",
        "mean_window(%2, 8)  # n2",
        "reshape(%3)  # n2",
        "reduce_mean(%1, axes=[3])  # n3",
        "reduce_mean(%1, axes=[0, 2, 3])  # n4",
        "reduce_max(%1, axes=[2, 3])  # n5",
        "return %4, %5, %6, %7",
    ]


def test_channels_of_different_scales_are_joined_as_integers():
    tensors, q, x = started()
    tensors.graph.output(tensors.add(Concat((x, tensors.add(Dequantize(q, 0.25, 7))), 1)))
    lines = tensors.lines(join_integers(tensors.graph))
    assert lines[0] == "concat([%0, %0], axis=1)  # n3"
    numbers = "float32[6, 1, 1]"
    assert lines[1].startswith(f"multiply(subtract(dequantize(%1, 1, 0), {numbers}), {numbers})")


def test_rows_and_numbers_are_not_joined_as_integers():
    tensors, q, x = started()
    other = tensors.add(Dequantize(q, 0.25, 7))
    signed = tensors.add(Dequantize(tensors.input(1, 3, 2, 4, dtype="int8"), 0.5, 3))
    numbers = tensors.input(1, 3, 2, 4)
    for values, axis in (((x, other), 2), ((x, numbers), 1), ((x, signed), 1)):
        tensors.graph.output(tensors.add(Concat(values, axis)))
    lines = tensors.lines(join_integers(tensors.graph))
    assert len([line for line in lines if line.startswith("concat")]) == 3
    assert not any("subtract" in line for line in lines)
