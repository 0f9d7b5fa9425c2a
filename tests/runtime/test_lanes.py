"""Lanes: how many batches run at once, on which CPUs, and with how many threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from fbg.runtime.batcher import Batcher, Lanes
from helpers.recording_engine import RecordingCaller, RecordingEngine, request, submit

CPUS = sorted(os.sched_getaffinity(0))
several = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


@pytest.mark.parametrize(("count", "threads", "team"), [(1, 4, 4), (2, 4, 2), (3, 8, 3), (4, 4, 1)])
def test_every_lane_computes_a_batch_at_the_same_time(count, threads, team):
    batcher, engine, caller = Batcher(threads), RecordingEngine(), RecordingCaller()
    batcher.use_lanes(Lanes(count, threads))
    engine.gate.clear()
    for n in range(count):
        submit(batcher, request(engine, [n]), caller)
        assert engine.running.acquire(timeout=20)
    submit(batcher, request(engine, [70]), caller)
    submit(batcher, request(engine, *[[50] * 300] * 2 * count), caller)
    for _ in range(count):  # bulk work has threads of its own in every lane
        assert engine.running.acquire(timeout=20)
    assert not engine.running.acquire(timeout=0.05)
    assert batcher.waiting == 1 + count
    engine.gate.set()
    caller.wait(count + 2)
    batcher.close()
    assert set(engine.teams) == {team}


def masks_of(lanes):
    """The affinity mask of a thread in each lane."""

    def mask(number):
        lanes.enter(number)
        return os.sched_getaffinity(0)

    found = []
    for number in range(2 * lanes.count):
        with ThreadPoolExecutor(1) as pool:
            found.append(pool.submit(mask, number).result())
    return found


@several
def test_only_pinned_lanes_have_cpus_of_their_own():
    assert masks_of(Lanes(2, 2)) == [set(CPUS)] * 4
    first, second, *again = masks_of(Lanes(2, 2, pinned=True))
    assert first | second == set(CPUS) and not first & second
    assert again == [first, second]
    assert os.sched_getaffinity(0) == set(CPUS)


def test_a_lane_without_its_cpus_computes_elsewhere(monkeypatch):
    lanes = Lanes(1, 1, pinned=True)
    lanes._places = [{max(CPUS) + 5000}]
    assert masks_of(lanes) == [set(CPUS)] * 2
