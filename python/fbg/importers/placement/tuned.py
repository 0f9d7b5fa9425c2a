"""Where the ops of a network run fastest: how `fbg.tune` measures it.

The steps of fbg that compute the same operators move to the other back end together, all others
stay, and a run of the network tells how long each of their runs takes there. Those that are faster
than on fbg may be worth moving. Whether they are is decided by the time of the whole network, which
has to be shorter with them moved: only there do passing tensors, caches and ops that are no longer
fused with their neighbours count as they will.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from fbg.arrays import Array
from fbg.graph.divide import NATIVE
from fbg.importers.backends.base import ForeignBackEnd
from fbg.importers.backends.native import Native
from fbg.importers.session import PlacedStep, Session
from fbg.tuning import trials
from fbg.tuning.store import Moved
from fbg.tuning.trials import HOPELESS, race

NETWORK_BUDGET = 1.0  # seconds for the runs of the network with different ops moved
MOST_RUNS = 4  # of ops that are added one by one to those that move; then all the others at once


@dataclass(frozen=True)
class PlacementTrial:
    """The trial of a back end beside fbg for a network and its shapes. feeds: of a run."""

    session: Session
    backend: ForeignBackEnd
    feeds: Mapping[str, Array]

    @property
    def key(self) -> str:
        return self.session.moves_key(self.backend.name)

    def candidates(self) -> list[tuple[Moved, bool]]:
        """Return nothing moved, and the runs of ops that seem worth it, the best ones first."""
        ops = self.session.ops
        number = {node: n for n, node in enumerate(ops)}
        kinds: dict[tuple[str, ...], list[int]] = {}
        here: dict[str, float] = {}
        for step in self._profile(()):
            own = [node for node in step.nodes if node in ops]
            if step.backend == NATIVE and own:
                kind = tuple(ops[node].node.op for node in own)
                kinds.setdefault(kind, []).extend(number[node] for node in own)
                here |= dict.fromkeys(own, (step.seconds or 0.0) / len(own))
        found = []
        for nodes in kinds.values():
            for step in self._profile(nodes):
                saved = sum(here.get(node, 0.0) for node in step.nodes) - (step.seconds or 0.0)
                if step.backend == self.backend.name and saved > 0:
                    found.append((saved, [number[node] for node in step.nodes if node in here]))
        runs = [run for _, run in sorted(found, reverse=True)]
        counts = sorted({*range(min(len(runs), MOST_RUNS) + 1), len(runs)})
        moved = [sorted(n for run in runs[:count] for n in run) for count in counts]
        return [(Moved(tuple(nodes)), True) for nodes in moved]

    def race(self, choices: Sequence[Moved]) -> dict[Moved, float]:
        """Time whole runs of the network in turn."""
        sessions = {each: self.session.with_moved(self.backend.name, each) for each in choices}
        able = (each for each, session in sessions.items() if _runs(session, self.feeds))
        calls = {each: partial(sessions[each].run, self.feeds) for each in able}
        return dict.fromkeys(choices, math.inf) | race(calls, NETWORK_BUDGET)

    def _profile(self, moved: Sequence[int]) -> Sequence[PlacedStep]:
        """Return the steps of a run with these nodes moved and their times; none if it fails."""
        session = self.session.with_moved(self.backend.name, Moved(tuple(sorted(moved))))
        return (
            session.profile(self.feeds, trials.ROUNDS[0])[0] if _runs(session, self.feeds) else ()
        )


def placement_trials(session: Session) -> list[PlacementTrial]:
    """Return the trials of the back ends that may be faster than fbg, as far as the models tell.

    There are none for a network that does not take random inputs.
    """
    first, *others = session.backends
    feeds, ops = session.random_feeds(), session.ops.values()
    most = HOPELESS * sum(map(first.cost, ops))
    hopeful = [b for b in others if not isinstance(b, Native) and sum(map(b.cost, ops)) <= most]
    tried = hopeful if first.name == NATIVE and _runs(session, feeds) else []
    return [PlacementTrial(session, backend, feeds) for backend in tried]


def _runs(session: Session, feeds: Mapping[str, Array]) -> bool:
    """Whether a network can be run on these inputs."""
    try:
        session.run(feeds)
    except ValueError:  # or a ModelError
        return False
    return True
