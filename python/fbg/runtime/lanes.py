"""The order in which work that waits is computed: an interactive lane, a bulk lane, ageing.

A ticket is the work of one request. Short ones are interactive, in the order of their arrival. Long
ones are bulk: they take turns, a batch each, whatever their length. Interactive tickets come first,
except where bulk has waited for AGE seconds without a batch; so neither can stop the other. Batches
are not mixed, because a query would otherwise wait for the bulk sequences beside it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fbg.runtime.engine import Engine
from fbg.runtime.work import Floats, Work

__all__ = ["Batch", "Lanes", "Ticket"]

INTERACTIVE_TOKENS = 256  # at most; a single sequence is interactive, however long
AGE = 0.1  # seconds


@dataclass(eq=False)
class Ticket:
    """Work in a queue. waiting: numbers of the sequences that no batch has taken, shortest first.

    owner: what is told when the work is done (`WorkQueue.submit`); tag: for the owner's use.
    submitted, started, finished: by time.perf_counter, in seconds.
    """

    work: Work
    owner: Any
    tag: Any
    submitted: float
    waiting: list[int]
    left: int
    tokens: int
    interactive: bool
    results: list[Floats] = field(default_factory=list)
    error: BaseException | None = None
    cancelled: bool = False
    started: float = 0.0
    finished: float = 0.0

    @classmethod
    def of(cls, work: Work, owner: Any, tag: Any, now: float) -> Ticket:
        """Make a ticket; sequences without tokens have their results at once."""
        sizes = [ids.size for ids in work.ids]
        waiting = [n for n, size in enumerate(sizes) if size > 0]
        if len(waiting) > 1:
            # Sequences of about one length share a batch; the longest ones come first.
            waiting.sort(key=sizes.__getitem__)
        tokens = sum(sizes)
        interactive = len(waiting) <= 1 or tokens <= INTERACTIVE_TOKENS
        ticket = cls(work, owner, tag, now, waiting, len(waiting), tokens, interactive)
        empty = work.engine.empty()
        ticket.results = [
            empty if size > 0 else work.keep(n, empty) for n, size in enumerate(sizes)
        ]
        return ticket


@dataclass(frozen=True)
class Batch:
    """Sequences of one engine: parts[i] is a sequence of tickets[i], by its number."""

    engine: Engine
    tickets: list[Ticket]
    parts: list[int]
    tokens: int
    interactive: bool

    @property
    def where(self) -> str:
        return self.tickets[0].work.where

    @property
    def ids(self) -> list[Any]:
        return [t.work.ids[n] for t, n in zip(self.tickets, self.parts, strict=True)]

    @property
    def types(self) -> list[Any]:
        return [t.work.types[n] for t, n in zip(self.tickets, self.parts, strict=True)]


class Lanes:
    """Tickets that wait, and the batches made of them. The caller holds the lock.

    sequences, tokens: how many wait.
    """

    def __init__(self) -> None:
        self.sequences = 0
        self.tokens = 0
        self._interactive: deque[Ticket] = deque()
        self._bulk: deque[Ticket] = deque()
        self._bulk_served = 0.0

    def __bool__(self) -> bool:
        return self.sequences > 0

    @property
    def has_interactive(self) -> bool:
        return bool(self._interactive)

    def __iter__(self) -> Iterator[Ticket]:
        yield from tuple(self._interactive)
        yield from tuple(self._bulk)

    def add(self, ticket: Ticket) -> None:
        if not ticket.interactive and not self._bulk:
            self._bulk_served = ticket.submitted
        (self._interactive if ticket.interactive else self._bulk).append(ticket)
        self.sequences += len(ticket.waiting)
        self.tokens += ticket.tokens

    def remove(self, ticket: Ticket) -> None:
        """Forget what waits of a ticket."""
        if not ticket.waiting:
            return
        (self._interactive if ticket.interactive else self._bulk).remove(ticket)
        self.sequences -= len(ticket.waiting)
        self.tokens -= sum(ticket.work.ids[n].size for n in ticket.waiting)
        ticket.waiting = []

    def take(
        self, max_tokens: int, max_sequences: int, now: float, interactive_only: bool = False
    ) -> Batch | None:
        """Return the next batch, of at least one sequence; None if nothing waits."""
        aged = self._bulk and now - self._bulk_served > AGE and not interactive_only
        if self._interactive and not aged:
            return self._fill(self._interactive, max_tokens, max_sequences, now)
        if interactive_only or not self._bulk:
            return None
        self._bulk_served = now
        batch = self._fill(self._bulk, max_tokens, max_sequences, now)
        self._bulk.rotate(-1)
        return batch

    def _fill(self, lane: deque[Ticket], max_tokens: int, max_sequences: int, now: float) -> Batch:
        """Fill a batch with sequences of the engine that the lane's first ticket is for."""
        engine = lane[0].work.engine
        tickets: list[Ticket] = []
        parts: list[int] = []
        tokens, exhausted = 0, 0
        for ticket in lane:
            if ticket.work.engine is not engine:
                continue
            if tokens >= max_tokens or len(parts) >= max_sequences:
                break
            if not ticket.started:
                ticket.started = now
            while ticket.waiting:
                size = ticket.work.ids[ticket.waiting[-1]].size
                if parts and (tokens + size > max_tokens or len(parts) == max_sequences):
                    break
                tickets.append(ticket)
                parts.append(ticket.waiting.pop())
                tokens += size
            exhausted += not ticket.waiting
        self.sequences -= len(parts)
        self.tokens -= tokens
        if exhausted:
            kept = [ticket for ticket in lane if ticket.waiting]
            lane.clear()
            lane.extend(kept)
        return Batch(engine, tickets, parts, tokens, lane is self._interactive)
