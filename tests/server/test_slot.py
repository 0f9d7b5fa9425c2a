"""Slot: what is loaded by its first user, and unloaded some time after its last."""

import asyncio
import gc
import threading
import weakref

import pytest

from fbg.server.errors import RequestError
from fbg.server.models.slot import Slot

SECONDS = 0.05


class Value:
    """Something that takes memory."""


class Loads:
    """The loading and closing of values. gate: holds loads up until it is set."""

    def __init__(self):
        self.loaded = 0
        self.closed = 0
        self.error = None
        self.gate = threading.Event()
        self.gate.set()
        self.changes = []
        self.last = None

    def load(self):
        assert threading.current_thread() is not threading.main_thread()
        self.gate.wait(10)
        if self.error is not None:
            raise self.error
        self.loaded += 1
        value = Value()
        self.last = weakref.ref(value)
        return value

    def close(self, value):
        self.closed += 1

    def slot(self, seconds=SECONDS):
        return Slot("m", None, self.load, self.close, seconds, self.changes.append)


async def until(closed, loads):
    for _ in range(200):
        if loads.closed == closed and loads.last is not None and loads.last() is None:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{loads.closed} values were closed")


async def test_a_value_is_loaded_once_and_dropped_after_its_last_user():
    loads = Loads()
    slot = loads.slot()
    first, *others = await asyncio.gather(*(slot.take() for _ in range(5)))
    assert all(other is first for other in others) and loads.loaded == 1
    for _ in range(4):
        slot.give_back()
    await asyncio.sleep(4 * SECONDS)
    assert slot.value is first and loads.closed == 0
    del first, others
    slot.give_back()
    await until(1, loads)
    assert slot.value is None and loads.changes == [True, False]
    await slot.take()
    assert loads.loaded == 2


async def test_the_time_without_users_begins_with_each_use():
    loads = Loads()
    slot = loads.slot(0.3)
    for _ in range(20):
        await slot.take()
        slot.give_back()
        await asyncio.sleep(0.03)
    assert loads.loaded == 1
    await until(1, loads)


async def test_users_that_leave_while_it_is_loaded_do_not_end_it():
    loads = Loads()
    loads.gate.clear()
    slot = loads.slot()
    waiting = [asyncio.create_task(slot.take()) for _ in range(3)]
    await asyncio.sleep(0.02)
    waiting[0].cancel()
    await asyncio.sleep(0.02)
    loads.gate.set()
    assert await waiting[1] is await waiting[2] and loads.loaded == 1
    for _ in range(2):
        slot.give_back()
    del waiting
    await until(1, loads)


async def test_a_value_that_nobody_waits_for_any_more_is_dropped():
    loads = Loads()
    loads.gate.clear()
    slot = loads.slot()
    task = asyncio.create_task(slot.take())
    await asyncio.sleep(0.02)
    task.cancel()
    loads.gate.set()
    await until(1, loads)
    assert loads.loaded == 1


async def test_all_who_wait_hear_of_a_failure_and_the_next_tries_again():
    loads = Loads()
    loads.error = OSError("a file with a secret name")
    slot = loads.slot()
    results = await asyncio.gather(*(slot.take() for _ in range(3)), return_exceptions=True)
    for result in results:
        assert isinstance(result, RequestError) and result.fault.status == 503
        assert "'m' could not be loaded" in result.message and "secret" not in result.message
    loads.error = None
    assert isinstance(await slot.take(), Value)
    assert loads.changes == [True]


async def test_a_retired_slot_is_emptied_when_its_last_user_leaves():
    loads = Loads()
    slot = loads.slot(None)
    await slot.take()
    slot.retire()
    await asyncio.sleep(0.05)
    assert loads.closed == 0
    slot.give_back()
    await until(1, loads)
    idle = loads.slot(3600)
    await idle.take()
    idle.give_back()
    idle.retire()
    await until(2, loads)


async def test_a_load_waits_for_the_unloading_before_it():
    loads, ended = Loads(), threading.Event()
    slot = Slot("m", Value(), loads.load, lambda value: ended.wait(10) and None, SECONDS)
    await slot.take()
    slot.give_back()
    await asyncio.sleep(3 * SECONDS)
    assert slot.value is None
    task = asyncio.create_task(slot.take())
    await asyncio.sleep(0.05)
    assert loads.loaded == 0
    ended.set()
    await task
    assert loads.loaded == 1


@pytest.mark.parametrize("error", [RuntimeError("broken"), MemoryError()])
async def test_what_cannot_be_closed_does_not_stay(error):
    def close(value):
        raise error

    loads = Loads()
    slot = Slot("m", None, loads.load, close, SECONDS)
    await slot.take()
    slot.give_back()
    await asyncio.sleep(4 * SECONDS)
    gc.collect()
    await slot.take()
    assert loads.loaded == 2
