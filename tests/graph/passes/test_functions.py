"""Functions that are written as many ops become one, in every form that exporters write."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fbg.graph.ops.moves import Reshape
from fbg.graph.ops.windows import Reduce
from fbg.graph.passes.functions import find_functions
from helpers.tensor_graphs import Tensors


def found(tensors, result):
    tensors.graph.output(result)
    return tensors.lines(find_functions(tensors.graph))


def product(tensors, values, left):
    a, b, c = values
    inner = tensors.map("multiply", a, b)
    return tensors.map("multiply", *((inner, c) if left else (c, inner)))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("divides", [False, True])
def test_gelu_by_erf(order, left, divides):
    tensors = Tensors()
    x = tensors.map("negate", tensors.input(2, 3))
    if divides:
        scaled = tensors.map("divide", x, tensors.constant(math.sqrt(2)))
    else:
        scaled = tensors.map("multiply", tensors.constant([math.sqrt(0.5)]), x)
    shifted = tensors.map("add", tensors.constant(1), tensors.map("erf", scaled))
    factors = (x, tensors.constant(0.5), shifted)
    lines = found(tensors, product(tensors, tuple(factors[i] for i in order), left))
    assert lines[0] == "negate(%0)  # n1" and lines[1].startswith("gelu(%1)  # n")
    assert len(lines) == 3 and lines[1].count("n") == 5


@pytest.mark.parametrize("cube", ["power", "left", "right"])
def test_gelu_by_tanh(cube):
    tensors = Tensors()
    x = tensors.input(2, 3)
    if cube == "power":
        third = tensors.map("power", x, tensors.constant(3))
    else:
        square = tensors.map("multiply", x, x)
        third = tensors.map("multiply", *((x, square) if cube == "left" else (square, x)))
    inner = tensors.map("add", x, tensors.map("multiply", third, tensors.constant(0.044715)))
    scaled = tensors.map("multiply", inner, tensors.constant(math.sqrt(2 / math.pi)))
    shifted = tensors.map("add", tensors.map("tanh", scaled), tensors.constant(1))
    lines = found(tensors, product(tensors, (tensors.constant(0.5), x, shifted), True))
    assert len(lines) == 2 and lines[0].startswith("gelu_tanh(%0)")


@pytest.mark.parametrize(
    ("root", "shift", "half"), [(1.5, 1, 0.5), (2**0.5, 2, 0.5), (2**0.5, 1, 1)]
)
def test_other_numbers_are_no_gelu(root, shift, half):
    tensors = Tensors()
    x = tensors.input(2, 3)
    erf = tensors.map("erf", tensors.map("divide", x, tensors.constant(root)))
    shifted = tensors.map("add", erf, tensors.constant(shift))
    lines = found(tensors, product(tensors, (x, tensors.constant(half), shifted), True))
    assert len(lines) == 6


def test_gelu_of_something_else_is_none():
    tensors = Tensors()
    x, y = tensors.input(2, 3), tensors.input(2, 3)
    erf = tensors.map("erf", tensors.map("divide", y, tensors.constant(2**0.5)))
    shifted = tensors.map("add", erf, tensors.constant(1))
    assert len(found(tensors, product(tensors, (x, tensors.constant(0.5), shifted), True))) == 6


def test_constants_of_more_axes_are_computed_as_they_are_written():
    tensors = Tensors()
    x = tensors.input(3)
    erf = tensors.map("erf", tensors.map("divide", x, tensors.constant(2**0.5)))
    shifted = tensors.map("add", erf, tensors.constant([[1.0]]))
    assert len(found(tensors, product(tensors, (x, tensors.constant(0.5), shifted), True))) == 6


@pytest.mark.parametrize("swapped", [False, True])
def test_silu(swapped):
    tensors = Tensors()
    x = tensors.input(2, 3)
    pair = (x, tensors.map("sigmoid", x))
    result = tensors.map("multiply", *(pair[::-1] if swapped else pair))
    assert found(tensors, result) == ["silu(%0)  # n1, n2", "return %1"]


def layer_norm(tensors, x, *, power, twice, axis=2):
    def mean(value):
        reduced = tensors.add(Reduce(value, "mean", (axis,)))
        sizes = tuple(1 if i == axis else int(n) for i, n in enumerate(value.shape))
        return tensors.add(Reshape(reduced, sizes))

    centered = tensors.map("subtract", x, mean(x))
    base = tensors.map("subtract", x, mean(x)) if twice else centered
    square = tensors.map("power", base, tensors.constant(2)) if power else None
    variance = mean(tensors.map("multiply", base, base) if square is None else square)
    shifted = tensors.map("add", variance, tensors.constant(1e-5))
    quotient = tensors.map("divide", centered, tensors.map("square_root", shifted))
    scaled = tensors.map("multiply", quotient, tensors.constant(np.arange(4)))
    return tensors.map("add", tensors.constant(np.ones(4)), scaled)


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("twice", [False, True])
def test_layer_normalization(power, twice):
    tensors = Tensors()
    lines = found(tensors, layer_norm(tensors, tensors.input(2, 3, 4), power=power, twice=twice))
    assert len(lines) == 2
    assert lines[0].startswith("layer_norm(%0, eps=1e-05)  # n1, ")


def test_normalization_over_another_axis_is_none():
    tensors = Tensors()
    x = tensors.input(2, 4, 4)
    assert len(found(tensors, layer_norm(tensors, x, power=True, twice=False, axis=1))) > 2


def test_what_others_read_is_still_computed():
    tensors = Tensors()
    x = tensors.input(2, 3)
    gate = tensors.map("sigmoid", x)
    tensors.graph.output(gate)
    lines = found(tensors, tensors.map("multiply", x, gate))
    assert [line.partition("  #")[0] for line in lines] == [
        "sigmoid(%0)",
        "silu(%0)",
        "return %1, %2",
    ]
