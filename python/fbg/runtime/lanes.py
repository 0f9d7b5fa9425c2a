"""The order in which work that waits is computed: an interactive lane and a bulk lane.

A ticket is the work of one request, or a part of it. Short requests are interactive, in the order
of their arrival. Long ones, and all parts of one that is computed in parts, are bulk: they take
turns, a batch each, whatever their length. Each lane has threads of its own (work_queue.py), and
batches hold work of one lane, because a query would otherwise wait for the bulk sequences beside
it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from fbg.runtime.engine import Engine
from fbg.runtime.work import Floats, Work

__all__ = ["Batch", "Lane", "Ticket"]

INTERACTIVE_TOKENS = 256  # at most; a single sequence is interactive, however long


@dataclass(eq=False)
class Ticket:
    """Work in a queue. waiting: numbers of the sequences that no batch has taken, shortest first.

    owner: what is told when the work is done (`WorkQueue.submit`); tag: for the owner's use.
    expected: how many sequences the request will submit after these.
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
    expected: int = 0
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
        short = len(waiting) <= 1 or tokens <= INTERACTIVE_TOKENS
        interactive = short and not work.is_part
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

    @property
    def where(self) -> str:
        return self.tickets[0].work.where

    @property
    def ids(self) -> list[Any]:
        return [t.work.ids[n] for t, n in zip(self.tickets, self.parts, strict=True)]

    @property
    def types(self) -> list[Any]:
        return [t.work.types[n] for t, n in zip(self.tickets, self.parts, strict=True)]


class Lane:
    """Tickets of one kind that wait, and the batches made of them. The caller holds the lock.

    sequences, tokens: how many wait. takes_turns: a ticket goes to the end after each batch.
    """

    def __init__(self, takes_turns: bool) -> None:
        self.sequences = 0
        self.tokens = 0
        self._takes_turns = takes_turns
        self._tickets: deque[Ticket] = deque()

    def __bool__(self) -> bool:
        return self.sequences > 0

    def add(self, ticket: Ticket) -> None:
        self._tickets.append(ticket)
        self.sequences += len(ticket.waiting)
        self.tokens += ticket.tokens

    def remove(self, ticket: Ticket) -> None:
        """Forget what waits of a ticket."""
        if not ticket.waiting:
            return
        self._tickets.remove(ticket)
        self.sequences -= len(ticket.waiting)
        self.tokens -= sum(ticket.work.ids[n].size for n in ticket.waiting)
        ticket.waiting = []

    def clear(self) -> None:
        """Forget all tickets."""
        self._tickets.clear()
        self.sequences = self.tokens = 0

    def take(self, max_tokens: int, max_sequences: int, now: float) -> Batch:
        """Return the next batch, of at least one sequence; some must wait."""
        batch = self._fill(max_tokens, max_sequences, now)
        if self._takes_turns:
            self._tickets.rotate(-1)
        return batch

    def _fill(self, max_tokens: int, max_sequences: int, now: float) -> Batch:
        """Fill a batch with sequences of the engine that the lane's first ticket is for."""
        lane = self._tickets
        engine = lane[0].work.engine
        tickets: list[Ticket] = []
        parts: list[int] = []
        tokens, exhausted = 0, False
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
            if not ticket.waiting:
                exhausted = True
        self.sequences -= len(parts)
        self.tokens -= tokens
        if exhausted:
            kept = [ticket for ticket in lane if ticket.waiting]
            lane.clear()
            lane.extend(kept)
        return Batch(engine, tickets, parts, tokens)
