"""A batcher that many threads use at once, in random ways, against what each should get."""

import threading
import time
from collections import Counter
from random import Random

import pytest

from fbg.errors import ClosedError, OverloadedError
from fbg.runtime.batcher import Batcher, Caller, Future
from fbg.runtime.steps import compute
from helpers.callers import call_together
from helpers.recording_engine import RecordingEngine, request

pytestmark = pytest.mark.races

LONGEST, MOST_TOKENS, REQUESTS = 60, 100, 60


class Slow(RecordingEngine):
    """Takes a random time, and fails sometimes, always for the same tokens."""

    def __init__(self, rng):
        super().__init__()
        self._rng = rng

    def compute(self, ids, *rest):
        time.sleep(self._rng.random() * 0.001)
        return super().compute(ids, *rest)


class Told(Caller):
    """Counts how often each future was done. Each of its requests waits for an event of its own."""

    def __init__(self):
        self.times = Counter()
        self.lock = threading.Lock()

    def finished(self, futures):
        with self.lock:
            self.times.update(futures)
        for future in futures:
            future.tag.set()


def sequences(rng):
    few = rng.random() < 0.7
    wrong = rng.random()
    drawn = [
        [rng.randrange(90)] * rng.randrange(LONGEST)
        for _ in range(rng.randrange(4) if few else rng.randrange(30))
    ]
    if wrong < 0.06 and drawn:
        drawn[-1] = [98 if wrong < 0.03 else 99]  # fails in the engine; refused
    return drawn


class Client:
    """One thread's requests: in one or several parts, some of which it cancels."""

    def __init__(self, batcher, engines, seed):
        self.batcher, self.engines, self.rng = batcher, engines, Random(seed)
        self.caller = Told()
        self.futures = []
        self.cancelled = []
        self.outcomes = Counter()
        self.begun = 0

    def request(self):
        self.begun += 1
        parts = [sequences(self.rng) for _ in range(1 if self.rng.random() < 0.7 else 3)]
        engine, previous = self.rng.choice(self.engines), None
        counts = [len(part) for part in parts]
        try:
            for n, part in enumerate(parts):
                place = {"before": sum(counts[:n]), "after": sum(counts[n + 1 :])}
                asked = request(engine, *part, **place)
                future = Future(asked, self.caller, threading.Event())
                self.batcher.submit(future, previous)
                previous = future
                self.futures.append(future)
                if self.rng.random() < 0.1:
                    time.sleep(self.rng.random() * 0.002)
                    self.batcher.cancel(future)
                    self.cancelled.append(future)
                    return
                if self.rng.random() < 0.8 or len(parts) > 1:
                    assert future.tag.wait(20)
                    if future.error is not None:
                        return
        except (OverloadedError, ClosedError, ValueError) as error:
            self.outcomes[type(error).__name__] += 1
        finally:
            if previous is not None:
                self.batcher.expect_no_more(previous)

    def check(self):
        """After everything has ended."""
        for future in self.futures:
            if future in self.cancelled:
                assert self.caller.times[future] <= 1
                continue
            assert self.caller.times[future] == 1
            given = [ids.tolist() for ids in future.request.ids]
            if future.error is None:
                assert [rows[:, 0].tolist() for rows in future.results] == given
                self.outcomes["done"] += 1
            else:  # its own, or that of one whose batch it shared
                assert isinstance(future.error, RuntimeError)
                self.outcomes["failed"] += 1


@pytest.mark.parametrize("seed", range(6))
def test_every_request_gets_its_rows_once_whatever_others_do(seed):
    rng = Random(seed)
    batcher = Batcher(
        rng.randrange(1, 4),
        max_batch_tokens=MOST_TOKENS,
        max_waiting=None if seed % 2 else 60,
    )
    engines = [Slow(Random(seed + n)) for n in range(2)]
    clients = [Client(batcher, engines, 100 * seed + n) for n in range(5)]
    closing = rng.randrange(100, REQUESTS * len(clients))

    def use(n):
        if n == len(clients):
            while sum(client.begun for client in clients) < closing:
                time.sleep(0.0005)
            batcher.close()
            return
        for _ in range(REQUESTS):
            clients[n].request()

    call_together(len(clients) + 1, use)
    batcher.close()
    outcomes = Counter()
    for client in clients:
        client.check()
        outcomes += client.outcomes
    assert outcomes["done"] > 10
    assert batcher.waiting == batcher._expected == 0 and not batcher._open
    assert batcher.failure is None
    for each in (batcher._interactive, batcher._bulk):
        assert each.tokens == each.sequences == each.running == 0
    for engine in engines:
        for lengths in engine.lengths:
            assert len(lengths) == 1 or sum(lengths) <= MOST_TOKENS


def test_calls_side_by_side_share_nothing():
    engine = Slow(Random(0))

    def call(n):
        rng = Random(n)
        for _ in range(10):
            given = [[rng.randrange(90)] * rng.randrange(LONGEST) for _ in range(rng.randrange(40))]
            counts = []
            asked = request(engine, *given, batch_size=1 + rng.randrange(5))
            received = compute(asked, 1 + n % 3, counts.append)
            assert [rows[:, 0].tolist() for rows in received] == given
            assert sum(counts) == len(given)

    call_together(6, call)
