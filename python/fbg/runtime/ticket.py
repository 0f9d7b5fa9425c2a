"""A ticket: work that a batch former has, how far it is, and who is told when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fbg.arrays import Floats
from fbg.runtime.work import Work

INTERACTIVE_TOKENS = 256  # at most; a single sequence is interactive, however long


class Owner:
    """Who submits work, and is told what becomes of it."""

    def finished(self, tickets: Sequence[Ticket]) -> None:
        """Called by a thread of the former, with the tickets that one batch completed."""

    def batch(self, tokens: int, sequences: int) -> None:
        """Called before a batch runs that holds work of this owner."""


class Ticket:
    """The work of one request, or a part of it, from its submission to its result.

    waiting: numbers of the sequences that no batch has taken, in the reverse of their order.
    left: how many sequences have not been computed. results: what was kept of those that have.
    interactive: whether the work is for somebody who waits for it (`priority.py`).
    tag: for the owner's use. expected: how many sequences the request will submit after these.
    submitted, started, finished: by time.perf_counter, in seconds.
    """

    def __init__(self, work: Work, owner: Owner, tag: Any = None) -> None:
        """Sequences without tokens have their results at once."""
        self.work, self.owner, self.tag = work, owner, tag
        sizes = [ids.size for ids in work.ids]
        # Sequences of about one length share a batch; the longest ones come first.
        self.waiting = [n for n in range(len(sizes) - 1, -1, -1) if sizes[n] > 0]
        self.waiting.sort(key=sizes.__getitem__)
        self.left = len(self.waiting)
        self.tokens = sum(sizes)
        short = self.left <= 1 or self.tokens <= INTERACTIVE_TOKENS
        self.interactive = short and not work.is_part
        empty = work.engine.empty()
        self.results: list[Floats] = [empty] * len(sizes)
        if self.left < len(sizes):
            for n, size in enumerate(sizes):
                if size == 0:
                    self.results[n] = work.keep(n, empty)
        self.error: BaseException | None = None
        self._failed_batch = 0
        self.cancelled = False
        self.expected = 0
        self.submitted = self.started = self.finished = 0.0

    def fail(self, error: BaseException, batch: int) -> None:
        """Keep an error; of several, the one of the batch that was formed first."""
        if self.error is None or batch < self._failed_batch:
            self.error, self._failed_batch = error, batch

    def take_error(self) -> BaseException | None:
        """Return the error, and keep it no longer: its traceback may keep this ticket."""
        error, self.error = self.error, None
        return error
