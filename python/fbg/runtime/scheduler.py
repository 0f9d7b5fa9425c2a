"""The scheduler: orders token sequences, packs them into batches and runs these on an engine.

    submit(ids, deliver)   any number of times: a sequence, and what receives its part of the output
    run()                  sort by length -> batches of real tokens -> plans -> deliver(rows)

A batch holds sequences of about one length, end to end, without padding. Embeddings and all tasks
are computed through here. What is submitted may come from several callers: the output for a
sequence is the same, to the bit, whatever shares its batch.
"""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fbg.runtime.batches import MAX_BATCH_TOKENS, chunks
from fbg.runtime.engine import Engine
from fbg.runtime.runner import Runner

__all__ = ["Deliver", "Scheduler", "run_in_parallel"]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]
Deliver = Callable[[Floats], object]

# With at least this many batches for each thread, a thread computes whole batches by itself instead
# of sharing every batch with the others: none waits for another one within a batch, and none
# quantizes what another one quantizes too.
BATCHES_PER_THREAD = 4


class _Job(NamedTuple):
    ids: Indices
    types: Indices | None
    deliver: Deliver


class Scheduler:
    """Collects token sequences for one engine and computes them in batches.

    engine: several schedulers may share one.
    num_threads: how many threads compute; fixes how, never what.
    batch_size: the most sequences of a batch, beside the limit of MAX_BATCH_TOKENS tokens.
    where: the function that errors name.

    >>> rows = {}
    >>> scheduler = Scheduler(
    ...     engine, num_threads=2, batch_size=32, where="encode"
    ... )  # doctest: +SKIP
    >>> scheduler.submit(ids, lambda output: rows.update({0: output}))  # doctest: +SKIP
    >>> for count in scheduler.run():  # doctest: +SKIP
    ...     print(count, "more sequences are done")
    """

    def __init__(self, engine: Engine, *, num_threads: int, batch_size: int, where: str) -> None:
        self._engine = engine
        self._num_threads = num_threads
        self._batch_size = batch_size
        self._where = where
        self._jobs: list[_Job] = []

    def submit(self, ids: Indices, deliver: Deliver, types: Indices | None = None) -> None:
        """Add a sequence to those that the next `run` computes.

        ids: (tokens,), perhaps none. types: the token types; None stands for zeros.
        deliver: called once, with the rows of this sequence: (1, columns) or (tokens, columns). It
            may be called from another thread, and keeps no more than it needs: the rows are a view
            of the output of a whole batch.
        """
        self._jobs.append(_Job(ids, types, deliver))

    def run(self) -> Iterator[int]:
        """Compute what was submitted; yield, after each batch, how many sequences are done with it.

        Raises ValueError for a token id that the network has not, and what a `deliver` raises; then
        the rest is not computed.
        """
        jobs, self._jobs = self._jobs, []
        lengths = np.array([job.ids.size for job in jobs], np.int64)
        # Longest first, so that the sequences of a batch have about one length.
        order = np.argsort(-lengths, kind="stable")
        filled = int(np.count_nonzero(lengths))
        batches = [
            [jobs[n] for n in order[part]]
            for part in chunks(lengths[order[:filled]].tolist(), MAX_BATCH_TOKENS, self._batch_size)
        ]
        threads = self._num_threads
        if threads == 1 or len(batches) < BATCHES_PER_THREAD * threads:
            (runner,) = self._engine.runners(1)
            for batch in batches:
                yield self._compute(batch, runner, threads)
        else:
            yield from run_in_parallel(self._compute, batches, self._engine.runners(threads))
        for n in order[filled:]:
            jobs[n].deliver(self._engine.empty())
        yield len(jobs) - filled

    def _compute(self, batch: Sequence[_Job], runner: Runner, num_threads: int) -> int:
        ids, types, deliveries = zip(*batch, strict=True)
        outputs = self._engine.compute(ids, types, runner, num_threads, self._where)
        for deliver, rows in zip(deliveries, outputs, strict=True):
            deliver(rows)
        return len(batch)


def run_in_parallel(
    compute: Callable[[Sequence[_Job], Runner, int], int],
    batches: Sequence[Sequence[_Job]],
    runners: Sequence[Runner],
) -> Iterator[int]:
    """Yield what `compute` returns for the batches, in their order, with a thread for each runner.

    Where no thread can be started, as while the interpreter is shutting down, the calling thread
    computes the rest.
    """
    free: queue.SimpleQueue[Runner] = queue.SimpleQueue()
    for runner in runners:
        free.put(runner)

    def task(batch: Sequence[_Job]) -> int:
        runner = free.get()
        try:
            return compute(batch, runner, 1)
        finally:
            free.put(runner)

    with ThreadPoolExecutor(len(runners), "fbg-batch") as pool:
        futures: list[Future[int]] = []
        try:
            with contextlib.suppress(RuntimeError):
                for batch in batches:
                    futures.append(pool.submit(task, batch))
            for future in futures:
                yield future.result()
            for batch in batches[len(futures) :]:
                yield task(batch)
        finally:
            for future in futures:
                future.cancel()
