"""Divides a graph into parts, each of which a single back end computes."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from fbg.graph.graph import Graph
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Constant, Foreign, TensorInput

NATIVE = "fbg"


@dataclass(frozen=True)
class Part:
    """Values that a back end computes one after the other.

    inputs: values it reads: from other parts, the run, or constants. outputs: values others read.
    """

    backend: str
    values: tuple[Value, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]


def divide(graph: Graph) -> list[Part]:
    """Return the parts of a graph: as many ops as possible of one back end before the next one."""
    steps, step_of = _steps(graph)
    readers: list[list[int]] = [[] for _ in steps]
    missing = [0] * len(steps)
    for i, values in enumerate(steps):
        needed = {step_of[x] for value in values for x in value.op.inputs if x in step_of} - {i}
        missing[i] = len(needed)
        for other in needed:
            readers[other].append(i)
    ready: dict[str, list[int]] = {_backend(values[0]): [] for values in steps}  # heaps
    for i, count in enumerate(missing):
        if not count:
            heapq.heappush(ready[_backend(steps[i][0])], i)
    groups: list[list[Value]] = []
    while any(ready.values()):
        heap = min(filter(None, ready.values()))  # the first step that is left is ready
        group: list[Value] = []
        while heap:
            i = heapq.heappop(heap)
            group += steps[i]
            for reader in readers[i]:
                missing[reader] -= 1
                if not missing[reader]:
                    heapq.heappush(ready[_backend(steps[reader][0])], reader)
        groups.append(group)
    return _parts(graph, groups)


def _backend(value: Value) -> str:
    return value.op.backend if isinstance(value.op, Foreign) else NATIVE


def _steps(graph: Graph) -> tuple[list[list[Value]], dict[Value, int]]:
    """Return groups of ops that are computed together, in order: all outputs of a foreign node."""
    steps: dict[object, list[Value]] = {}
    for value in graph.late():
        if not isinstance(value.op, (Constant, TensorInput)):
            key = value.nodes[0] if isinstance(value.op, Foreign) else value
            steps.setdefault(key, []).append(value)
    listed = list(steps.values())
    return listed, {value: i for i, values in enumerate(listed) for value in values}


def _parts(graph: Graph, groups: Iterable[list[Value]]) -> list[Part]:
    owner = {value: i for i, group in enumerate(groups) for value in group}
    read = {x for v, i in owner.items() for x in v.op.inputs if owner.get(x) != i}
    read.update(graph.outputs)
    parts = []
    for group in groups:
        inside = set(group)
        reads = dict.fromkeys(x for value in group for x in value.op.inputs if x not in inside)
        outputs = tuple(value for value in group if value in read)
        parts.append(Part(_backend(group[0]), tuple(group), tuple(reads), outputs))
    return parts
