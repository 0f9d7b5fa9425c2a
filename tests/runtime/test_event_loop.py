"""Calls in threads: what waits for one lives no longer than the task that has asked for it."""

import asyncio
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from fbg.runtime.event_loop import in_thread


class Large:
    """What is given to a call."""


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield made


async def test_results_and_errors_come_back(pool):
    assert await in_thread(pool, int, "5") == 5
    with pytest.raises(ValueError, match="invalid literal"):
        await in_thread(pool, int, "a")


async def test_an_error_keeps_nothing(pool):
    def fail(given):
        raise ValueError

    async def ask():
        given = Large()
        with pytest.raises(ValueError):
            await in_thread(pool, fail, given)
        return weakref.ref(given)

    gc.disable()
    try:
        kept = await ask()
        await asyncio.sleep(0.05)
        assert kept() is None
    finally:
        gc.enable()


async def test_a_task_that_is_cancelled_gives_up_what_waits(pool):
    go, called = threading.Event(), []
    busy = asyncio.ensure_future(in_thread(pool, go.wait))
    given = Large()
    kept = weakref.ref(given)
    waiting = asyncio.ensure_future(in_thread(pool, called.append, given))
    del given
    await asyncio.sleep(0.05)
    assert kept() is not None
    waiting.cancel()
    await asyncio.wait([waiting])
    del waiting
    await asyncio.sleep(0)
    gc.collect()
    assert kept() is None, "the pool keeps what nobody waits for"
    go.set()
    assert await busy and not called


async def test_a_task_that_is_cancelled_ends_with_its_thread(pool):
    """Until then, it has what it was given."""
    go, begun = threading.Event(), threading.Event()

    def work():
        begun.set()
        go.wait()

    task = asyncio.ensure_future(in_thread(pool, work))
    while not begun.is_set():
        await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task], timeout=0.1)
    assert not task.done()
    go.set()
    await asyncio.wait([task], timeout=5)
    assert task.cancelled()
