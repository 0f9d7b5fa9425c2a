"""The number of lanes that is fastest: what is measured, and what is chosen."""

from __future__ import annotations

import threading

import pytest

from fbg.runtime import batcher as measured
from fbg.runtime.batcher import Lanes, choose_lanes, measure


class SlowEngine:
    """An engine that takes 10 ms for a batch. teams: of all batches. most: at the same time."""

    def __init__(self, error=None):
        self.teams = set()
        self.most = self._inside = 0
        self._error, self._lock = error, threading.Lock()

    def compute(self, ids, types, team, where):
        assert len(ids) == len(types) and sum(map(len, ids)) == 512
        if self._error is not None:
            raise self._error
        with self._lock:
            self.teams.add(team)
            self._inside += 1
            self.most = max(self.most, self._inside)
        threading.Event().wait(0.01)
        with self._lock:
            self._inside -= 1


@pytest.mark.parametrize(
    ("rates", "chosen"),
    [
        ({1: 100, 2: 105, 4: 109}, 1),  # no clear gain
        ({1: 100, 2: 120, 4: 125}, 2),
        ({1: 100, 2: 109, 4: 121}, 4),
        ({1: 100, 2: 90, 4: 50}, 1),
    ],
)
def test_more_lanes_must_be_clearly_faster(rates, chosen, monkeypatch):
    speeds = iter([1, 3, 0.5])  # of the machine, in each round

    def rate(engine, lanes, batches):
        if lanes.count == 1:
            rate.speed = next(speeds)
        return rate.speed * rates[lanes.count]

    monkeypatch.setattr(measured, "measure", rate)
    found = choose_lanes(None, 4, pinned=False)
    assert found == {"lanes": chosen, "batches_per_s": rates}


@pytest.mark.parametrize(("threads", "counts"), [(1, [1]), (6, [1, 2, 3, 6]), (7, [1, 7])])
def test_all_threads_are_in_lanes(threads, counts):
    engine = SlowEngine()
    assert list(choose_lanes(engine, threads, pinned=False)["batches_per_s"]) == counts
    assert engine.teams == set(counts) and engine.most == threads


def test_lanes_are_measured_all_at_once():
    engine = SlowEngine()
    assert 150 < measure(engine, Lanes(4, 8), 40) <= 400
    assert engine.most == 4 and engine.teams == {2}


def test_a_failure_of_a_measured_batch_is_raised():
    with pytest.raises(RuntimeError, match="the engine fails"):
        measure(SlowEngine(RuntimeError("the engine fails")), Lanes(2, 2), 4)
