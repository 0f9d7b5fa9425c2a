"""Functions of elements that follow each other become one: tensors between them are not written."""

from __future__ import annotations

from fbg.graph.graph import Graph
from fbg.graph.ops.common import MOST_REGISTERS, Map, MapStep
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Dequantize, Quantize
from fbg.graph.rewrite import Rewriting, rewrite


def fuse_maps(graph: Graph) -> Graph:
    """Join functions of elements, also those that make integers of numbers and back."""
    return rewrite(graph, _rule, (Map, Quantize))


def as_map(op: Op) -> Map | None:
    """Return a function of elements as a map, None if it is none."""
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
    """Return the function that computes an operand, if it may become part of the op.

    What is read by others, too, is computed once, but for numbers that integers stand for.
    """
    found = as_map(value.op)
    if found is None or isinstance(value.op, Dequantize):
        return found
    # Others are saturated when they are stored.
    floats = value.dtype in ("float32", "bool")
    same = value.shape == op.infer()
    return found if made.is_inside(value) and same and floats else None


def _joined(outer: Map, inner: dict[Value, Map]) -> Map:
    """Return a map with others in the place of operands."""
    parts = [inner.get(value) for value in outer.operands]
    operands = tuple(
        dict.fromkeys(
            x
            for value, part in zip(outer.operands, parts, strict=True)
            for x in ((value,) if part is None else part.operands)
        )
    )
    steps: list[MapStep] = []
    registers: list[int] = []  # of the operands of the outer map, and of its steps
    for value, part in zip(outer.operands, parts, strict=True):
        if part is None:
            registers.append(operands.index(value))
            continue
        own = [operands.index(x) for x in part.operands]
        for function, a, b, c0, c1 in part.steps:
            steps.append((function, own[a], own[b], c0, c1))
            own.append(len(operands) + len(steps) - 1)
        registers.append(own[-1])
    for function, a, b, c0, c1 in outer.steps:
        steps.append((function, registers[a], registers[b], c0, c1))
        registers.append(len(operands) + len(steps) - 1)
    return Map(operands, tuple(steps), outer.dtype)
