"""What `fbg.tune` has measured to be faster on another back end, for a network and its types."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence

from fbg.graph.divide import NATIVE
from fbg.importers.backends.base import BackEnd, TypedNode
from fbg.tuning.store import MOVES, Moved, moves_key, store


def known_moves(
    ops: Mapping[str, TypedNode], backends: Sequence[BackEnd], threads: int, features: int
) -> dict[str, Moved]:
    """Return what was measured to leave fbg, by the name of the back end to which it moves."""
    first, *others = [backend.name for backend in backends]
    if first != NATIVE or not any(key.startswith(MOVES) for key in store.known()):
        return {}
    network = digest(ops)
    found = {name: store.moved(moves_key(network, name, threads, features)) for name in others}
    return {
        name: Moved(tuple(i for i in moved.nodes if i < len(ops)))
        for name, moved in found.items()
        if moved is not None
    }


def digest(ops: Mapping[str, TypedNode]) -> str:
    """Return a name for the nodes of a network and their types, in order."""
    found = hashlib.blake2b(digest_size=16)
    for op in ops.values():
        node = op.node
        found.update(repr((node.name, node.inputs, node.outputs, kind_of(op))).encode())
    return found.hexdigest()


def kind_of(op: TypedNode) -> Hashable:
    """Return all of an op that its time depends on."""
    node = op.node
    simple = {k: v for k, v in node.attributes.items() if isinstance(v, (int, float, str, list))}
    types = [str(op.types.get(name)) for name in (*node.inputs, *node.outputs)]
    return node.domain, node.op, node.version, repr(sorted(simple.items())), tuple(types)
