"""One queue of work for a process: requests go in, batches of real tokens are computed.

    submit(work) -> ticket -> lanes -> batch -> a thread computes it -> owner.finished([tickets])

There is no delay: a thread that is free takes what waits, and the next batch forms while others
run. How the CPUs are used follows from the load. An interactive batch that is alone is shared by
all CPUs; while several batches run, each has one CPU and nothing waits at a barrier. A thread that
takes a batch leaves an equal share to the other threads that are free.

Each lane has as many threads as there are CPUs, and those of the bulk lane have a lower priority. A
query therefore never waits for a thread, and the system gives it most of a CPU on which a bulk
batch runs; but never all of it, so that bulk work goes on however many queries there are. Both have
a lower priority than the thread that submits and answers, an event loop for example, which needs
little time but at once. Threads of the bulk lane also give way within a batch, because the system
may otherwise let a query wait for milliseconds until it looks at priorities again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.errors import ClosedError, OverloadedError
from fbg.locks import Lock
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear
from fbg.runtime.batches import MAX_BATCH_TOKENS
from fbg.runtime.lanes import Batch, Lane, Ticket
from fbg.runtime.work import Floats, Work

__all__ = ["Owner", "WorkQueue"]

log = logging.getLogger("fbg.runtime")

FAILED = "a thread of the queue failed; the queue computes nothing any more"

MAX_BATCH_SEQUENCES = 128

# How much lower the priority of threads is than that of the process, as for the program nice. On a
# CPU that they share, a query gets 0.4 times what an event loop gets, and a bulk batch a tenth of
# what a query gets. Where queries had the priority of the process, /health took 25 ms in the median
# while 128 clients kept two busy CPUs at work; it takes 4 ms with this.
INTERACTIVE_NICENESS = 4
BULK_NICENESS = 14


class Owner(Protocol):
    """Who submits work, and is told when it is done."""

    def finished(self, tickets: Sequence[Ticket]) -> None:
        """Called by a thread of the queue, with the tickets that one batch completed."""

    def batch(self, tokens: int, sequences: int) -> None:
        """Called before a batch runs that holds work of this owner."""


class _Side:
    """A lane with its threads. idle: threads that wait for work. running: batches."""

    def __init__(self, takes_turns: bool, lock: Lock) -> None:
        self.lane = Lane(takes_turns)
        self.changed = lock.condition()
        self.idle = 0
        self.running = 0


class WorkQueue:
    """Computes the work of many requests, with threads of its own. Threads may share it.

    num_threads: CPUs to use. max_batch_tokens: of one batch. max_waiting: sequences that may wait,
    those that follow in later parts of a request included; None: any number.

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
        self._lock, self._process = Lock(), os.getpid()
        self._interactive, self._bulk = (_Side(turns, self._lock) for turns in (False, True))
        self._sides = (self._interactive, self._bulk)
        self._closed = False
        self._failure: BaseException | None = None
        self._expected = 0  # sequences that the requests of tickets will submit later
        self._open: set[Ticket] = set()  # whose owners have not been told
        self._threads = [
            threading.Thread(target=self._serve, args=(n,), name=f"fbg-queue-{n}", daemon=True)
            for n in range(2 * num_threads)
        ]
        _start_workers(num_threads)
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Sequences that no batch has taken yet."""
        return self._interactive.lane.sequences + self._bulk.lane.sequences

    @property
    def failure(self) -> BaseException | None:
        """What ended a thread of the queue, which then computes nothing any more; None: nothing."""
        return self._failure

    def _side(self, ticket: Ticket) -> _Side:
        return self._interactive if ticket.interactive else self._bulk

    def submit(
        self, work: Work, owner: Owner, tag: Any = None, *, previous: Ticket | None = None
    ) -> Ticket:
        """Add work; `owner.finished` receives its ticket when it is done or has failed.

        tag: is kept in the ticket. previous: the ticket of the part before, where the work is a
        later part of a request. Raises ValueError for a token that the network has not,
        OverloadedError if too many sequences wait, ClosedError after `close` and after a failure.
        """
        work.engine.require_valid(work.ids, work.types, work.where)
        ticket = Ticket.of(work, owner, tag, time.perf_counter())
        with self._lock:
            if self._closed or self._process != os.getpid():  # a forked child has no threads of it
                raise ClosedError("the queue is closed") from self._failure
            if previous is not None:
                self._expect(previous, 0)
            self._require_place(ticket)
            self._expect(ticket, work.after)
            if ticket.left:
                self._open.add(ticket)
                side = self._side(ticket)
                side.lane.add(ticket)
                side.changed.notify(min(side.idle, ticket.left))
        if not ticket.left:
            owner.finished([ticket])
        return ticket

    def _require_place(self, ticket: Ticket) -> None:
        """Raise OverloadedError if too many sequences wait.

        A request is refused as a whole or not at all: later parts of it are always taken.
        """
        if self._max_waiting is None or ticket.work.before:
            return
        waiting = self.waiting + self._expected
        if waiting + len(ticket.waiting) + ticket.work.after > self._max_waiting:
            raise OverloadedError(f"{waiting} texts are waiting already")

    def _expect(self, ticket: Ticket, number: int) -> None:
        """Count so many sequences as those that follow a ticket. The caller holds the lock."""
        self._expected += number - ticket.expected
        ticket.expected = number

    def expect_no_more(self, ticket: Ticket) -> None:
        """Say that the request of a ticket has ended, and submits no later parts."""
        with self._lock:
            self._expect(ticket, 0)

    def cancel(self, ticket: Ticket) -> None:
        """Drop what no batch has taken of a ticket; its owner hears no more of it."""
        with self._lock:
            ticket.cancelled = True
            self._open.discard(ticket)
            self._expect(ticket, 0)
            self._side(ticket).lane.remove(ticket)

    def close(self) -> None:
        """Compute what was submitted, then end the threads. Later work raises ClosedError."""
        with self._lock:
            self._closed = True
            for side in self._sides:
                side.changed.notify_all()
        for thread in self._threads:
            thread.join()

    # --- Threads ------------------------------------------------------------------------------

    def _serve(self, number: int) -> None:
        side = self._interactive if number < self._num_threads else self._bulk
        _lower_priority(INTERACTIVE_NICENESS if side is self._interactive else BULK_NICENESS)
        _fbg.set_gives_way(side is self._bulk)
        try:
            while self._serve_batch(side, number):
                pass
        except BaseException as error:
            log.exception("a thread of the queue ended")
            self._fail(error)

    def _serve_batch(self, side: _Side, number: int) -> bool:
        """Wait for a batch and compute it; return False when the queue is closed and empty.

        Nothing of a request is kept while the thread waits for the next one.
        """
        taken = self._take(side)
        if taken is None:
            return False
        batch, threads = taken
        self._complete(side, batch, self._compute(batch, number, threads))
        return True

    def _fail(self, error: BaseException) -> None:
        """End the queue after an error in a thread outside of any computation.

        What the thread had taken and what it had counted is unknown then. Whoever waits is told,
        the other threads end with the batches that they have, and later work is refused.
        """
        with self._lock:
            self._closed = True
            self._failure = self._failure or error
            tickets, self._open = self._open, set()
            now = time.perf_counter()
            for ticket in tickets:
                ticket.error, ticket.finished = ClosedError(FAILED), now
                ticket.waiting = []
            for side in self._sides:
                side.lane.clear()
                side.changed.notify_all()
        _tell({ticket.owner: [t for t in tickets if t.owner is ticket.owner] for ticket in tickets})

    def _take(self, side: _Side) -> tuple[Batch, int] | None:
        """Wait for a batch; return it and the number of threads to compute it with."""
        lane = side.lane
        with self._lock:
            while not lane:
                if self._closed:
                    return None
                side.idle += 1
                side.changed.wait()
                side.idle -= 1
            # A thread that hands out results counts as free: it is back at once.
            free = max(1, self._num_threads - side.running)
            tokens = min(self._max_tokens, -(-lane.tokens // free))
            sequences = min(MAX_BATCH_SEQUENCES, -(-lane.sequences // free))
            batch = lane.take(tokens, sequences, time.perf_counter())
            if lane and side.idle:
                side.changed.notify()
            alone = not (self._interactive.running or self._bulk.running or self.waiting)
            side.running += 1
        return batch, self._num_threads if alone else 1

    def _compute(self, batch: Batch, number: int, threads: int) -> BaseException | None:
        """Compute a batch and give its rows to the tickets; return what went wrong."""
        try:
            for owner in dict.fromkeys(ticket.owner for ticket in batch.tickets):
                owner.batch(batch.tokens, len(batch.parts))
            engine = batch.engine
            runner = engine.runners(len(self._threads))[number]
            outputs = engine.compute(batch.ids, batch.types, runner, threads, batch.where)
            _deliver(batch, outputs)
        except BaseException as error:  # whatever it is, whoever waits has to hear of it
            return error
        return None

    def _complete(self, side: _Side, batch: Batch, error: BaseException | None) -> None:
        now = time.perf_counter()
        done: dict[Any, list[Ticket]] = {}
        with self._lock:
            side.running -= 1
            for ticket in batch.tickets:
                if ticket.error is None:
                    ticket.error = error
                ticket.left -= 1
                if ticket.error is not None:
                    side.lane.remove(ticket)
                    self._expect(ticket, 0)
                    ticket.left = min(ticket.left, 0)
                if ticket.left == 0 and ticket in self._open:
                    self._open.discard(ticket)
                    ticket.finished = now
                    done.setdefault(ticket.owner, []).append(ticket)
        _tell(done)


def _tell(done: Mapping[Any, Sequence[Ticket]]) -> None:
    """Tell each owner which of its tickets are done, even if another one fails to hear it."""
    error: BaseException | None = None
    for owner, tickets in done.items():
        try:
            owner.finished(tickets)
        except BaseException as raised:
            error = raised
    if error is not None:
        raise error


def _deliver(batch: Batch, outputs: Sequence[Floats]) -> None:
    """Give each ticket its rows. One in two batches at a time gets different places of its list."""
    for ticket, n, rows in zip(batch.tickets, batch.parts, outputs, strict=True):
        if not ticket.cancelled and ticket.error is None:
            try:
                ticket.results[n] = ticket.work.keep(n, rows)
            except BaseException as error:
                ticket.error = error


def _start_workers(num_threads: int) -> None:
    """Start the threads that share the work of a call with its caller.

    They inherit the priority of the thread that starts them, and serve other callers, too: so that
    must not be a thread of a queue, whose priority is low.
    """
    weights = PackedB(np.zeros((64, 64), np.float32), dtype="float32")
    linear(np.zeros((64, 64), np.float32), weights, num_threads=num_threads)


def _lower_priority(by: int) -> None:
    """Lower that of the calling thread, on Linux, where each thread has one."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(AttributeError, OSError):
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread) + by
        os.setpriority(os.PRIO_PROCESS, thread, niceness)
