"""The requests of an event loop: the layer between their coroutines and the batch former.

request -> compute(work) -> at the end of the turn: former -> batch -> finished -> request
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Sequence

from fbg.runtime.former import BatchFormer
from fbg.runtime.ticket import Owner, Ticket
from fbg.runtime.work import Work

# How many requests of a batch go on in one turn of the event loop. Each takes about 0.1 ms of the
# loop until it is answered, and a batch may hold a hundred; other work would have to wait for all.
MOST_RESUMED = 16


class LoopRequests(Owner):
    """The requests of one event loop that wait for the former: the owner of their tickets, whose
    tags are the futures that the requests wait for.

    Work that requests submit in one turn of the loop goes to the former at its end. If each
    went there by itself, a free thread would take the first one alone, and reading the
    weights for one short text takes as much time as for several.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        former: BatchFormer,
        on_batch: Callable[[int, int], None],
    ) -> None:
        self._loop = weakref.ref(loop)  # AsyncModel uses it as a key for this object
        self._former = former
        self._on_batch = on_batch
        self._submitted: list[tuple[Ticket, Ticket | None]] = []  # each with the previous one
        self._requests = 0
        self._waiters: list[asyncio.Event] = []

    def enter(self) -> None:
        """Count a request that begins."""
        self._requests += 1

    def leave(self) -> None:
        """Count a request that has ended, in any way."""
        self._requests -= 1
        if not self._requests:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                waiter.set()

    async def ended(self) -> None:
        """Wait until no request is left that has begun."""
        while self._requests:
            self._waiters.append(asyncio.Event())
            await self._waiters[-1].wait()

    async def compute(
        self, work: Work, previous: Ticket | None, background: bool = False
    ) -> Ticket:
        """Have work computed; raises what the former raises. A task that is cancelled leaves it.

        previous: the previous ticket of the same request. background: nobody waits for it.
        """
        loop = asyncio.get_running_loop()
        ticket = Ticket(work, self, loop.create_future())
        ticket.interactive &= not background
        if not self._submitted:
            loop.call_soon(self.submit)
        self._submitted.append((ticket, previous))
        try:
            await ticket.tag
        except asyncio.CancelledError:
            self._former.cancel(ticket)
            raise
        except Exception:
            ticket.tag = None  # it keeps the error, whose traceback keeps this frame
            raise
        return ticket

    def submit(self) -> None:
        """Give the former what requests have submitted so far."""
        submitted, self._submitted = self._submitted, []
        for ticket, previous in submitted:
            if ticket.tag.done():  # the task was cancelled
                continue
            try:
                self._former.submit(ticket, previous)
            except Exception as error:
                ticket.tag.set_exception(error)

    def finished(self, tickets: Sequence[Ticket]) -> None:
        # In a closed loop, nobody waits.
        loop = self._loop()
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, loop, tickets)

    def batch(self, tokens: int, sequences: int) -> None:
        self._on_batch(tokens, sequences)


def _resolve(loop: asyncio.AbstractEventLoop, tickets: Sequence[Ticket]) -> None:
    """Let the requests of a batch go on, a few in each turn of the loop."""
    if len(tickets) > MOST_RESUMED:
        loop.call_soon(_resolve, loop, tickets[MOST_RESUMED:])
    for ticket in tickets[:MOST_RESUMED]:
        future: asyncio.Future[None] = ticket.tag
        if future.done():
            continue
        error = ticket.take_error()
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(None)
