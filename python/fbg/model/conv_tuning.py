"""Tuning convolutions and back ends: the measurements, and the report about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from fbg import _fbg
from fbg.progress import progress_bar
from fbg.tuning.store import Moved, store
from fbg.tuning.trials import GAIN, ConvTrial, measure

if TYPE_CHECKING:
    from fbg.importers.placement.tuned import PlacementTrial


@dataclass(frozen=True)
class ConvTuneResult:
    """The result for one convolution.

    name: the type of the weights, the size of the image, the geometry.
    seconds: the median time of each algorithm that was timed, beginning with the one that the cost
        model chooses; empty if the convolution had been measured before.
    winner: the algorithm that is used from now on. gain: how many times faster it is than the one
        algorithm of the cost model.
    faster: an algorithm with other rounding that is faster than the winner, or "".
    """

    name: str
    seconds: dict[str, float]
    winner: str
    gain: float
    faster: str = ""


@dataclass(frozen=True)
class PlacementResult:
    """The result for another back end than fbg, and one network.

    nodes: the names of those that run there from now on. seconds: the median time of a run of the
    network by then. gain: how many times faster it is than without them.
    """

    backend: str
    nodes: tuple[str, ...]
    seconds: float
    gain: float


@dataclass(frozen=True)
class ConvTuneReport:
    """The result of `tune` for convolutions and back ends; `print` shows a table.

    profilings: how many distinct convolutions were measured; 0 if all had been before.
    placements: of a network, one for each back end beside fbg that was measured.
    """

    isa: str
    profilings: int
    results: tuple[ConvTuneResult, ...]
    placements: tuple[PlacementResult, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.isa}, 1 thread, {self.profilings} convolutions measured"]
        width = max((len(r.name) for r in self.results), default=0)
        lines.append(f"{'convolution':{width}}  cost model                winner        gain")
        for r in self.results:
            first = next(iter(r.seconds), "")
            default = f"{first} {r.seconds[first] * 1e6:.1f} us" if first else "known"
            other = ""
            if r.faster:
                other = f"  ({r.faster}: {r.seconds[r.faster] * 1e6:.1f} us, other rounding)"
            lines.append(f"{r.name:{width}}  {default:24}  {r.winner:12}  {r.gain:.2f}{other}")
        for p in self.placements:
            lines.append(
                f"{p.backend}: {len(p.nodes)} nodes, network {p.seconds * 1e6:.1f} us, {p.gain:.2f}"
            )
        return "\n".join(lines)


def tune_convs(
    trials: Sequence[ConvTrial], *, show_progress_bar: bool, force: bool
) -> ConvTuneReport:
    """Measure each distinct convolution that is not known, or with `force` every one."""
    distinct = {trial.key: trial for trial in trials}
    isa = _fbg.best_isa(_fbg.active_features())
    with progress_bar(len(distinct), "convolution", show=show_progress_bar) as advance:
        timed = measure(distinct.values(), advance, force)
    results = [_result(trial, timed.get(key, {})) for key, trial in distinct.items()]
    return ConvTuneReport(isa, len(timed), tuple(results))


def tune_placement(
    trials: Sequence[PlacementTrial], *, show_progress_bar: bool, force: bool
) -> tuple[PlacementResult, ...]:
    """Measure each back end that is not known, or with `force` every one."""
    with progress_bar(len(trials), "back end", show=show_progress_bar) as advance:
        measure(trials, advance, force)
    results = []
    for trial in trials:
        measured = store.known()[trial.key]
        moved = cast(Moved, measured.choice)
        names = tuple(trial.session.ops)
        nodes = tuple(names[i] for i in moved.nodes)
        gain = measured.default_seconds / measured.seconds
        results.append(PlacementResult(trial.backend.name, nodes, measured.seconds, gain))
    return tuple(results)


def _result(trial: ConvTrial, seconds: dict[str, float]) -> ConvTuneResult:
    measured = store.known()[trial.key]
    winner, faster = str(measured.choice), ""
    if seconds:
        best = min(seconds, key=seconds.__getitem__)
        if best != winner and seconds[winner] > GAIN * seconds[best]:
            same = {name for name, _, same in trial.algorithms if same}
            faster = "" if best in same else best
    gain = measured.default_seconds / measured.seconds
    return ConvTuneResult(trial.label, seconds, winner, gain, faster)
