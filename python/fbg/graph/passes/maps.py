"""Fuses consecutive functions of elements, so that tensors between them are not written."""

from __future__ import annotations

from collections.abc import Sequence

from fbg.graph.graph import Graph
from fbg.graph.ops.common import MOST_REGISTERS, Map, MapStep
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Dequantize, Quantize
from fbg.graph.rewrite import Rewriting, rewrite


def fuse_maps(graph: Graph) -> Graph:
    """Join functions of elements, including conversions between integers and numbers."""
    return rewrite(graph, _rule, (Map, Quantize))


def as_map(op: Op) -> Map | None:
    """Return a function of elements as a map, or None for other ops."""
    if isinstance(op, Quantize):
        step = ("quantize", 0, 0, op.scale, float(op.zero_point))
        return Map((op.x,), (step,), op.dtype)
    if isinstance(op, Dequantize):
        return Map((op.q,), (("dequantize", 0, 0, op.scale, float(op.zero_point)),))
    return op if isinstance(op, Map) else None


def _rule(made: Rewriting, op: Op) -> Value | None:
    own = None if isinstance(op, Dequantize) else as_map(op)
    if own is None:
        return None
    room = MOST_REGISTERS - own.registers
    inner: dict[Value, Map] = {}
    for value in own.operands:
        found = _inner(made, op, value)
        if found is not None and found.registers <= room:
            inner[value] = found
            room -= found.registers
    if not inner:
        return None if own is op else made.add(own)
    joined = [value for value in inner if not isinstance(value.op, Dequantize)]
    return made.add(_joined(own, inner), *joined)


def _inner(made: Rewriting, op: Op, value: Value) -> Map | None:
    """Return the function that computes an operand, if it may join the op.

    A value with other readers is computed once, except for numbers that integers stand for.
    """
    found = as_map(value.op)
    if found is None or isinstance(value.op, Dequantize):
        return found
    # Others are saturated when they are stored.
    floats = value.dtype in ("float32", "bool")
    same = value.shape == op.infer()
    return found if made.is_inside(value) and same and floats else None


def _joined(outer: Map, inner: dict[Value, Map]) -> Map:
    """Return a map with other maps in place of its operands."""
    parts = [inner.get(value) for value in outer.operands]
    operands = tuple(
        dict.fromkeys(
            x
            for value, part in zip(outer.operands, parts, strict=True)
            for x in ((value,) if part is None else part.operands)
        )
    )
    steps: dict[MapStep, int] = {}  # with the register of each: equal steps are one

    def append(own: Sequence[int], step: MapStep) -> int:
        function, a, b, c0, c1 = step
        return steps.setdefault((function, own[a], own[b], c0, c1), len(operands) + len(steps))

    registers: list[int] = []  # registers of the operands and steps of the outer map
    for value, part in zip(outer.operands, parts, strict=True):
        if part is None:
            registers.append(operands.index(value))
            continue
        own = [operands.index(x) for x in part.operands]
        for step in part.steps:
            own.append(append(own, step))
        registers.append(own[-1])
    for step in outer.steps:
        registers.append(append(registers, step))
    return Map(operands, tuple(steps), outer.dtype)
