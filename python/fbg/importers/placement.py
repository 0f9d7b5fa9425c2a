"""Places each op of a network on a back end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fbg.errors import ModelError
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import BackEnd, TypedNode


class Placement:
    """The first back end computes all that it can; the cheapest of the others computes the rest.

    wanted: user's choice of back ends by name of node.
    """

    def __init__(self, backends: Sequence[BackEnd], wanted: Mapping[str, str]) -> None:
        self._backends = backends
        self._wanted = wanted
        self._refused: dict[tuple[str, str], str] = {}
        self._chosen: dict[str, BackEnd] = {}

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
        """Record that a back end cannot compute a node after all: the next one computes it."""
        for each in refused.all:
            backend = self._chosen.pop(each.op, None)
            if backend is None:
                raise ModelError(each.reason) from refused
            self._refused[each.op, backend.name] = each.reason

    def _choose(self, op: TypedNode) -> BackEnd:
        wanted = self._wanted.get(op.node.name)
        able: list[BackEnd] = []
        for backend in self._backends:
            possible = (op.node.name, backend.name) not in self._refused
            if possible and wanted in (None, backend.name) and backend.supports(op):
                if backend is self._backends[0]:  # the others are not asked, which is slow
                    return backend
                able.append(backend)
        if able:
            return min(able, key=lambda backend: backend.cost(op))
        names = [wanted] if wanted else [backend.name for backend in self._backends]
        reasons = [r for (node, _), r in self._refused.items() if node == op.node.name]
        types = ", ".join(str(op.types.get(name, "unknown")) for name in op.node.inputs if name)
        why = f": {'; '.join(reasons)}" if reasons else ""
        raise ModelError(
            f"node {op.node.title} with inputs {types} runs on none of the back ends "
            f"{', '.join(names)}{why}"
        )
