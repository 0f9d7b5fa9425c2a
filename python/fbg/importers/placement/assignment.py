"""Chooses the back end of every op of fbg: the assignment of all ops that is cheapest as a whole.

What fbg computes as one op moves as a whole, since it would take longer apart. A tensor that passes
from one back end to another costs a copy, or a change of its layout, once for all its readers; the
inputs and outputs of a run belong to fbg. An op therefore moves only as part of a run of ops that
saves more than its borders cost, and takes ops along that alone would stay.

For one other back end, the cheapest assignment is a minimum cut between the ops that stay and those
that move. With several, each may in turn take ops from all before it (alpha-expansion).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from fbg.graph.divide import NATIVE
from fbg.graph.graph import Graph
from fbg.graph.min_cut import sink_side
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Constant, Foreign, TensorInput

PASSED = 5e-6  # seconds for which a tensor is handed over, whatever its size
COPIED = 10e9  # bytes that are read or written in a second while its layout changes
LONGEST = 1e9  # seconds, beyond which no cost is told from another
TICKS = 1e12  # of a second: capacities are integers, so that no rounding leaves any

SESSION = -1  # in the place of a group: the one whose inputs and outputs are those of a run
Cost = Callable[[str, int], float]
Able = Callable[[str, int], bool]
T = TypeVar("T")


@dataclass(frozen=True)
class Border:
    """A tensor that a group writes and others read. seconds: to pass it to another back end."""

    writer: int
    readers: tuple[int, ...]
    seconds: float


@dataclass(frozen=True)
class Fused:
    """The ops of a graph in groups that only move as a whole, by number.

    nodes: those from which each group was made. backends: where the graph has each.
    """

    nodes: tuple[tuple[str, ...], ...]
    backends: tuple[str, ...]
    borders: tuple[Border, ...]

    @classmethod
    def of(cls, graph: Graph) -> Fused:
        """Group values that were made of the same node."""
        values = [v for v in graph.live() if not isinstance(v.op, (Constant, TensorInput))]
        number = _numbers(values)
        count = max(number.values(), default=-1) + 1
        nodes: list[dict[str, None]] = [{} for _ in range(count)]
        backends = [NATIVE] * count
        for value in values:
            nodes[number[value]].update(dict.fromkeys(value.nodes))
            if isinstance(value.op, Foreign):
                backends[number[value]] = value.op.backend
        return cls(tuple(map(tuple, nodes)), tuple(backends), tuple(_borders(graph, number)))

    def runs(self, groups: Iterable[int]) -> list[list[int]]:
        """Return groups in sets that tensors connect."""
        chosen = sorted(groups)
        parent = {group: group for group in chosen}
        for border in self.borders:
            ends = [g for g in (border.writer, *border.readers) if g in parent]
            for end in ends[1:]:
                parent[_root(parent, end)] = _root(parent, ends[0])
        found: dict[int, list[int]] = {}
        for group in chosen:
            found.setdefault(_root(parent, group), []).append(group)
        return list(found.values())


def assign(fused: Fused, others: Sequence[str], cost: Cost, able: Able) -> dict[int, str]:
    """Return the back ends of the groups that leave fbg.

    others: names of back ends. cost: seconds of a group on a back end. able: whether a back end
    that is not the group's own may compute it.
    """
    backends = list(fused.backends)
    free = [group for group, backend in enumerate(backends) if backend == NATIVE]
    for other in others:
        if not any(cost(other, g) < cost(backends[g], g) and able(other, g) for g in free):
            continue  # borders alone move nothing, and asking takes long
        for group in _expanded(fused, backends, free, other, cost, able):
            backends[group] = other
    return {group: backends[group] for group in free if backends[group] != NATIVE}


def _expanded(
    fused: Fused, backends: Sequence[str], free: Sequence[int], other: str, cost: Cost, able: Able
) -> list[int]:
    """Return the free groups that move to another back end, or are there."""
    source, sink, first = 0, 1, 2
    count = first + len(backends)
    forever = 2 * round(LONGEST * TICKS) * (len(backends) + len(fused.borders) + 1)
    edges: list[tuple[int, int, int]] = []

    def at(group: int) -> int:
        return source if group == SESSION else first + group

    may_move = {group for group in free if able(other, group)}
    for group, backend in enumerate(backends):
        if group in may_move and backend != other:
            edges.append((source, at(group), _ticks(cost(other, group))))
            edges.append((at(group), sink, _ticks(cost(backend, group))))
        elif backend == other:
            edges.append((at(group), sink, forever))
        else:
            edges.append((source, at(group), forever))
    for border in fused.borders:
        ends = (border.writer, *border.readers)
        ticks, writer = _ticks(border.seconds), at(border.writer)
        if len({NATIVE if end == SESSION else backends[end] for end in ends}) > 1:
            # It is paid for now, and no longer if all move.
            edges += [(at(end), count, forever) for end in ends] + [(count, sink, ticks)]
            count += 1
            continue
        # It is paid for if the writer stays and a reader moves, and the other way around.
        edges += [(writer, count, ticks), (count + 1, writer, ticks)]
        edges += [(count, at(reader), forever) for reader in border.readers]
        edges += [(at(reader), count + 1, forever) for reader in border.readers]
        count += 2
    moved = sink_side(count, edges, source, sink)
    return [group for group in free if at(group) in moved]


def _ticks(seconds: float) -> int:
    return round(min(seconds, LONGEST) * TICKS)


def _numbers(values: Iterable[Value]) -> dict[Value, int]:
    """Return the number of each value's group, in order."""
    parent: dict[object, object] = {}
    for value in values:
        for key in (value, *value.nodes):
            parent.setdefault(key, key)
        for name in value.nodes:
            parent[_root(parent, name)] = _root(parent, value)
    numbers: dict[object, int] = {}
    return {value: numbers.setdefault(_root(parent, value), len(numbers)) for value in values}


def _root(parent: dict[T, T], key: T) -> T:
    while parent[key] != key:
        parent[key] = key = parent[parent[key]]
    return key


def _borders(graph: Graph, number: dict[Value, int]) -> Iterable[Border]:
    readers: dict[Value, dict[int, None]] = {}
    for value, group in number.items():
        for read in value.op.inputs:
            readers.setdefault(read, {})[group] = None
    for output in graph.outputs:
        readers.setdefault(output, {})[SESSION] = None
    for value, groups in readers.items():
        writer = number.get(value, SESSION)
        others = tuple(group for group in groups if group != writer)
        if others and not isinstance(value.op, Constant):
            yield Border(writer, others, PASSED + 2 * _bytes(value) / COPIED)


def _bytes(value: Value) -> int:
    """Return the bytes of a tensor, or 0 where they are not known."""
    sizes = [size for size in value.shape if isinstance(size, int)]
    if len(sizes) < len(value.shape):
        return 0
    return math.prod(sizes) * np.dtype(value.dtype).itemsize
