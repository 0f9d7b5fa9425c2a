"""The interpreter's lock is free while a model computes: other threads, asyncio too, go on.

A thread counts while the call under test runs. If the call held the lock, the count could only move
where it is taken and given back: by 1 or 2. That some call of several lets it move further is what
is asserted, whatever else the machine has to do.
"""

import asyncio
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

pytestmark = pytest.mark.alone

WIDE = tiny_bert.Geometry(384, 3, 12, 1536, vocab_size=99, max_position_embeddings=512)
ENOUGH, TRIES = 6, 20


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fbg.load(tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), WIDE))


@contextmanager
def ticking():
    """Run a thread that counts milliseconds, if it is let; yields how to read its count."""
    count, stop = 0, threading.Event()

    def tick():
        nonlocal count
        while not stop.is_set():
            time.sleep(0.001)
            count += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield lambda: count
    finally:
        stop.set()
        thread.join()


def ticks_of(call):
    """Yield how many ticks fell into each of several calls."""
    with ticking() as count:
        for _ in range(TRIES):
            before = count()
            call()
            yield count() - before


def lets_others_go_on(call):
    return any(ticks >= ENOUGH for ticks in ticks_of(call))


def test_what_holds_the_lock_is_noticed():
    big = 3**200_000
    assert min(ticks_of(lambda: big * big)) < ENOUGH  # the product of two integers lets nobody in


def test_a_run_of_the_plan_lets_threads_go_on(model):
    ids = np.full((4, 512), 5)
    assert lets_others_go_on(lambda: model.forward(ids))


def test_tokenizing_lets_threads_go_on(model):
    text = "word " * 30_000
    assert lets_others_go_on(lambda: model.token_counts([text]))


def test_asyncio_goes_on_while_a_thread_encodes(model):
    texts = ["the quick brown fox " * (n % 9) for n in range(40)]

    async def beats_during_encode():
        task = asyncio.create_task(asyncio.to_thread(model.encode, texts))
        beats = 0
        while not task.done():
            await asyncio.sleep(0.002)
            beats += 1
        await task
        return beats

    assert any(asyncio.run(beats_during_encode()) >= ENOUGH for _ in range(TRIES))
