"""One queue of work for a process: requests go in, batches of real tokens are computed.

    submit(work) -> ticket -> lanes -> batch -> a thread computes it -> owner.finished([tickets])

There is no delay: a thread that is free takes what waits, and the next batch forms while others
run. How the CPUs are used follows from the load. A batch that is alone is shared by all CPUs; while
several batches run, each has one CPU and nothing waits at a barrier. A thread that takes a batch
leaves an equal share to the other threads that are free. One thread more than there are CPUs
computes interactive work while bulk batches run on all of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

from fbg.arrays import require_integer
from fbg.errors import ClosedError, OverloadedError
from fbg.runtime.batches import MAX_BATCH_TOKENS
from fbg.runtime.lanes import Batch, Lanes, Ticket
from fbg.runtime.work import Floats, Work

__all__ = ["Owner", "WorkQueue"]

MAX_BATCH_SEQUENCES = 128


class Owner(Protocol):
    """Who submits work, and is told when it is done."""

    def finished(self, tickets: Sequence[Ticket]) -> None:
        """Called by a thread of the queue, with the tickets that one batch completed."""

    def batch(self, tokens: int, sequences: int) -> None:
        """Called before a batch runs that holds work of this owner."""


class WorkQueue:
    """Computes the work of many requests, with threads of its own. Threads may share it.

    num_threads: CPUs to use. max_batch_tokens: of one batch. max_waiting: sequences that may wait;
    None: any number.

    >>> queue = WorkQueue(num_threads=2)
    >>> queue.close()
    """

    def __init__(
        self,
        num_threads: int,
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        max_waiting: int | None = None,
    ) -> None:
        self._num_threads = num_threads
        self._max_tokens = require_integer(max_batch_tokens, "max_batch_tokens", 1, 1 << 20)
        self._max_waiting = max_waiting
        self._lanes = Lanes()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._express = threading.Condition(self._lock)
        self._idle = 0  # threads that wait for work, the express one excluded
        self._running = 0  # batches that are computed now; bulk ones
        self._bulk_running = 0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(n,), name=f"fbg-queue-{n}", daemon=True)
            for n in range(num_threads + 1)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Sequences that no batch has taken yet."""
        return self._lanes.sequences

    def submit(self, work: Work, owner: Owner, tag: Any = None) -> Ticket:
        """Add work; `owner.finished` receives its ticket when it is done or has failed.

        tag: is kept in the ticket. Raises ValueError for a token that the network has not,
        OverloadedError if too many sequences wait, ClosedError after `close`.
        """
        work.engine.require_valid(work.ids, work.types, work.where)
        ticket = Ticket.of(work, owner, tag, time.perf_counter())
        with self._lock:
            if self._closed:
                raise ClosedError("the queue is closed")
            limit = self._max_waiting
            if limit is not None and self._lanes.sequences + len(ticket.waiting) > limit:
                raise OverloadedError(f"{self._lanes.sequences} texts are waiting already")
            if ticket.left:
                self._lanes.add(ticket)
                self._changed.notify(min(self._idle, ticket.left))
                if self._needs_express():
                    self._express.notify()
        if not ticket.left:
            owner.finished([ticket])
        return ticket

    def cancel(self, ticket: Ticket) -> None:
        """Drop what no batch has taken of a ticket; its owner hears no more of it."""
        with self._lock:
            ticket.cancelled = True
            self._lanes.remove(ticket)

    def close(self) -> None:
        """Compute what was submitted, then end the threads. Later work raises ClosedError."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()
            self._express.notify_all()
        for thread in self._threads:
            thread.join()

    # --- Threads ------------------------------------------------------------------------------

    def _needs_express(self) -> bool:
        return self._idle == 0 and self._bulk_running > 0 and self._lanes.has_interactive

    def _serve(self, number: int) -> None:
        take = self._take if number < self._num_threads else self._take_express
        while True:
            taken = take()
            if taken is None:
                return
            batch, threads = taken
            self._compute(batch, number, threads)
            # Nothing of a request is kept while this thread waits for another one.
            del batch, taken

    def _take(self) -> tuple[Batch, int] | None:
        """Wait for a batch; return it and the number of threads to compute it with."""
        with self._lock:
            while not self._lanes:
                if self._closed:
                    return None
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            # A thread that hands out results counts as free: it is back at once.
            lanes, free = self._lanes, max(1, self._num_threads - self._running)
            tokens = min(self._max_tokens, -(-lanes.tokens // free))
            sequences = min(MAX_BATCH_SEQUENCES, -(-lanes.sequences // free))
            batch = lanes.take(tokens, sequences, time.perf_counter())
            assert batch is not None
            self._running += 1
            self._bulk_running += not batch.interactive
            if lanes and self._idle:
                self._changed.notify()
            if self._needs_express():
                self._express.notify()
            alone = free == self._num_threads and not lanes
        return batch, self._num_threads if alone else 1

    def _take_express(self) -> tuple[Batch, int] | None:
        with self._lock:
            while not self._needs_express():
                if self._closed:
                    return None
                self._express.wait()
            now = time.perf_counter()
            batch = self._lanes.take(self._max_tokens, MAX_BATCH_SEQUENCES, now, True)
            assert batch is not None
            self._running += 1
        return batch, 1

    def _compute(self, batch: Batch, number: int, threads: int) -> None:
        for owner in dict.fromkeys(ticket.owner for ticket in batch.tickets):
            owner.batch(batch.tokens, len(batch.parts))
        engine = batch.engine
        runner = engine.runners(self._num_threads + 1)[number]
        try:
            outputs = engine.compute(batch.ids, batch.types, runner, threads, batch.where)
            _deliver(batch, outputs)
        except BaseException as error:  # whatever it is, whoever waits has to hear of it
            for ticket in batch.tickets:
                ticket.error = error
        self._complete(batch)

    def _complete(self, batch: Batch) -> None:
        now = time.perf_counter()
        done: dict[Any, list[Ticket]] = {}
        with self._lock:
            self._running -= 1
            self._bulk_running -= not batch.interactive
            for ticket in batch.tickets:
                ticket.left -= 1
                if ticket.error is not None:
                    self._lanes.remove(ticket)
                    ticket.left = min(ticket.left, 0)
                if ticket.left == 0 and not ticket.finished:
                    ticket.finished = now
                    if not ticket.cancelled:
                        done.setdefault(ticket.owner, []).append(ticket)
        for owner, tickets in done.items():
            owner.finished(tickets)


def _deliver(batch: Batch, outputs: Sequence[Floats]) -> None:
    """Give each ticket its rows. One in two batches at a time gets different places of its list."""
    for ticket, n, rows in zip(batch.tickets, batch.parts, outputs, strict=True):
        if not ticket.cancelled and ticket.error is None:
            try:
                ticket.results[n] = ticket.work.keep(n, rows)
            except BaseException as error:
                ticket.error = error
