"""Numbers that integers stand for, multiplied and shifted by constants again and again: done once.

A normalization behind channels that are joined as integers (integers.py) has four such steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map, MapStep
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Constant
from fbg.graph.rewrite import Rewriting, rewrite


def fold_affine(graph: Graph) -> Graph:
    """Let maps of integers multiply once and add once."""
    return rewrite(graph, _rule, Map)


def _rule(made: Rewriting, op: Op) -> Value | None:
    if not isinstance(op, Map):
        return None
    for number, step in enumerate(op.steps):
        if step[0] != "dequantize":
            continue
        chain, factor, addend = _chain(op, number)
        folded = np.float32(factor), np.float32(addend)
        if len(chain) > 3 and np.isfinite(folded[0]).all() and np.isfinite(folded[1]).all():
            constants = tuple(made.add(Constant(np.asarray(array))) for array in folded)
            return made.add(_folded(op, chain, constants))
    return None


def _chain(op: Map, number: int) -> tuple[list[int], Any, Any]:
    """Return the steps from one that dequantizes that are q * factor + addend together."""
    _, _, _, scale, zero_point = op.steps[number]
    chain, count = [number], len(op.operands)
    factor: Any = np.float64(scale)
    addend: Any = np.float64(-scale * zero_point)
    while True:
        register = count + chain[-1]
        readers = [n for n, step in enumerate(op.steps) if register in step[1:3]]
        if len(readers) != 1:
            return chain, factor, addend
        function, a, b, _, _ = op.steps[readers[0]]
        other = b if a == register else a
        source = op.operands[other].op if other < count else None
        if not isinstance(source, Constant) or op.operands[other].dtype != "float32":
            return chain, factor, addend
        constant = source.array.astype(np.float64)
        if function == "multiply":
            factor, addend = factor * constant, addend * constant
        elif function == "add":
            addend = addend + constant
        elif function == "subtract" and a == register:
            addend = addend - constant
        else:
            return chain, factor, addend
        chain.append(readers[0])


def _folded(op: Map, chain: list[int], constants: tuple[Value, ...]) -> Map:
    """Return the map with three steps in place of a chain."""
    count, source = len(op.operands), op.steps[chain[0]][1]
    others = [(n, step) for n, step in enumerate(op.steps) if n not in chain]
    read = {source} | {register for _, step in others for register in step[1:3]}
    kept = [register for register in range(count) if register in read]
    registers = {register: n for n, register in enumerate(kept)}
    operands = (*(op.operands[register] for register in kept), *constants)
    steps: list[MapStep] = []

    def append(function: str, a: int, b: int, c0: float, c1: float) -> int:
        steps.append((function, a, b, c0, c1))
        return len(operands) + len(steps) - 1

    for n, (function, a, b, c0, c1) in enumerate(op.steps):
        if n == chain[-1]:
            x = append("dequantize", registers[source], registers[source], 1.0, 0.0)
            x = append("multiply", x, len(kept), 0.0, 0.0)
            registers[count + n] = append("add", x, len(kept) + 1, 0.0, 0.0)
        elif n not in chain:
            registers[count + n] = append(function, registers[a], registers[b], c0, c1)
    return Map(operands, tuple(steps), op.dtype)
