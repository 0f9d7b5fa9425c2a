"""The event for which a connection waits, and its deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls a function at a time that may change often.

    There is one timer, which looks at the time when it fires: to start and to cancel timers for
    each request takes more time than to read its headers.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._at: float | None = None
        self._action: Callable[[], None] = _nothing
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def set(self, seconds: float, action: Callable[[], None]) -> None:
        """Call `action` in so many seconds, unless this or `clear` is called before."""
        self._action = action
        self._at = at = self._loop.time() + seconds
        if self._timer is not None and self._timer_at > at:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._start(at)

    def clear(self) -> None:
        self._at = None

    def stop(self) -> None:
        """Clear it for good, together with its timer."""
        self.clear()
        self._action = _nothing
        if self._timer is not None:
            self._timer.cancel()

    def _start(self, at: float) -> None:
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._at is None:
            return
        if self._at > self._loop.time():
            self._start(self._at)
        else:
            self.clear()
            self._action()


def _nothing() -> None:
    pass
