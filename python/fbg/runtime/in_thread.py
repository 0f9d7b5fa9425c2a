"""Calls in threads of a pool, for coroutines: what waits there for a request lives as long as it.

A pool keeps what it was given until a thread gets to it, also for callers that are gone; and an
error that a future keeps, and whose traceback keeps the future, is freed by the garbage collector
only, together with all that the call had.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

Result = TypeVar("Result")


async def in_thread(pool: Executor, function: Callable[..., Result], *given: Any) -> Result:
    """Return `function(*given)`, called in a thread of a pool; raises what it raises, and what
    `pool.submit` raises.

    A task that is cancelled gives its arguments up if no thread has begun; otherwise it ends when
    the thread has, so that whoever counts what the task has may count it until then.
    """
    call = _Call(function, given)
    del function, given
    running = pool.submit(call)
    try:
        return await asyncio.wrap_future(running)
    except asyncio.CancelledError:
        call.drop()
        if not running.cancel():
            loop, over = asyncio.get_running_loop(), asyncio.Event()

            def end(_: object) -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(over.set)

            running.add_done_callback(end)
            await over.wait()
        raise
    finally:
        del running  # it keeps the error, whose traceback keeps this frame


class _Call:
    """A function and its arguments, which it has until it is called or dropped."""

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...]) -> None:
        self._parts: tuple[Callable[..., Any], tuple[Any, ...]] | None = (function, given)

    def __call__(self) -> Any:
        parts, self._parts = self._parts, None
        if parts is None:
            return None
        function, given = parts
        del parts
        return function(*given)

    def drop(self) -> None:
        self._parts = None
