"""Places each op of a network on a back end: by support, by cost as modelled or as measured.

By cost, the ops that are cheaper on another back end leave fbg in runs. What fbg computes as one op
moves as a whole, since it would take longer apart. A tensor that passes from one back end to
another costs a copy, or a change of its layout; the inputs and outputs of a run of the network
belong to fbg. A run whose ops together do not save more than its borders cost comes back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from fbg.errors import ModelError
from fbg.graph.divide import NATIVE, Part, divide
from fbg.graph.graph import Graph
from fbg.graph.ops.tensors import Constant, Foreign, TensorInput
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import BackEnd, TypedNode
from fbg.importers.description import TensorType
from fbg.tuning.store import MOVES, Moved, moves_key, store

OF_EMPTY = (NATIVE, "empty")  # the back ends of ops that read tensors without elements
PASSED = 5e-6  # seconds for which a tensor is handed over, whatever its size
COPIED = 10e9  # bytes that are read or written in a second while its layout changes


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
        self._backends, self._wanted = backends, wanted
        self._refused: dict[tuple[str, str], str] = {}
        self._chosen: dict[str, BackEnd] = {}
        self._moved = {node: b for b in backends for node in measured.get(b.name, ())}
        rivals = backends[1:] if backends[0].name == NATIVE else ()
        self._rivals = [b for b in rivals if b.name not in measured]
        self._may_move = True

    def backend(self, op: TypedNode) -> BackEnd:
        """Return the back end of an op; raises ModelError if none can compute it."""
        name = op.node.name
        if name not in self._chosen:
            moved = self._moved.get(name)
            if moved is None or not self.can_move(op, moved):
                moved = self._choose(op)
            self._chosen[name] = moved
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

    def refuse(self, refused: Unsupported) -> None:
        """Record that a back end cannot compute a node after all: the next one computes it.

        If the node has moved there, so do all others that have, and may then move anew.
        """
        for each in refused.all:
            backend = self._chosen.pop(each.op, None)
            if backend is None:
                raise ModelError(each.reason) from refused
            self._refused[each.op, backend.name] = each.reason
            if each.op in self._moved and backend.name != NATIVE:
                self._stay([node for node, at in self._moved.items() if at is backend])
                self._may_move = True

    def can_move(self, op: TypedNode, backend: BackEnd) -> bool:
        """Whether a back end may compute an op that is on another one."""
        name = op.node.name
        is_open = name not in self._wanted and (name, backend.name) not in self._refused
        return is_open and not op.empty_inputs and backend.supports(op)

    def move(self, graph: Graph, ops: Mapping[str, TypedNode]) -> bool:
        """Let ops leave fbg for back ends where they are cheaper, or come back; whether any does.

        graph: that of the ops as they are placed. By the built-in models, fbg is the cheapest.
        """
        before = self._moved.copy()
        if self._may_move:
            self._may_move = False
            native = {name: self._backends[0].cost(op) for name, op in ops.items()}
            for rival in self._rivals:
                if any(rival.cost(op) < native[name] for name, op in ops.items()):
                    self._leave(graph, ops, rival)
        elif self._moved:
            for part in divide(graph):
                self._return(part, ops)
        return self._moved != before

    def _leave(self, graph: Graph, ops: Mapping[str, TypedNode], rival: BackEnd) -> None:
        """Let the ops that are cheaper on a back end than where they are move there."""
        for value in graph.live():
            if value.nodes and not isinstance(value.op, (Constant, Foreign, TensorInput)):
                own = [ops[node] for node in value.nodes]
                now = self._moved.get(value.nodes[0], self._backends[0])
                cheaper = sum(map(rival.cost, own)) < sum(map(now.cost, own))
                if cheaper and all(self.can_move(op, rival) for op in own):
                    for node in value.nodes:
                        self._moved[node] = rival
                        self._chosen.pop(node, None)

    def _return(self, part: Part, ops: Mapping[str, TypedNode]) -> None:
        """Let the ops of a part come back that do not save what it costs to pass its tensors."""
        nodes = {node for value in part.values for node in value.nodes if node in self._moved}
        rival = next((rival for rival in self._rivals if rival.name == part.backend), None)
        if nodes and rival:
            saved = sum(self._backends[0].cost(ops[n]) - rival.cost(ops[n]) for n in nodes)
            tensors = {v for v in (*part.inputs, *part.outputs) if not isinstance(v.op, Constant)}
            sizes = [TensorType(np.dtype(v.dtype), v.shape).nbytes for v in tensors]  # 0: not known
            if saved <= sum(PASSED + 2 * size / COPIED for size in sizes):
                self._stay(nodes)

    def _stay(self, nodes: Iterable[str]) -> None:
        for node in nodes:
            del self._moved[node]
            self._chosen.pop(node, None)

    def _choose(self, op: TypedNode) -> BackEnd:
        name, wanted = op.node.name, self._wanted.get(op.node.name)
        backends = [b for b in self._backends if wanted in (None, b.name)]
        if op.empty_inputs:  # whatever the user has chosen
            backends = [b for b in self._backends if b.name in OF_EMPTY]
        able = (b for b in backends if (name, b.name) not in self._refused and b.supports(op))
        best = next(able, None)
        if best is None:
            raise ModelError(self._nowhere(op, backends))
        if best is self._backends[0]:  # the others are not asked, which is slow
            return best
        return min((best, *able), key=lambda backend: backend.cost(op))

    def _nowhere(self, op: TypedNode, backends: Sequence[BackEnd]) -> str:
        """Return the sentence on an op that none of these back ends computes."""
        reasons = [reason for (node, _), reason in self._refused.items() if node == op.node.name]
        if op.empty_inputs and not reasons:
            reasons.append(f"input '{op.empty_inputs[0]}' has no elements")
        unknown = (name for name in op.node.outputs if name and name not in op.types)
        reasons += [f"the type of its output '{output}' is not known" for output in unknown]
        types = ", ".join(str(op.types.get(name, "unknown")) for name in op.node.inputs if name)
        head = f"node {op.node.title} with inputs {types} runs on none of the back ends "
        names = ", ".join(backend.name for backend in backends)
        return head + names + (f": {'; '.join(reasons)}" if reasons else "")


def known_moves(
    ops: Mapping[str, TypedNode], backends: Sequence[BackEnd], threads: int, features: int
) -> dict[str, Moved]:
    """Return what was measured to leave fbg, by the name of the back end to which it moves."""
    first, *others = [backend.name for backend in backends]
    if first != NATIVE or not any(key.startswith(MOVES) for key in store.known()):
        return {}
    network = digest(ops)
    found = {name: store.moved(moves_key(network, name, threads, features)) for name in others}
    return {name: moved for name, moved in found.items() if moved is not None}


def digest(ops: Mapping[str, TypedNode]) -> str:
    """Return a name for the nodes of a network and their types, in order."""
    found = hashlib.blake2b(digest_size=16)
    for op in ops.values():
        node = op.node
        plain = {k: v for k, v in node.attributes.items() if isinstance(v, (int, float, str, list))}
        types = tuple(str(op.types.get(name)) for name in (*node.inputs, *node.outputs))
        kind = node.domain, node.op, node.version, repr(sorted(plain.items())), types
        found.update(repr((node.name, node.inputs, node.outputs, kind)).encode())
    return found.hexdigest()
