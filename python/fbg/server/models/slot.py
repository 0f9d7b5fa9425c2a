"""When a model is in memory: loaded by the first request, unloaded some time after the last.

take -> (load in a thread) -> the value, in use -> give_back -> seconds without use -> unload
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from fbg import _fbg
from fbg.server.errors import Fault, RequestError

T = TypeVar("T")

log = logging.getLogger("fbg.server")


class Slot(Generic[T]):
    """A value that is made when it is needed. Its methods belong to one event loop, which neither
    loading nor unloading holds up, since both happen in threads, one at a time.

    name: for logs and errors. value: there from the beginning, or None. load: makes it.
    close: ends what belongs to a value. seconds: how long it stays without users; None: for ever.
    changed: called with True when there is a value, with False when there is none any more.
    """

    def __init__(
        self,
        name: str,
        value: T | None = None,
        load: Callable[[], T] | None = None,
        close: Callable[[T], None] = lambda value: None,
        seconds: float | None = None,
        changed: Callable[[bool], None] = lambda loaded: None,
    ) -> None:
        self.name = name
        self.value = value
        self._load = load
        self._close = close
        self._seconds = seconds
        self._changed = changed
        self._users = 0
        self._used = 0.0  # when the last user left
        self._timer: asyncio.TimerHandle | None = None
        self._loading: asyncio.Task[bool] | None = None
        self._unloading: asyncio.Task[None] | None = None
        if value is not None:
            changed(True)

    async def take(self) -> T:
        """Count a user, for whom the value stays until `give_back`, and return the value.

        Users that come while it is loaded wait for it. Raises RequestError if that fails; the next
        user tries again.
        """
        self._users += 1
        try:
            while self.value is None:
                if self._loading is None:
                    self._loading = asyncio.get_running_loop().create_task(self._fill())
                # The others still wait when the client of one has gone.
                if not await asyncio.shield(self._loading):
                    message = f"the model {self.name!r} could not be loaded; see the log"
                    raise RequestError(Fault.UNHEALTHY, f"{message}, and try again")
            return self.value
        except BaseException:
            self.give_back()
            raise

    def give_back(self) -> None:
        """End a use of the value, whose time without users begins if this was the last one."""
        self._users -= 1
        self._watch()

    def retire(self) -> None:
        """Unload the value as soon as nobody uses it: another slot takes the place of this one."""
        self._seconds = 0.0
        self._watch()

    def _watch(self) -> None:
        """Unload the value in time. The timer goes on while there are users, who come and go much
        more often than it ends."""
        if self._users or self.value is None or self._seconds is None:
            return
        loop = asyncio.get_running_loop()
        self._used = loop.time()
        if not self._seconds:
            self._look()
        elif self._timer is None:
            self._timer = loop.call_later(self._seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._users or self.value is None or self._seconds is None:
            return  # the last user sets the timer again
        loop = asyncio.get_running_loop()
        rest = self._used + self._seconds - loop.time()
        if rest > 0:
            self._timer = loop.call_later(rest, self._look)
            return
        held, self.value = [self.value], None
        self._changed(False)
        self._unloading = loop.create_task(self._drop(held))

    async def _fill(self) -> bool:
        """Load the value; return whether that succeeded."""
        assert self._load is not None
        begin = time.perf_counter()
        try:
            if self._unloading is not None:
                await asyncio.wait([self._unloading])
            self.value = await asyncio.to_thread(self._load)
        except Exception as error:
            log.error("load of %s failed: %s", self.name, error)
            return False
        finally:
            self._loading = None
        self._changed(True)
        self._log("loaded", seconds=round(time.perf_counter() - begin, 3))
        self._watch()  # all who waited may have gone
        return True

    async def _drop(self, held: list[T]) -> None:
        await asyncio.to_thread(self._give_memory_back, held)
        self._log("unloaded")

    def _give_memory_back(self, held: list[T]) -> None:
        """Close the value in a list, drop it, and return its memory to the system."""
        try:
            self._close(held.pop())
        except Exception:
            log.exception("closing %s failed", self.name)
        gc.collect()
        _fbg.trim_memory()

    def _log(self, what: str, **fields: object) -> None:
        log.info(what, extra={"fields": {"model": self.name, **fields}})
