"""Throughput and latency of the queue of `fbg serve`, by how its threads are divided into lanes.

    python bench/lanes.py [MODEL_DIRECTORY]           all-MiniLM-L6-v2 in int8, all CPUs
    python bench/lanes.py --threads 16 --tokens 101 --rounds 9

Clients submit texts of so many tokens to the queue and wait for the answer, in a closed loop: 1 and
32 clients of one text, and 8 clients of 32 texts. Contestants are the queue without lanes and with
each number of lanes, free and pinned; they take turns. Texts a second and the mean latency in ms
are medians of the rounds, and so is the ratio to the queue without lanes in the same round. Before,
the bits of all contestants are compared.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Sequence

import checkpoints
import numpy as np
import timing

import fbg
from fbg.runtime.former import BatchFormer
from fbg.runtime.lanes import Lanes
from fbg.runtime.ticket import Owner, Ticket
from fbg.runtime.work import Work

LOADS = {"1 client": (1, 1), "32 clients": (32, 1), "8 clients of 32": (8, 32)}


class Clients(Owner):
    """Clients that submit the same texts again as soon as they are answered, for a while."""

    def __init__(self, former: BatchFormer, works: Sequence[Work], seconds: float) -> None:
        self._former = former
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._left = len(works)
        self.answered, self.latencies = 0, list[float]()
        self._begin = time.perf_counter()
        self._end = self._begin + seconds
        for work in works:
            former.submit(Ticket(work, self))

    def finished(self, tickets: Sequence[Ticket]) -> None:
        for ticket in tickets:
            error = ticket.take_error()
            if error is not None:
                raise error
            with self._lock:
                self.answered += len(ticket.results)
                self.latencies.append(time.perf_counter() - ticket.submitted)
            if time.perf_counter() < self._end:
                self._former.submit(Ticket(ticket.work, self))
                continue
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self._end = time.perf_counter()
                    self._ended.set()

    def wait(self) -> tuple[float, float]:
        """Return the texts a second, and the mean latency in ms."""
        self._ended.wait()
        return self.answered / (self._end - self._begin), 1000 * statistics.mean(self.latencies)


class Checked(Owner):
    """The bits of one answer."""

    def __init__(self, former: BatchFormer, work: Work) -> None:
        self._ended = threading.Event()
        self._ticket = Ticket(work, self)
        former.submit(self._ticket)

    def finished(self, tickets: Sequence[Ticket]) -> None:
        self._ended.set()

    def bits(self) -> bytes:
        self._ended.wait()
        return b"".join(rows.tobytes() for rows in self._ticket.results)


def contestants(threads: int) -> dict[str, BatchFormer]:
    found = {"no lanes": BatchFormer(threads)}
    for count in (n for n in range(1, threads + 1) if threads % n == 0):
        for pinned in (False, True):
            former = BatchFormer(threads)
            former.use_lanes(Lanes(count, threads, pinned))
            found[f"{count} × {threads // count}" + ", pinned" * pinned] = former
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--threads", type=int, default=fbg.get_num_threads())
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    model = fbg.load(given.model or checkpoints.of_tests("minilm").minilm_directory(), dtype="int8")
    assert isinstance(model, fbg.Model)
    rng = np.random.default_rng(0)
    engine = model.context.engines.embedding(True)
    formers = contestants(given.threads)

    def work(count: int) -> Work:
        shape = (count, given.tokens)
        ids = rng.integers(1000, model.config.vocab_size, shape).astype(np.int32)
        return Work(engine, list(ids), "lanes")

    for count in (1, 32):
        same = work(count)
        if len({Checked(former, same).bits() for former in formers.values()}) > 1:
            sys.exit("results depend on lanes")
    rows = []
    for load, (clients, count) in LOADS.items():
        works = [work(count) for _ in range(clients)]
        rounds = []
        for _ in range(given.rounds):
            measured = {
                name: Clients(former, works, given.seconds).wait()
                for name, former in formers.items()
            }
            rounds.append(measured)
        for name in formers:
            rate, latency = (statistics.median(r[name][i] for r in rounds) for i in (0, 1))
            ratio = statistics.median(r[name][0] / r["no lanes"][0] for r in rounds)
            rows.append([load, name, f"{rate:.0f}", f"{latency:.2f}", f"{ratio:.2f}"])
    print(timing.markdown(["load", "lanes", "texts/s", "ms", "ratio"], rows))


if __name__ == "__main__":
    main()
