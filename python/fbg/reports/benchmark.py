"""bench: how long a run takes, by dtype and number of threads.

For an encoder, `forward` is timed by number of tokens; for a network, a run and its
preparation.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fbg
from fbg.arrays import require_integer
from fbg.model.load import load, load_encoder
from fbg.model.load_net import is_onnx
from fbg.model.model import Model
from fbg.reports.inputs import (
    Feed,
    calibrated_net,
    random_feeds,
    sequence_lengths,
    synthetic_ids,
    thread_counts,
)
from fbg.reports.measuring import Report, load_each, table, threads, threads_text, time_in_turn

if TYPE_CHECKING:
    from fbg.importers.net import Net

DTYPES = ("float32", "bfloat16", "int8")


@dataclass(frozen=True)
class _Timed:
    """Quantiles of the seconds of a call."""

    dtype: str
    threads: int
    median: float
    percentile_10: float
    percentile_90: float

    def cells(self, digits: int) -> list[str]:
        """Return the quantiles in milliseconds."""
        times = (self.median, self.percentile_10, self.percentile_90)
        return [f"{1e3 * seconds:.{digits}f}" for seconds in times]


@dataclass(frozen=True)
class Latency(_Timed):
    """Seconds of `forward` on a batch of sequences of `tokens` tokens each.

    tokens_per_second: for the whole batch, at the median.
    """

    tokens: int
    tokens_per_second: float


@dataclass(frozen=True)
class NetLatency(_Timed):
    """The seconds of a run, and of preparing its plan anew, which a kept plan saves."""

    prepare: float


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
                *row.cells(2),
                f"{row.tokens_per_second:.0f}",
            ]
            for row in self.latencies
        ]
        columns = ["", "threads", "tokens", "median ms", "p10", "p90", "tokens/s"]
        head = f"{self.model}: batch {self.batch}, {self.rounds} rounds, {self.isa}"
        return f"{head}\n\n{table(columns, rows)}"


@dataclass(frozen=True)
class NetBenchmark(Report):
    """Result of `bench_net`. products: by dtype, how many products multiply integers, in words; a
    file that is quantized already has some whatever the dtype.
    """

    path: str
    isa: str
    rounds: int
    products: dict[str, str]
    latencies: tuple[NetLatency, ...]

    def __str__(self) -> str:
        rows = [
            [row.dtype, str(row.threads), *row.cells(3), f"{1e3 * row.prepare:.3f}"]
            for row in self.latencies
        ]
        columns = ["", "threads", "median ms", "p10", "p90", "prepare ms"]
        head = f"{self.path}: random inputs, {self.rounds} rounds, {self.isa}"
        counts = [f"{dtype}: {count}" for dtype, count in self.products.items()]
        return "\n".join([head, *counts, "", table(columns, rows)])


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

    model: as for `fbg.load`. A saved model has one dtype, which is then the default.
    tokens: lengths of a sequence; None takes 8, 32, 128 and 384, as far as the model has positions.
    batch: sequences of a call.
    num_threads: thread counts; None takes `fbg.get_num_threads()`. The setting of the process is
        changed meanwhile.
    dtypes: None takes float32, bfloat16 and int8.
    rounds: samples of each figure: one call, after one that is not timed.

    Raises the errors of `fbg.load`, and ValueError for numbers out of range.

    >>> from fbg.reports.benchmark import bench
    >>> print(bench("path/to/all-MiniLM-L6-v2", [32], dtypes=["int8"]))  # doctest: +SKIP
    """
    batch = require_integer(batch, "bench: batch", 1, 1 << 20)
    rounds = require_integer(rounds, "bench: rounds", 1, 1_000_000)
    counts = thread_counts("bench", num_threads, [fbg.get_num_threads()])
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
            stage = f"timing {length} tokens, {threads_text(count)}"
            with threads(count):
                found = _quantiles(calls, rounds, warm=True, stage=stage)
            for dtype, times in found.items():
                rate = batch * length / times[0]
                rows.append(Latency(dtype, count, *times, length, rate))
    return Benchmark(str(model), fbg.isa.active(), batch, rounds, tuple(rows))


def bench_net(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    num_threads: Sequence[int] | None = None,
    dtypes: Sequence[str] | None = None,
    rounds: int = 21,
    calibrate: str | None = None,
) -> NetBenchmark:
    """Time an ONNX file or a saved network on random inputs; dtypes take turns.

    shapes: those of inputs with open sizes in the file. num_threads: counts of threads; None takes
    `fbg.get_num_threads()`. dtypes: "float32", "bfloat16", "int8"; None takes float32, or the dtype
    of a saved network. calibrate: a .npz file on whose inputs int8 is calibrated, instead of random
    ones. Raises the errors of `fbg.load`.
    """
    rows = []
    products: dict[str, str] = {}
    if calibrate is not None and ("int8" not in (dtypes or ()) or not is_onnx(path)):
        raise ValueError("bench: calibrate requires dtype int8 and an ONNX file")
    for count in thread_counts("bench", num_threads or None, [fbg.get_num_threads()]):
        options = {"shapes": shapes or {}, "num_threads": count}
        nets, feed = _load_nets(path, dtypes, calibrate, options)
        products = {dtype: str(net.products) for dtype, net in nets.items()}
        runs = {dtype: functools.partial(net.run, feed) for dtype, net in nets.items()}
        plans = {dtype: functools.partial(net.prepare, feed) for dtype, net in nets.items()}
        found = _quantiles(runs, rounds, stage=f"timing {threads_text(count)}")
        anew = _quantiles(plans, 3, stage="timing preparation")
        for dtype, times in found.items():
            rows.append(NetLatency(dtype, count, *times, anew[dtype][0]))
    return NetBenchmark(path, fbg.isa.active(), rounds, products, tuple(rows))


def _quantiles(
    calls: Mapping[str, Callable[[], object]], rounds: int, *, warm: bool = False, stage: str
) -> dict[str, tuple[float, float, float]]:
    """Time calls in turn; return the median and the 10th and 90th percentile of each."""
    samples = time_in_turn(calls, rounds, warm, stage)
    low, median, high = np.percentile(list(samples.values()), [10, 50, 90], axis=1).tolist()
    return dict(zip(samples, zip(median, low, high, strict=True), strict=True))


def _load(model: str, dtypes: Sequence[str] | None) -> dict[str, Model]:
    if dtypes is not None:
        if isinstance(dtypes, str) or not dtypes:
            raise ValueError(f"bench: dtypes must be a sequence of names, got {dtypes!r}")
        return load_each(model, list(dict.fromkeys(dtypes)), None)
    first = load_encoder(model)
    if first.is_saved:
        return {first.dtype: first}
    return {first.dtype: first, **load_each(model, [d for d in DTYPES if d != first.dtype], None)}


def _load_nets(
    path: str, dtypes: Sequence[str] | None, calibrate: str | None, options: dict[str, Any]
) -> tuple[dict[str, Net], Feed]:
    """Return networks by dtype, and inputs for a run."""
    first = load(path, **options)
    feed, nets = random_feeds(first, 1)[0], {}
    for dtype in dtypes or [first.dtype]:
        if dtype == first.dtype:
            nets[dtype] = first
        elif is_onnx(path):
            if dtype == "int8":
                nets[dtype] = calibrated_net(path, first, calibrate, options)
            else:
                nets[dtype] = load(path, dtype=dtype, **options)
        else:
            raise ValueError(f"bench: dtype must be {first.dtype!r}, got {dtype!r}")
    return nets, feed
