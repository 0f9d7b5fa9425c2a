"""The batch former: work goes in, batches of real tokens are formed of it and computed.

    submit(ticket) -> priority class -> batch -> a thread computes it -> owner.finished([tickets])

A batch holds sequences of about one length, end to end, without padding. The output for a sequence
is the same, to the bit, whatever shares its batch. All texts are computed through here: each call
of a `Model` in its own thread, by a former of its own (`steps.py`); requests of AsyncModel and of
a server by one that they share, which has threads.

There is no delay: a thread that is free takes what waits, and the next batch forms while others
run. How the CPUs are used follows from the load. An interactive batch that is alone is shared by
all CPUs; while several batches run, each has one CPU and waits for no other thread. A thread that
takes a batch leaves an equal share to the other free threads. With lanes (lanes.py), each class has
a thread in every lane, and every batch is shared by the threads of its lane.

Each priority class has as many threads as there are CPUs, and those of the bulk class have a lower
priority. A query therefore never waits for a thread, and the system gives it most of a CPU on which
a bulk batch runs; but never all of it, so that bulk work goes on however many queries there are.
Both have a lower priority than the thread that submits and answers, an event loop for example,
which needs little time, but without delay. Threads of the bulk class also yield within a batch, as
the system may otherwise let a query wait for milliseconds until it looks at priorities again.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fbg.arrays import Floats, require_integer
from fbg.errors import ClosedError, OverloadedError
from fbg.locks import Lock
from fbg.runtime.batches import MAX_BATCH_TOKENS
from fbg.runtime.priority import BULK, INTERACTIVE, Batch, PriorityClass
from fbg.runtime.ticket import Owner, Ticket
from fbg.runtime.worker_threads import start_threads

if TYPE_CHECKING:
    from fbg.runtime.lanes import Lanes

log = logging.getLogger("fbg.runtime")

FAILED = "a thread of the queue failed; the queue computes nothing any more"

MAX_BATCH_SEQUENCES = 128


class BatchFormer:
    """Forms batches of what is submitted, and computes them. Threads may share it.

    num_threads: threads that take batches of each class, and that share a single one.
    max_batch_tokens, max_batch_sequences: limits of a batch. max_waiting: sequences that may wait,
    including those of later parts of a request; None: any number.

    The first work that is submitted starts the threads.

    >>> former = BatchFormer(num_threads=2)
    >>> former.close()
    """

    def __init__(
        self,
        num_threads: int,
        max_batch_tokens: int = MAX_BATCH_TOKENS,
        max_batch_sequences: int = MAX_BATCH_SEQUENCES,
        max_waiting: int | None = None,
    ) -> None:
        self._num_threads = num_threads
        self._max_tokens = require_integer(max_batch_tokens, "max_batch_tokens", 1, 1 << 20)
        self._max_sequences = max_batch_sequences
        self._max_waiting = max_waiting
        self._lock, self._process = Lock(), os.getpid()
        self._interactive = PriorityClass(INTERACTIVE, self._lock)
        self._bulk = PriorityClass(BULK, self._lock)
        self._classes = (self._interactive, self._bulk)
        self._closed = False
        self._failure: BaseException | None = None
        self._expected = 0  # sequences that the requests of tickets will submit later
        self._open: set[Ticket] = set()  # tickets whose owners have not been told
        self._threads: list[threading.Thread] = []
        self._team: int | None = None  # threads that share a batch; None: as `_take` decides
        self._lanes: Lanes | None = None

    @property
    def waiting(self) -> int:
        """Sequences that no batch has taken yet."""
        return self._interactive.sequences + self._bulk.sequences

    @property
    def failure(self) -> BaseException | None:
        """The error that ended a thread of the former, which then stops computing; or None."""
        return self._failure

    def use_lanes(self, lanes: Lanes) -> None:
        """Compute in lanes, instead of by `num_threads`. No work may have been submitted yet."""
        self._lanes, self._num_threads, self._team = lanes, lanes.count, lanes.team

    # --- Work goes in -----------------------------------------------------------------------------

    def submit(self, ticket: Ticket, previous: Ticket | None = None) -> None:
        """Add work; its owner is told when it is done or has failed.

        previous: the ticket of the part before, where the work is a later part of a request. Raises
        ValueError for a token that the network does not have, OverloadedError if too many wait,
        ClosedError after `close` and after a failure.
        """
        work = ticket.work
        work.engine.require_valid(work.ids, work.types, work.where)
        with self._lock:
            if self._closed or self._process != os.getpid():  # a forked child has no threads
                raise ClosedError("the queue is closed") from self._failure
            if previous is not None:
                self._expect(previous, 0)
            self._require_place(ticket)
            if not self._threads:
                self._threads = start_threads(
                    self.serve, self._classes, self._num_threads, self._lanes
                )
            self._expect(ticket, work.after)
            if ticket.left:
                self._add(ticket).wake(ticket.left)
        if not ticket.left:
            ticket.owner.finished([ticket])

    def add_only(self, ticket: Ticket, team: int) -> PriorityClass:
        """Add the only work of a former without threads; return what to call `serve_batch` with.

        team: threads that share a batch. Tokens unknown to the network are refused when they
        are computed, since the batch has no tokens of others.
        """
        self._closed, self._team = True, team
        return self._add(ticket)

    def share_batches(self, team: int) -> None:
        """Change the number of threads that share a batch, in a former with one work."""
        self._team = team

    def _class(self, ticket: Ticket) -> PriorityClass:
        return self._interactive if ticket.interactive else self._bulk

    def _add(self, ticket: Ticket) -> PriorityClass:
        ticket.submitted = time.perf_counter()
        self._open.add(ticket)
        chosen = self._class(ticket)
        chosen.add(ticket)
        return chosen

    def _require_place(self, ticket: Ticket) -> None:
        """Raise OverloadedError if too many sequences wait.

        A request is refused as a whole or not at all: later parts of it are always taken.
        """
        if self._max_waiting is None or ticket.work.before:
            return
        waiting = self.waiting + self._expected
        if waiting + ticket.left + ticket.work.after > self._max_waiting:
            raise OverloadedError(f"{waiting} texts are waiting already")

    def _expect(self, ticket: Ticket, number: int) -> None:
        """Expect so many sequences after those of a ticket. The caller holds the lock."""
        self._expected += number - ticket.expected
        ticket.expected = number

    def expect_no_more(self, ticket: Ticket) -> None:
        """Say that the request of a ticket has ended, and submits no later parts."""
        with self._lock:
            self._expect(ticket, 0)

    def cancel(self, ticket: Ticket) -> None:
        """Drop the sequences of a ticket that no batch has taken; its owner hears nothing more."""
        with self._lock:
            ticket.cancelled = True
            self._expect(ticket, 0)
            if ticket in self._open:
                self._open.discard(ticket)
                self._class(ticket).remove(ticket)

    def close(self) -> None:
        """Compute all submitted work, then end the threads. Later work raises ClosedError."""
        with self._lock:
            self._closed = True
            for each in self._classes:
                each.wake(self._num_threads)
        for thread in self._threads:
            thread.join()

    def stop(self, error: BaseException) -> None:
        """Form no more batches. An interrupted thread may call it whatever it was doing."""
        self._failure = self._failure or error

    # --- Batches are computed ---------------------------------------------------------------------

    def serve(self, chosen: PriorityClass) -> None:
        """Compute batches until the former is closed and empty: the life of a thread."""
        try:
            while self.serve_batch(chosen):
                pass
        except BaseException as error:
            log.exception("a thread of the queue ended")
            self._fail(error)

    def serve_batch(
        self, chosen: PriorityClass, reported: type[BaseException] = BaseException
    ) -> bool:
        """Wait for a batch and compute it; return False when the former is closed and empty.

        chosen: the class from which the calling thread takes batches.
        reported: errors of which only the owners are told, not the caller.

        Nothing of a request is kept while the thread waits for the next one.
        """
        taken = self._take(chosen)
        if taken is None:
            return False
        batch, team = taken
        self._complete(chosen, batch, self._compute(batch, team, reported))
        return True

    def _take(self, chosen: PriorityClass) -> tuple[Batch, int] | None:
        """Wait for a batch; return it, and how many threads are to share it."""
        with self._lock:
            while not (chosen.sequences or self._closed):
                chosen.wait()
            if not chosen.sequences or self._failure is not None:
                return None
            # A thread that hands out results counts as free: it is back at once.
            free = max(1, self._num_threads - chosen.running)
            tokens = min(self._max_tokens, -(-chosen.tokens // free))
            sequences = min(self._max_sequences, -(-chosen.sequences // free))
            batch = chosen.take(tokens, sequences, time.perf_counter())
            if chosen.sequences:
                chosen.wake(1)
            alone = not (self._interactive.running or self._bulk.running or self.waiting)
            chosen.running += 1
        return batch, self._team or (self._num_threads if alone else 1)

    def _compute(
        self, batch: Batch, team: int, reported: type[BaseException]
    ) -> BaseException | None:
        """Compute a batch and give its rows to the tickets; return the error, if any."""
        try:
            for owner in dict.fromkeys(ticket.owner for ticket in batch.tickets):
                owner.batch(batch.tokens, len(batch.parts))
            outputs = batch.engine.compute(batch.ids, batch.types, team, batch.where)
            _deliver(batch, outputs)
        except reported as error:
            return _without_caller(error)
        return None

    def _complete(self, chosen: PriorityClass, batch: Batch, error: BaseException | None) -> None:
        now = time.perf_counter()
        done: dict[Owner, list[Ticket]] = {}
        with self._lock:
            chosen.running -= 1
            for ticket in batch.tickets:
                if error is not None:
                    ticket.fail(error, batch.number)
                ticket.left -= 1
                if ticket.error is not None:
                    chosen.remove(ticket)
                    self._expect(ticket, 0)
                    ticket.left = min(ticket.left, 0)
                if ticket.left == 0 and ticket in self._open:
                    self._open.discard(ticket)
                    ticket.finished = now
                    done.setdefault(ticket.owner, []).append(ticket)
        _tell(done)

    def _fail(self, error: BaseException) -> None:
        """End the former after an error in a thread outside of any computation.

        The work of the thread and its counts are unknown then. All waiting owners are told,
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
            for each in self._classes:
                each.clear()
                each.wake(self._num_threads)
        _tell({ticket.owner: [t for t in tickets if t.owner is ticket.owner] for ticket in tickets})


def _deliver(batch: Batch, outputs: Sequence[Floats]) -> None:
    """Give each ticket its rows. A ticket in two batches at once gets rows at different places."""
    for ticket, n, rows in zip(batch.tickets, batch.parts, outputs, strict=True):
        if not ticket.cancelled and ticket.error is None:
            try:
                ticket.results[n] = ticket.work.keep(n, rows)
            except Exception as error:
                ticket.fail(_without_caller(error), batch.number)


def _without_caller(error: BaseException) -> BaseException:
    """Cut the frame that caught an error off its traceback.

    That frame keeps the batch, its tickets and, in a cycle, the error: none of them would be freed
    before the garbage collector runs.
    """
    traceback = error.__traceback__
    return error if traceback is None else error.with_traceback(traceback.tb_next)


def _tell(done: Mapping[Owner, Sequence[Ticket]]) -> None:
    """Tell each owner which of its tickets are done, even if another one fails to hear it."""
    error: BaseException | None = None
    for owner, tickets in done.items():
        try:
            owner.finished(tickets)
        except BaseException as raised:
            error = raised
    if error is not None:
        raise error
