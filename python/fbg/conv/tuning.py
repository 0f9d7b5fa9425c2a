"""Timing the algorithms of one convolution."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from fbg.conv.tuned import Choice, Trial

__all__ = ["GAIN", "measure"]

GAIN = 1.02  # by which an algorithm must be faster than the cost model's
SAMPLE = 2e-4  # seconds of a sample
ROUNDS = (5, 50)
HOPELESS = 4.0  # times the least modelled cost, beyond which nothing is timed

Call = Callable[[], object]


def measure(trial: Trial, budget: float) -> tuple[Choice, dict[str, float]]:
    """Return the algorithm to use, and the median seconds of those that were timed.

    budget: seconds for the measurement. Algorithms whose bits differ are timed, but never chosen.
    """
    least = trial.algorithms[0][1]
    likely = [(name, same) for name, cost, same in trial.algorithms if cost <= HOPELESS * least]
    calls = {name: trial.prepare(name) for name, _ in likely}
    default = likely[0][0]
    seconds = _race(calls, budget)
    best = min((name for name, same in likely if same), key=seconds.__getitem__)
    choice = Choice(default, seconds[default], seconds[default])
    if seconds[default] > GAIN * seconds[best]:
        # The least of several noisy times is too good: it has to win a second time, alone.
        again = _race({name: calls[name] for name in (default, best)}, budget)
        if again[default] > GAIN * again[best]:
            choice = Choice(best, again[best], again[default])
    return choice, seconds


def _race(calls: dict[str, Call], budget: float) -> dict[str, float]:
    """Time all in turn, round after round; return the median seconds of a call."""
    repeats = {}
    for name, call in calls.items():
        call()  # once without a clock: caches
        taken = _seconds(call, 1)
        repeats[name] = max(1, min(1000, int(SAMPLE / max(taken, 1e-7))))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + budget
    least, most = ROUNDS
    for number in range(most):
        if number >= least and time.perf_counter() > end:
            break
        for name, call in calls.items():
            samples[name].append(_seconds(call, repeats[name]) / repeats[name])
    return {name: statistics.median(values) for name, values in samples.items()}


def _seconds(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - start
