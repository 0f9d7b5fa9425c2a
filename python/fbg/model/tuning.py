"""fbg.tune: measure how the layers of a model or network run fastest on this machine."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, TypeGuard, cast, overload

from fbg import _fbg
from fbg.arrays import require_flag, require_integer
from fbg.conv.prepared_conv import PreparedConv
from fbg.model.model import Model
from fbg.progress import progress_bar
from fbg.tuning.store import Blocking, Moved, product_key, store
from fbg.tuning.trials import GAIN, ConvTrial, ProductTrial, measure

if TYPE_CHECKING:
    from fbg.importers.net import Net
    from fbg.importers.placement.tuned import PlacementTrial

TOKENS = (8, 32, 64, 128, 384)
LARGEST_RUN = 4096  # numbers of tokens


@dataclass(frozen=True)
class TuneResult:
    """The result for one product: (tokens, k) times weights of shape (k, n).

    seconds: the median time of each variant, beginning with the one that the cost model chooses;
        empty if the product had been measured before.
    winner: the variant that is used from now on.
    gain: how many times faster it is than the variant of the cost model.
    """

    dtype: str
    k: int
    n: int
    tokens: int
    seconds: dict[Blocking, float]
    winner: Blocking
    gain: float


@dataclass(frozen=True)
class TuneReport:
    """The result of `tune`; `print` shows a table.

    profilings: how many distinct shapes of weights were measured; 0 if all had been before.
    """

    isa: str
    threads: int
    profilings: int
    results: tuple[TuneResult, ...]

    def __str__(self) -> str:
        head = f"{self.isa}, {self.threads} threads, {self.profilings} shapes measured"
        lines = [head, "dtype     K x N        tokens  variants  cost model  winner           gain"]
        for r in self.results:
            default = f"{r.seconds[Blocking()] * 1e6:8.1f} us" if r.seconds else "known"
            count = str(len(r.seconds)) if r.seconds else ""
            lines.append(
                f"{r.dtype:<8}  {f'{r.k} x {r.n}':<11}  {r.tokens:>6}  {count:>8}  {default:>11}  "
                f"{r.winner!s:<16} {r.gain:.2f}"
            )
        return "\n".join(lines)


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


@overload
def tune(
    model: Model,
    tokens: Sequence[int] | None = None,
    *,
    show_progress_bar: bool = True,
    force: bool = False,
) -> TuneReport: ...
@overload
def tune(
    model: Net | PreparedConv,
    *,
    show_progress_bar: bool = True,
    force: bool = False,
    placement: bool = True,
) -> ConvTuneReport: ...
def tune(
    model: Model | Net | PreparedConv,
    tokens: Sequence[int] | None = None,
    *,
    show_progress_bar: bool = True,
    force: bool = False,
    placement: bool = True,
) -> TuneReport | ConvTuneReport:
    """Measure how each layer of a model runs fastest, and run it so from now on.

    For a model of texts, the tile sizes, block sizes and the division among threads of its linear
    layers are timed once for every distinct shape of weights. The weights are read from memory
    rather than from the caches, as in the model.

    For a network from a file, or a single prepared convolution, the algorithms of convolution are
    timed once for every distinct shape, on one thread. Only algorithms that give the same bits as
    the one of the cost model are used; the report names others that were faster, which
    ``algorithm=`` requests. A convolution that was prepared before has to be prepared again.

    A variant is used if it is more than 2 % faster than the one that the cost model chooses. All
    results remain bit-for-bit the same.

    For a network with other back ends than fbg, such as onnxruntime, it is then measured whether
    runs of ops are faster there: they move if the whole network is more than 2 % faster with them
    moved. Results are then rounded as that back end rounds.

    model: from `fbg.load`, or from `fbg.prepare` with a `PackedConv`. It is measured under the
        active ISA; a model of texts with its number of threads.
    tokens: for a model of texts only: the numbers of tokens for which to measure, each within
        [1, 4096]; by default 8, 32, 64, 128 and 384. A run with another number of tokens uses the
        result of the next larger one.
    show_progress_bar: needs tqdm; without tqdm there is no bar.
    force: whether to measure again what has been measured before.
    placement: for a network only: whether other back ends are measured, so that ops may move.

    This takes seconds, and should run while nothing else does: `fbg.load` with ``tune=True`` warns
    if it could not measure, because other runs kept the threads busy. The results are stored for
    later processes in ~/.cache/fbg (or in $XDG_CACHE_HOME/fbg), or in the file that the environment
    variable FBG_TUNING_CACHE names; with FBG_TUNING_CACHE=off they are not stored.

    Raises TypeError or ValueError for the arguments, and `fbg.errors.BusyError`, a RuntimeError, if
    other runs keep the threads busy.

    >>> print(fbg.tune(model, tokens=(8, 128)))  # doctest: +SKIP
    >>> print(fbg.tune(fbg.load("network.onnx", dtype="int8")))  # doctest: +SKIP
    """
    if not require_flag(placement, "tune: placement") and not _is_net(model):
        raise TypeError("tune: placement requires a network from a file")
    if isinstance(model, Model):
        chosen = TOKENS if tokens is None else tokens
        return _tune_products(model, chosen, show_progress_bar, force)
    if not isinstance(model, PreparedConv) and not _is_net(model):
        raise TypeError(
            "tune: model must be an fbg.Model, a network from a file or a prepared convolution, "
            f"got {type(model).__name__}"
        )
    if tokens is not None:
        raise TypeError("tune: tokens requires a model of texts")
    return _tune_network(model, show_progress_bar, force, placement)


def _tune_network(
    model: Net | PreparedConv, show_progress_bar: bool, force: bool, placement: bool
) -> ConvTuneReport:
    trials = [model.trial()] if isinstance(model, PreparedConv) else model.trials()
    report = tune_convs(trials, show_progress_bar=show_progress_bar, force=force)
    if isinstance(model, PreparedConv) or not placement:
        return report
    found = model._placement_trials()  # of plans that use what was found about convolutions
    placements = tune_placement(found, show_progress_bar=show_progress_bar, force=force)
    return replace(report, placements=placements)


def _is_net(model: object) -> TypeGuard[Net]:
    """Whether it is a network from a file; if Net has not been imported, it is not."""
    module = sys.modules.get("fbg.importers.net")
    return module is not None and bool(isinstance(model, module.Net))


def _tune_products(
    model: Model, tokens: Sequence[int], show_progress_bar: bool, force: bool
) -> TuneReport:
    if not isinstance(tokens, Iterable):
        raise TypeError(f"tune: tokens must be a sequence of integers, got {type(tokens).__name__}")
    sizes = sorted({require_integer(size, "tune: tokens", 1, LARGEST_RUN) for size in tokens})
    features, threads, graph = _fbg.active_features(), model.num_threads, model.lowered
    isa = _fbg.best_isa(features)

    def trials() -> Iterator[ProductTrial]:
        for kind in graph.products:  # one tuner at a time, as each has copies of its weights
            tuner = cache(partial(_fbg.Tuner, graph, kind, threads, features))
            for size in sizes:
                yield ProductTrial(product_key(isa, threads, kind, size), tuner, size)

    total = len(graph.products) * len(sizes)
    with progress_bar(total, "product", show=show_progress_bar) as advance:
        timed = measure(trials(), advance, force)
    results, measured_kinds = [], set()
    for kind, size in itertools.product(graph.products, sizes):
        key = product_key(isa, threads, kind, size)
        measured, seconds = store.known()[key], timed.get(key, {})
        if seconds:
            measured_kinds.add(kind)
        gain = measured.default_seconds / measured.seconds
        winner = cast(Blocking, measured.choice)
        results.append(TuneResult(*kind, size, seconds, winner, gain))
    return TuneReport(isa, threads, len(measured_kinds), tuple(results))


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
