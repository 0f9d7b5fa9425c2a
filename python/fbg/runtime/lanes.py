"""Lanes: each computes a batch at the same time as the others, from the same weights."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from concurrent.futures import ThreadPoolExecutor
from operator import truediv
from statistics import median
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.runtime.engine import Engine
from fbg.topology import split_cpus, usable_cpus

ROUNDS = 3
MARGIN = 1.1  # by which more lanes must be faster: a request that is alone is slower in them


class Lanes:
    """So many lanes, which divide threads. team: the most threads of one.

    pinned: whether the threads of a lane are bound to neighbouring CPUs of its own.
    """

    def __init__(self, count: int, num_threads: int, pinned: bool = False) -> None:
        self.count, self._threads = count, num_threads
        self.team = -(-num_threads // count)
        self._places = split_cpus(usable_cpus(), count) if pinned else None

    def enter(self, number: int) -> None:
        """Make the calling thread one of the lane `number % count`, until it ends."""
        lane = number % self.count
        if self._places:
            with contextlib.suppress(OSError):  # the process may have lost CPUs
                os.sched_setaffinity(0, self._places[lane])
        _fbg.own_team((self._threads + lane) // self.count)

    def pool(self) -> ThreadPoolExecutor:
        """Return a thread in each lane."""
        numbers = itertools.count()
        return ThreadPoolExecutor(self.count, initializer=lambda: self.enter(next(numbers)))


def choose_lanes(engine: Engine, num_threads: int, pinned: bool) -> dict[str, Any]:
    """Measure; return the number of lanes that computes most, and the batches a second of each."""
    rates: dict[int, list[float]] = {}
    for _ in range(ROUNDS):
        for n in filter(lambda n: num_threads % n == 0, range(1, num_threads + 1)):
            lanes = Lanes(n, num_threads, pinned)
            rates.setdefault(n, []).append(measure(engine, lanes, 2 * num_threads))
    best, most = 1, 1.0
    for n, found in rates.items():
        gain = median(map(truediv, found, rates[1]))  # the machine's speed may change
        if gain > MARGIN * most:
            best, most = n, gain
    return {"lanes": best, "batches_per_s": {n: median(found) for n, found in rates.items()}}


def measure(engine: Engine, lanes: Lanes, batches: int) -> float:
    """Return how many batches of 512 tokens all lanes together compute in a second."""
    ids = [np.arange(16, dtype=np.int32)] * 32

    def compute(number: int) -> None:
        engine.compute(ids, [None] * 32, lanes.team, "lanes")

    with lanes.pool() as pool:
        list(pool.map(compute, range(lanes.count)))
        begin = time.perf_counter()
        list(pool.map(compute, range(batches)))
        return batches / (time.perf_counter() - begin)
