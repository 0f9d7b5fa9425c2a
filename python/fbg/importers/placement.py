"""Which back end computes each op of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fbg.errors import ModelError
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import BackEnd, Op


class Placement:
    """The first back end computes what it can, and the cheapest of the others the rest.

    wanted: back ends of some nodes, by name.
    """

    def __init__(self, backends: Sequence[BackEnd], wanted: Mapping[str, str]) -> None:
        self._backends = backends
        self._wanted = wanted
        self._refused: dict[tuple[str, str], str] = {}
        self._chosen: dict[str, BackEnd] = {}

    def backend(self, op: Op) -> BackEnd:
        """Return where an op is computed; raises ModelError if nothing can compute it."""
        name = op.node.name
        if name not in self._chosen:
            self._chosen[name] = self._choose(op)
        return self._chosen[name]

    def is_wanted(self, name: str) -> bool:
        """Whether somebody has chosen the back end of a node."""
        return name in self._wanted

    def refuse(self, refused: Unsupported) -> None:
        """Note what a back end cannot compute after all: it is computed by the next one."""
        for each in refused.all:
            backend = self._chosen.pop(each.op, None)
            if backend is None:
                raise ModelError(each.reason) from refused
            self._refused[each.op, backend.name] = each.reason

    def _choose(self, op: Op) -> BackEnd:
        wanted = self._wanted.get(op.node.name)
        able: list[BackEnd] = []
        for backend in self._backends:
            possible = (op.node.name, backend.name) not in self._refused
            if possible and wanted in (None, backend.name) and backend.supports(op):
                if backend is self._backends[0]:  # asking the others, which is slow, is spared
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
