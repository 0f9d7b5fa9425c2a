"""Where the ops of a network run fastest: what `fbg.tune` has measured, and how it measures it.

Each group of ops that moves as a whole is timed on fbg, in a run of the network, and on the other
back end by itself. That tells which runs of ops may be worth moving. Whether they are is decided by
the time of the whole network, which has to be shorter with them moved: only there do passing
tensors, caches and ops that are no longer fused with their neighbours count as they will.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.graph.divide import NATIVE
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import ForeignBackEnd, ForeignPart, TypedNode
from fbg.importers.backends.native import Native
from fbg.importers.description import TensorType
from fbg.importers.feeds import random_array
from fbg.importers.placement.assignment import Fused, assign
from fbg.importers.placement.known_moves import kind_of
from fbg.importers.session import Session
from fbg.tuning import trials
from fbg.tuning.store import Moved
from fbg.tuning.trials import HOPELESS, Call, race

GROUP_BUDGET = 0.02  # seconds for one group of ops on one back end
NETWORK_BUDGET = 1.0  # seconds for the runs of the network with different ops moved
MOST_RUNS = 4  # of ops that are added one by one to those that move; then all the others at once


def placement_trials(session: Session) -> list[PlacementTrial]:
    """Return the trials of the back ends that may be faster than fbg, as far as the models tell.

    There are none for a network that does not take random inputs.
    """
    first, *others = session.backends
    ops, feeds = session.ops, session.random_feeds()
    most = HOPELESS * sum(map(first.cost, ops.values()))
    if first.name != NATIVE or not _runs(session, feeds):
        return []
    return [
        PlacementTrial(
            session.moves_key(other.name),
            other,
            tuple(ops),
            feeds,
            partial(session.with_moved, other.name),
        )
        for other in others
        if not isinstance(other, Native) and sum(map(other.cost, ops.values())) <= most
    ]


@dataclass(frozen=True)
class PlacementTrial:
    """The trial of a back end beside fbg, for one network and its shapes.

    nodes: names of all nodes, which a `Moved` numbers. feeds: of a run. session: prepares the
    network with some of them moved.
    """

    key: str
    backend: ForeignBackEnd
    nodes: tuple[str, ...]
    feeds: Mapping[str, Array]
    session: Callable[[Moved], Session]

    def candidates(self) -> list[tuple[Moved, bool]]:
        """Return nothing moved, and the runs of ops that seem worth it, the best ones first."""
        base = self.session(Moved())
        graph, ops = base.described()
        fused = Fused.of(graph)
        here = _seconds_here(base, fused, self.feeds)
        there = _Elsewhere(base, self.backend, fused, ops)

        def cost(backend: str, group: int) -> float:
            return here[group] if backend == NATIVE else there.seconds(group)

        name = self.backend.name
        moved = assign(fused, [name], cost, lambda _, g: math.isfinite(there.seconds(g)))
        gains = [(sum(here[g] - there.seconds(g) for g in run), run) for run in fused.runs(moved)]
        runs = [run for _, run in sorted(gains, reverse=True)]
        number = {node: i for i, node in enumerate(self.nodes)}
        found = [Moved()]
        for count in {*range(1, min(len(runs), MOST_RUNS) + 1), len(runs)}:
            names = {node for run in runs[:count] for g in run for node in fused.nodes[g]}
            found.append(Moved(tuple(sorted(number[node] for node in names))))
        return [(choice, True) for choice in dict.fromkeys(found)]

    def race(self, choices: Sequence[Moved]) -> dict[Moved, float]:
        """Time whole runs of the network in turn."""
        sessions = {choice: self.session(choice) for choice in choices}
        able = {choice: s for choice, s in sessions.items() if _runs(s, self.feeds)}
        calls = {choice: partial(s.run, self.feeds) for choice, s in able.items()}
        return dict.fromkeys(choices, math.inf) | race(calls, NETWORK_BUDGET)


def _runs(session: Session, feeds: Mapping[str, Array]) -> bool:
    """Whether a network can be run on these inputs."""
    try:
        session.run(feeds)
    except ValueError:  # or a ModelError
        return False
    return True


def _seconds_here(session: Session, fused: Fused, feeds: Mapping[str, Array]) -> list[float]:
    """Return how long each group takes in a run of the network."""
    steps, _ = session.profile(feeds, trials.ROUNDS[0])
    group = {node: i for i, nodes in enumerate(fused.nodes) for node in nodes}
    seconds = [0.0] * len(fused.nodes)
    for step in steps:
        own = {group[node] for node in step.nodes if node in group}
        for i in own:
            seconds[i] += (step.seconds or 0.0) / len(own)
    return seconds


class _Elsewhere:
    """How long groups take on another back end, each by itself; those that are alike are timed
    once.
    """

    def __init__(
        self,
        session: Session,
        backend: ForeignBackEnd,
        fused: Fused,
        ops: Mapping[str, TypedNode],
    ) -> None:
        self._session, self._backend, self._fused, self._ops = session, backend, fused, ops
        self._order = {name: i for i, name in enumerate(ops)}
        self._readers: dict[str, set[str]] = {}
        for name, op in ops.items():
            for read in op.node.reads:
                self._readers.setdefault(read, set()).add(name)
        self._by_group: dict[int, float] = {}
        self._by_kind: dict[Hashable, float] = {}

    def seconds(self, group: int) -> float:
        """Return the median seconds of a group, infinite if it cannot run there."""
        if group not in self._by_group:
            self._by_group[group] = self._found(group)
        return self._by_group[group]

    def _found(self, group: int) -> float:
        names = self._fused.nodes[group]
        own = [self._ops[name] for name in sorted(names, key=self._order.__getitem__)]
        if not own or not all(self._session.can_move(op, self._backend) for op in own):
            return math.inf
        kind = tuple(map(kind_of, own))
        if kind not in self._by_kind:
            try:
                call = self._call(own)
                self._by_kind[kind] = race({"": call}, GROUP_BUDGET)[""]
            except (Unsupported, ModelError):
                self._by_kind[kind] = math.inf
        return self._by_kind[kind]

    def _call(self, own: Sequence[TypedNode]) -> Call:
        """Return a function that runs ops as a part, on random numbers."""
        part = self._part(own)
        rng = np.random.default_rng(0)
        given = [random_array(own[0].types[name], rng) for name in part.inputs]
        kinds = [own[0].types.get(name) for name in part.outputs]
        room = [None if kind is None else _room(kind) for kind in kinds]
        return partial(self._backend.prepare(part).run, given, room)

    def _part(self, own: Sequence[TypedNode]) -> ForeignPart:
        inside = {op.node.name for op in own}
        made = {name for op in own for name in op.node.outputs}
        read = dict.fromkeys(name for op in own for name in op.node.reads)
        inputs = tuple(n for n in read if n not in made and n not in own[0].constants)
        outputs = tuple(
            name
            for op in own
            for name in op.node.outputs
            if name and not self._readers.get(name, {""}) <= inside
        )
        return self._session.foreign_part(tuple(own), inputs, outputs)


def _room(kind: TensorType) -> Array | None:
    """Return an array for an output, as a session would."""
    return None if kind.fixed is None else np.empty(kind.fixed, kind.dtype)
