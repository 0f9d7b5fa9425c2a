"""bench: how long `forward` takes, by dtype, number of tokens and of threads."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import fbg
from fbg.arrays import require_integer
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.reports.measuring import Report, load_each, table, threads, time_in_turn

__all__ = ["Benchmark", "Latency", "bench", "synthetic_ids"]

TOKENS = (8, 32, 128, 384)
DTYPES = ("float32", "bfloat16", "int8")


@dataclass(frozen=True)
class Latency:
    """Seconds of `forward` on a batch of sequences of `tokens` tokens each.

    tokens_per_second: of the whole batch, at the median.
    """

    dtype: str
    tokens: int
    threads: int
    median: float
    percentile_10: float
    percentile_90: float
    tokens_per_second: float


@dataclass(frozen=True)
class Benchmark(Report):
    """Result of `bench`."""

    model: str
    isa: str
    batch: int
    rounds: int
    latencies: tuple[Latency, ...]

    def __str__(self) -> str:
        rows = [
            [
                row.dtype,
                str(row.threads),
                str(row.tokens),
                *(f"{t * 1e3:.2f}" for t in (row.median, row.percentile_10, row.percentile_90)),
                f"{row.tokens_per_second:.0f}",
            ]
            for row in self.latencies
        ]
        columns = ["", "threads", "tokens", "median ms", "p10", "p90", "tokens/s"]
        head = f"{self.model}: batch {self.batch}, {self.rounds} rounds, {self.isa}"
        return f"{head}\n\n{table(columns, rows)}"


def bench(
    model: str | os.PathLike[str],
    tokens: Sequence[int] | None = None,
    *,
    batch: int = 1,
    num_threads: Sequence[int] | None = None,
    dtypes: Sequence[str] | None = None,
    rounds: int = 21,
) -> Benchmark:
    """Time `Model.forward` on random token ids; dtypes take turns.

    model: what `fbg.load` takes. One that was saved has one dtype, which is then the default.
    tokens: lengths of a sequence; None takes 8, 32, 128 and 384, as far as the model has positions.
    batch: sequences of a call.
    num_threads: thread counts; None takes `fbg.get_num_threads()`. The setting of the process is
        changed meanwhile.
    dtypes: None takes float32, bfloat16 and int8.
    rounds: samples of each figure: one call, after one that is not timed.

    Raises what `fbg.load` raises, ValueError for numbers out of range.

    >>> from fbg.reports.benchmark import bench
    >>> print(bench("path/to/all-MiniLM-L6-v2", [32], dtypes=["int8"]))  # doctest: +SKIP
    """
    batch = require_integer(batch, "bench: batch", 1, 1 << 20)
    rounds = require_integer(rounds, "bench: rounds", 1, 1_000_000)
    counts = [fbg.get_num_threads()] if num_threads is None else num_threads
    limit = fbg._fbg.MAX_THREADS
    counts = [require_integer(count, "bench: num_threads", 1, limit) for count in counts]
    models = _load(os.fspath(model), dtypes)
    lengths = sequence_lengths("bench", tokens, next(iter(models.values())))

    rows = []
    for count in counts:
        for length in lengths:
            ids = {dtype: synthetic_ids(loaded, length, batch) for dtype, loaded in models.items()}
            calls = {
                dtype: functools.partial(loaded.forward, ids[dtype])
                for dtype, loaded in models.items()
            }
            with threads(count):
                stage = f"timing {length} tokens, {count} thread{'s' * (count > 1)}"
                samples = time_in_turn(calls, rounds, warm=True, stage=stage)
            for dtype, seconds in samples.items():
                low, median, high = (float(x) for x in np.percentile(seconds, [10, 50, 90]))
                rate = batch * length / median
                rows.append(Latency(dtype, length, count, median, low, high, rate))
    return Benchmark(str(model), fbg.isa.active(), batch, rounds, tuple(rows))


def _load(model: str, dtypes: Sequence[str] | None) -> dict[str, Model]:
    if dtypes is not None:
        if isinstance(dtypes, str) or not dtypes:
            raise ValueError(f"bench: dtypes must be a sequence of names, got {dtypes!r}")
        return load_each(model, list(dict.fromkeys(dtypes)), None)
    first = load_encoder(model)
    if first.is_saved:
        return {first.dtype: first}
    return {first.dtype: first, **load_each(model, [d for d in DTYPES if d != first.dtype], None)}


def sequence_lengths(where: str, tokens: Sequence[int] | None, model: Model) -> list[int]:
    """Check lengths against the positions of a model; None takes those of TOKENS that fit."""
    longest = model.config.max_length
    if tokens is None:
        return [length for length in TOKENS if length <= longest] or [longest]
    lengths = [require_integer(length, f"{where}: tokens", 1, longest) for length in tokens]
    if not lengths:
        raise ValueError(f"{where}: tokens must contain at least one length, got none")
    return lengths


def synthetic_ids(model: Model, tokens: int, batch: int) -> npt.NDArray[np.int64]:
    """Return (batch, tokens) random token ids, always the same ones."""
    return np.random.default_rng(0).integers(0, model.config.vocab_size, (batch, tokens))
