"""How long a run of a network from a file takes, by dtype and number of threads."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import fbg
from fbg.model.load import load
from fbg.model.load_net import is_onnx
from fbg.reports.measuring import Report, table, time_in_turn
from fbg.reports.net_feeds import random_feeds

__all__ = ["NetBenchmark", "NetLatency", "bench_net"]

CALIBRATION_FEEDS = 4


@dataclass(frozen=True)
class NetLatency:
    """Seconds of a run, and of preparing the plan for it anew: what a kept plan saves."""

    dtype: str
    threads: int
    median: float
    percentile_10: float
    percentile_90: float
    prepare: float


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
            [
                row.dtype,
                str(row.threads),
                *(
                    f"{1e3 * seconds:.3f}"
                    for seconds in (row.median, row.percentile_10, row.percentile_90, row.prepare)
                ),
            ]
            for row in self.latencies
        ]
        columns = ["", "threads", "median ms", "p10", "p90", "prepare ms"]
        head = f"{self.path}: random inputs, {self.rounds} rounds, {self.isa}"
        counts = [f"{dtype}: {count}" for dtype, count in self.products.items()]
        return "\n".join([head, *counts, "", table(columns, rows)])


def bench_net(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    num_threads: Sequence[int] | None = None,
    dtypes: Sequence[str] | None = None,
    rounds: int = 21,
) -> NetBenchmark:
    """Time an ONNX file or a saved network on random inputs; dtypes take turns.

    shapes: of inputs, where the file leaves sizes open. num_threads: counts of threads; None takes
    `fbg.get_num_threads()`. dtypes: of "float32" and "int8", which is calibrated on random inputs;
    None takes float32, or the dtype of a saved network. Raises what `fbg.load` raises.
    """
    rows = []
    products: dict[str, str] = {}
    for threads in num_threads or [fbg.get_num_threads()]:
        options: dict[str, Any] = {"shapes": shapes or {}, "num_threads": threads}
        first = load(path, **options)
        feed, feeds = random_feeds(first, 1)[0], random_feeds(first, CALIBRATION_FEEDS, 1)
        nets = {}
        for dtype in dtypes or [first.dtype]:
            if dtype == first.dtype:
                nets[dtype] = first
            elif is_onnx(path):
                nets[dtype] = load(path, dtype=dtype, calibrate=feeds, **options)
            else:
                raise ValueError(f"bench: dtype must be {first.dtype!r}, got {dtype!r}")
        products = {dtype: str(net.products) for dtype, net in nets.items()}
        seconds = time_in_turn(
            {dtype: functools.partial(net.run, feed) for dtype, net in nets.items()},
            rounds,
            stage=f"timing {threads} thread{'s' * (threads > 1)}",
        )
        prepare = time_in_turn(
            {dtype: functools.partial(net.prepare, feed) for dtype, net in nets.items()},
            3,
            stage="timing preparation",
        )
        for dtype, samples in seconds.items():
            low, median, high = (float(x) for x in np.percentile(samples, [10, 50, 90]))
            anew = float(np.median(prepare[dtype]))
            rows.append(NetLatency(dtype, threads, median, low, high, anew))
    return NetBenchmark(path, fbg.isa.active(), rounds, products, tuple(rows))
