"""Functions of elements that follow each other become one."""

from __future__ import annotations

from fbg.graph.ops.common import MOST_REGISTERS, Map
from fbg.graph.ops.tensors import Dequantize, Quantize
from fbg.graph.passes.maps import fuse_maps
from helpers.tensor_graphs import Tensors


def fused(tensors, *outputs):
    for value in outputs:
        tensors.graph.output(value)
    return tensors.lines(fuse_maps(tensors.graph))


def test_functions_are_joined_with_their_operands():
    tensors = Tensors()
    x, y = tensors.input(2, 3), tensors.input(3)
    gate = tensors.map("sigmoid", tensors.map("add", x, y))
    lines = fused(tensors, tensors.map("multiply", x, gate))
    assert lines == ["multiply(%0, sigmoid(add(%0, %1)))  # n2, n3, n4", "return %2"]


def test_what_others_read_is_computed_once():
    tensors = Tensors()
    y = tensors.map("sigmoid", tensors.input(2))
    assert fused(tensors, tensors.map("multiply", y, y), tensors.map("tanh", y)) == [
        "sigmoid(%0)  # n1",
        "multiply(%1, %1)  # n2",
        "tanh(%1)  # n3",
        "return %2, %3",
    ]


def test_an_operand_may_be_read_twice():
    tensors = Tensors()
    y = tensors.map("sigmoid", tensors.input(2))
    lines = fused(tensors, tensors.map("multiply", y, y))
    assert lines == ["multiply(sigmoid(%0), sigmoid(%0))  # n1, n2", "return %1"]


def test_equal_steps_become_one():
    tensors = Tensors()
    q = tensors.input(2, 3, dtype="uint8")
    x, again = (tensors.add(Dequantize(q, 0.5, 3)) for _ in range(2))
    tensors.graph.output(tensors.map("multiply", x, tensors.map("tanh", again)))
    op = fuse_maps(tensors.graph).values[-1].op
    assert isinstance(op, Map)
    assert [step[0] for step in op.steps] == ["dequantize", "tanh", "multiply"]


def test_what_is_broadcast_is_computed_once():
    tensors = Tensors()
    x, y = tensors.input(2, 3), tensors.map("exp", tensors.input(3))
    lines = fused(tensors, tensors.map("add", x, y))
    assert lines == ["exp(%1)  # n2", "add(%0, %2)  # n3", "return %3"]


def test_numbers_become_integers_and_back_on_the_way():
    tensors = Tensors()
    q = tensors.input(2, 3, dtype="uint8")
    x = tensors.add(Dequantize(q, 0.5, 3))
    y = tensors.add(Quantize(tensors.map("tanh", x), 0.25, 1, "int8"))
    assert fused(tensors, y, tensors.map("relu", x)) == [
        "quantize(tanh(dequantize(%0, 0.5, 3)), 0.25, 1)  # n2, n3",
        "relu(dequantize(%0, 0.5, 3))  # n4",
        "return %1, %2",
    ]


def test_integers_are_saturated_before_they_are_read():
    tensors = Tensors()
    q = tensors.add(Quantize(tensors.input(2), 0.5, 3, "uint8"))
    lines = fused(tensors, tensors.add(Map.of("clip", (q,), 0, 6, "uint8")))
    assert lines == ["quantize(%0, 0.5, 3)  # n1", "clip(%1, 0, 6)  # n2", "return %2"]


def test_a_map_has_no_more_registers_than_there_are():
    tensors = Tensors()
    x = tensors.input(2)
    for _ in range(3 * MOST_REGISTERS):
        x = tensors.map("affine", x, c0=0.5, c1=1)
    tensors.graph.output(x)
    ops = [value.op for value in fuse_maps(tensors.graph).values]
    registers = [op.registers for op in ops if isinstance(op, Map)]
    assert max(registers) <= MOST_REGISTERS and len(registers) <= 4
