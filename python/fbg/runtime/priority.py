"""The order in which waiting work is computed: an interactive class and a bulk class.

Short requests are interactive, in order of arrival. Long ones, and all parts of a request that
is computed in parts, are bulk: they take turns, a batch each, whatever their length. Each class has
threads of its own (former.py), and batches hold work of one class, because a query would otherwise
wait for the bulk sequences beside it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from fbg.arrays import Indices
from fbg.locks import Lock, cached_property
from fbg.runtime.engine import Engine, Types
from fbg.runtime.ticket import Ticket


@dataclass(frozen=True)
class Priority:
    """niceness: how much lower the priority of its threads is than that of the process, as for the
    program nice. gives_way: whether they give way within a batch, too. round_robin: whether a
    ticket goes to the end after each batch.
    """

    niceness: int
    gives_way: bool
    round_robin: bool


# On a CPU that they share, a query gets 0.4 times what an event loop gets, and a bulk batch a tenth
# of what a query gets. When queries had the priority of the process, /health took 25 ms in the
# median while 128 clients kept two busy CPUs at work; it takes 4 ms with this.
INTERACTIVE = Priority(niceness=4, gives_way=False, round_robin=False)
BULK = Priority(niceness=14, gives_way=True, round_robin=True)


@dataclass(eq=False)
class Batch:
    """Sequences of one engine: ids[i] is a sequence of tickets[i], which has the number parts[i].

    number: its place among the batches of its class, in the order in which they were formed.
    """

    number: int
    engine: Engine
    tickets: list[Ticket]
    parts: list[int]
    ids: list[Indices]
    tokens: int

    @property
    def where(self) -> str:
        return self.tickets[0].work.where

    @property
    def types(self) -> list[Types]:
        pairs = zip(self.tickets, self.parts, strict=True)
        return [t.work.types[n] if t.work.types else None for t, n in pairs]


class PriorityClass:
    """Waiting tickets of one priority, and the batches made of them. The caller holds the lock.

    sequences, tokens: how many wait. running: batches in computation.
    """

    def __init__(self, priority: Priority, lock: Lock) -> None:
        self.priority = priority
        self.sequences = 0
        self.tokens = 0
        self.running = 0
        self._lock = lock
        self._idle = 0  # waiting threads
        self._formed = 0
        self._tickets: deque[Ticket] = deque()

    _changed = cached_property(lambda self: self._lock.condition())  # for waiting threads

    def wait(self) -> None:
        """Wait until there may be work to take."""
        self._idle += 1
        self._changed.wait()
        self._idle -= 1

    def wake(self, count: int) -> None:
        """Wake so many threads to look for work."""
        if self._idle > 0:
            self._changed.notify(count)

    def add(self, ticket: Ticket) -> None:
        self._tickets.append(ticket)
        self.sequences += len(ticket.waiting)
        self.tokens += ticket.tokens

    def remove(self, ticket: Ticket) -> None:
        """Forget the waiting sequences of a ticket."""
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
        if self.priority.round_robin:
            self._tickets.rotate(-1)
        return batch

    def _fill(self, max_tokens: int, max_sequences: int, now: float) -> Batch:
        """Fill a batch with sequences of the engine of the first ticket."""
        waiting = self._tickets
        engine = waiting[0].work.engine
        tickets: list[Ticket] = []
        parts: list[int] = []
        sequences: list[Indices] = []
        tokens, exhausted = 0, False
        for ticket in waiting:
            if ticket.work.engine is not engine:
                continue
            if tokens >= max_tokens or len(parts) >= max_sequences:
                break
            if not ticket.started:
                ticket.started = now
            while ticket.waiting:
                ids = ticket.work.ids[ticket.waiting[-1]]
                if parts and (tokens + ids.size > max_tokens or len(parts) == max_sequences):
                    break
                tickets.append(ticket)
                parts.append(ticket.waiting.pop())
                sequences.append(ids)
                tokens += ids.size
            if not ticket.waiting:
                exhausted = True
        self.sequences -= len(parts)
        self.tokens -= tokens
        if exhausted:
            kept = [ticket for ticket in waiting if ticket.waiting]
            waiting.clear()
            waiting.extend(kept)
        self._formed += 1
        return Batch(self._formed, engine, tickets, parts, sequences, tokens)
