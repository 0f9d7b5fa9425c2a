"""A ticket: work in a batch former, its progress, and the owner to tell when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fbg.arrays import Floats
from fbg.runtime.work import Work

INTERACTIVE_TOKENS = 256  # most tokens; a single sequence is interactive, however long


class Owner:
    """The code that submits work, and is told its results."""

    def finished(self, tickets: Sequence[Ticket]) -> None:
        """Called by a thread of the former, with the tickets that one batch completed."""

    def batch(self, tokens: int, sequences: int) -> None:
        """Called before a batch runs that holds work of this owner."""


class Ticket:
    """The work of one request, or a part of it, from its submission to its result.

    waiting: numbers of the sequences that no batch has taken, in reverse order.
    left: number of sequences still to compute. results: kept results of those computed.
    interactive: whether somebody waits for the work (`priority.py`).
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
        """Keep an error; if there are several, the error of the batch that was formed first."""
        if self.error is None or batch < self._failed_batch:
            self.error, self._failed_batch = error, batch

    def take_error(self) -> BaseException | None:
        """Return the error, and drop it: its traceback may keep this ticket."""
        error, self.error = self.error, None
        return error
