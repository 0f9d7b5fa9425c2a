"""What coroutines wait for: calls in threads of a pool, and requests that a batcher computes.

    call -> compute(request) -> at the end of the turn: batcher -> batch -> finished -> call

What waits for a request lives as long as it. A pool keeps what it was given until a thread gets to
it, also for callers that are gone; and an error that a future keeps, and whose traceback keeps the
future, is freed by the garbage collector only, together with all that the call had.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, TypeVar

from fbg.runtime.batcher import Batcher, Caller, Future
from fbg.runtime.steps import Request

Result = TypeVar("Result")

# How many calls of a batch go on in one turn of the event loop. Each takes about 0.1 ms of the
# loop until it is answered, and a batch may hold a hundred; other code would have to wait for all.
MOST_RESUMED = 16


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


class LoopCalls(Caller):
    """The calls of one event loop: the caller of their futures, whose tags are the futures of
    asyncio that the calls wait for.

    What calls submit in one turn of the loop goes to the batcher at its end. If each went there by
    itself, a free thread would take the first one alone, and reading the weights for one short text
    takes as much time as for several.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        batcher: Batcher,
        on_batch: Callable[[int, int], None],
    ) -> None:
        self._loop = weakref.ref(loop)  # AsyncModel uses it as a key for this object
        self._batcher = batcher
        self._on_batch = on_batch
        self._submitted: list[tuple[Future, Future | None]] = []  # each with the previous one
        self._calls = 0
        self._waiters: list[asyncio.Event] = []

    def enter(self) -> None:
        """Count a call that begins."""
        self._calls += 1

    def leave(self) -> None:
        """Count a call that has ended, in any way."""
        self._calls -= 1
        if not self._calls:
            waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                waiter.set()

    async def ended(self) -> None:
        """Wait until no call is left that has begun."""
        while self._calls:
            self._waiters.append(asyncio.Event())
            await self._waiters[-1].wait()

    async def compute(
        self, request: Request, previous: Future | None, background: bool = False
    ) -> Future:
        """Have a request computed; raises what the batcher raises. A cancelled task leaves it.

        previous: the previous future of the same call. background: nobody waits for it.
        """
        loop = asyncio.get_running_loop()
        future = Future(request, self, loop.create_future())
        future.interactive &= not background
        if not self._submitted:
            loop.call_soon(self.submit)
        self._submitted.append((future, previous))
        try:
            await future.tag
        except asyncio.CancelledError:
            self._batcher.cancel(future)
            raise
        except Exception:
            future.tag = None  # it keeps the error, whose traceback keeps this frame
            raise
        return future

    def submit(self) -> None:
        """Give the batcher what calls have submitted so far."""
        submitted, self._submitted = self._submitted, []
        for future, previous in submitted:
            if future.tag.done():  # the task was cancelled
                continue
            try:
                self._batcher.submit(future, previous)
            except Exception as error:
                future.tag.set_exception(error)

    def finished(self, futures: Sequence[Future]) -> None:
        # In a closed loop, nobody waits.
        loop = self._loop()
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_resolve, loop, futures)

    def batch(self, tokens: int, sequences: int) -> None:
        self._on_batch(tokens, sequences)


def _resolve(loop: asyncio.AbstractEventLoop, futures: Sequence[Future]) -> None:
    """Let the calls of a batch go on, a few in each turn of the loop."""
    if len(futures) > MOST_RESUMED:
        loop.call_soon(_resolve, loop, futures[MOST_RESUMED:])
    for future in futures[:MOST_RESUMED]:
        waiter: asyncio.Future[None] = future.tag
        if waiter.done():
            continue
        error = future.take_error()
        if error is not None:
            waiter.set_exception(error)
        else:
            waiter.set_result(None)
