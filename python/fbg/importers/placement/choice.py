"""Places each op of a network on a back end."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from fbg.errors import ModelError
from fbg.graph.divide import NATIVE
from fbg.graph.graph import Graph
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import BackEnd, TypedNode
from fbg.importers.placement.assignment import Fused, assign

OF_EMPTY = (NATIVE, "empty")  # the back ends of ops that read tensors without elements


class Placement:
    """The first back end computes all that it can; the cheapest of the others computes the rest.

    If fbg is the first one, `move` then lets its ops move to where they are cheaper. Another
    one that is listed first keeps what it can compute.

    wanted: user's choice of back ends by name of node. measured: the nodes that leave fbg for
    a back end as measured, by name of the back end; for others, costs are modelled.
    """

    def __init__(
        self,
        backends: Sequence[BackEnd],
        wanted: Mapping[str, str],
        measured: Mapping[str, Sequence[str]],
    ) -> None:
        self._backends = backends
        self._wanted = wanted
        self._refused: dict[tuple[str, str], str] = {}
        self._chosen: dict[str, BackEnd] = {}
        self._together: dict[str, tuple[str, ...]] = {}  # the nodes with which each has moved
        named = {backend.name: backend for backend in backends}
        self._moved = {node: named[name] for name, nodes in measured.items() for node in nodes}
        self._rivals = {b.name: b for b in backends[1:] if b.name not in measured}
        if backends[0].name != NATIVE:
            self._rivals.clear()

    def backend(self, op: TypedNode) -> BackEnd:
        """Return the back end of an op; raises ModelError if none can compute it."""
        name = op.node.name
        if name not in self._chosen:
            self._chosen[name] = self._choose(op)
        return self._chosen[name]

    def require(self, names: Collection[str], backend: BackEnd) -> None:
        """Let one back end compute these nodes without being asked for each; it alone can."""
        for name in names:
            if self._wanted.get(name, backend.name) != backend.name:
                raise ModelError(
                    f"placement: node '{name}' can only run on {backend.name}, as the whole network"
                )
        self._wanted = dict.fromkeys(names, backend.name)
        self._chosen = dict.fromkeys(names, backend)

    def is_wanted(self, name: str) -> bool:
        """Whether the user has chosen the back end of a node."""
        return name in self._wanted

    def refuse(self, refused: Unsupported) -> None:
        """Record that a back end cannot compute a node after all: the next one computes it.

        Nodes that have moved together come back together.
        """
        for each in refused.all:
            backend = self._chosen.get(each.op)
            if backend is None:
                raise ModelError(each.reason) from refused
            together = self._together.get(each.op, ()) if backend.name != NATIVE else ()
            for node in together or (each.op,):
                self._chosen.pop(node, None)
                self._refused[node, backend.name] = each.reason

    def can_move(self, op: TypedNode, backend: BackEnd) -> bool:
        """Whether a back end may compute an op that is on another one."""
        name = op.node.name
        is_open = name not in self._wanted and (name, backend.name) not in self._refused
        return is_open and not op.empty_inputs and backend.supports(op)

    def move(self, graph: Graph, ops: Mapping[str, TypedNode]) -> bool:
        """Let runs of ops leave fbg for back ends where they are cheaper; return whether any does.

        graph: that of the ops as they are placed. By the built-in models, fbg is the cheapest.
        """
        if not self._rivals:
            return False
        fused = Fused.of(graph)
        backends = {NATIVE: self._backends[0], **self._rivals}

        @cache
        def cost(name: str, group: int) -> float:
            return sum(backends[name].cost(ops[node]) for node in fused.nodes[group])

        @cache
        def able(name: str, group: int) -> bool:
            nodes = fused.nodes[group]
            return (
                bool(nodes)
                and math.isfinite(cost(name, group))
                and all(self.can_move(ops[node], backends[name]) for node in nodes)
            )

        moved = assign(fused, tuple(self._rivals), cost, able)
        for group, name in moved.items():
            for node in fused.nodes[group]:
                self._moved[node] = backends[name]
                self._together[node] = fused.nodes[group]
                self._chosen.pop(node, None)
        return bool(moved)

    def _choose(self, op: TypedNode) -> BackEnd:
        name = op.node.name
        wanted, moved = self._wanted.get(name), self._moved.get(name)
        if moved is not None and self.can_move(op, moved):
            return moved
        able: list[BackEnd] = []
        backends = self._backends
        if op.empty_inputs:  # whatever the user has chosen
            wanted, backends = None, [b for b in backends if b.name in OF_EMPTY]
        for backend in backends:
            possible = (name, backend.name) not in self._refused
            if possible and wanted in (None, backend.name) and backend.supports(op):
                if backend is backends[0]:  # the others are not asked, which is slow
                    return backend
                able.append(backend)
        if able:
            return min(able, key=lambda backend: backend.cost(op))
        names = [wanted] if wanted else [backend.name for backend in backends]
        reasons = [r for (node, _), r in self._refused.items() if node == name]
        if op.empty_inputs and not reasons:
            reasons.append(f"input '{op.empty_inputs[0]}' has no elements")
        outputs = (name for name in op.node.outputs if name and name not in op.types)
        reasons += [f"the type of its output '{output}' is not known" for output in outputs]
        types = ", ".join(str(op.types.get(name, "unknown")) for name in op.node.inputs if name)
        why = f": {'; '.join(reasons)}" if reasons else ""
        raise ModelError(
            f"node {op.node.title} with inputs {types} runs on none of the back ends "
            f"{', '.join(names)}{why}"
        )
