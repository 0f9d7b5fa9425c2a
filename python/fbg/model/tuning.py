"""fbg.tune: measure how the linear layers of a model run fastest on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.model.model import Model
from fbg.progress import progress_bar
from fbg.runtime.tuned import Kind, table
from fbg.runtime.tuning_file import Blocking, Key, Measured

__all__ = ["TuneReport", "TuneResult", "tune"]

TOKENS = (8, 32, 64, 128, 384)
LARGEST_RUN = 4096  # tokens
BUDGET = 0.25  # seconds for the variants of one product
GAIN = 1.02  # by which a variant must be faster than the cost model's


@dataclass(frozen=True)
class TuneResult:
    """One product: `tokens` rows times weights of (k, n).

    seconds: median of every variant that was timed, the cost model's first; empty where the result
        was known before.
    winner: the variant that is used from now on, faster than the cost model's by `gain`.
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
    """What `tune` found; `print` shows it as a table.

    profilings: kinds of linear layers that were measured, each once for all layers of that shape;
        0 where all results were known.
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


def tune(
    model: Model,
    tokens: Sequence[int] = TOKENS,
    *,
    show_progress_bar: bool = True,
    force: bool = False,
) -> TuneReport:
    """Measure how the linear layers of a model run fastest, and let it run so from now on.

    Tiles, blocks and the split over threads are timed for every distinct shape of weights, once for
    all layers of that shape, with weights that come from memory as they do in the model. A variant
    is taken where it is faster than what the cost model chooses by more than 2 %. Results of the
    model stay the same, to the bit.

    model: from `fbg.load`; measured under the ISA now active, with its number of threads.
    tokens: the numbers of tokens of a run to measure; those between take the next larger one.
    show_progress_bar: if tqdm is there.
    force: measure again what is known already.

    Takes seconds, best with nothing else running. What it finds is kept for all later processes in
    ~/.cache/fbg (under $XDG_CACHE_HOME if that is set), or in the file that the environment
    variable FBG_TUNING_CACHE names; "off" there keeps it in this process.

    Raises TypeError or ValueError for the arguments, RuntimeError if other runs keep the threads
    busy.

    >>> print(fbg.tune(model, tokens=(8, 128)))  # doctest: +SKIP
    """
    if not isinstance(model, Model):
        raise TypeError(f"tune: model must be an fbg.Model, got {type(model).__name__}")
    if not isinstance(tokens, Iterable):
        raise TypeError(f"tune: tokens must be a sequence of integers, got {type(tokens).__name__}")
    sizes = sorted({require_integer(size, "tune: tokens", 1, LARGEST_RUN) for size in tokens})
    features, threads, graph = _fbg.active_features(), model.num_threads, model.graph
    isa = _fbg.best_isa(features)
    results, profilings = [], 0
    total = len(graph.products) * len(sizes)
    with progress_bar(total, "product", show=show_progress_bar) as advance:
        for kind in graph.products:
            keys = [Key(isa, threads, *kind, size) for size in sizes]
            unknown = [key for key in keys if force or key not in table.known()]
            timed: dict[Key, dict[Blocking, float]] = {}
            if unknown:
                profilings += 1
                tuner = _fbg.Tuner(graph, kind, threads, features)
                found = {}
                for key in unknown:
                    found[key], timed[key] = _measure(tuner, key.tokens)
                    advance(1)
                table.add(found)
            advance(len(keys) - len(unknown))
            for key in keys:
                results.append(_result(kind, key, table.known()[key], timed.get(key, {})))
    return TuneReport(isa, threads, profilings, tuple(results))


def _measure(tuner: _fbg.Tuner, tokens: int) -> tuple[Measured, dict[Blocking, float]]:
    candidates = [Blocking(*members) for members in tuner.candidates(tokens)]
    seconds = tuner.seconds(tokens, candidates, BUDGET)
    best = seconds.index(min(seconds))
    measured = Measured(candidates[0], seconds[0], seconds[0])
    if seconds[0] > GAIN * seconds[best]:
        # The least of several noisy times is too good: it has to win a second time, alone.
        default, again = tuner.seconds(tokens, [candidates[0], candidates[best]], BUDGET)
        if default > GAIN * again:
            measured = Measured(candidates[best], again, default)
    return measured, dict(zip(candidates, seconds, strict=True))


def _result(kind: Kind, key: Key, measured: Measured, seconds: dict[Blocking, float]) -> TuneResult:
    gain = measured.default_seconds / measured.seconds
    return TuneResult(*kind, key.tokens, seconds, measured.blocking, gain)
