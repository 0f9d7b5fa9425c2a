"""Timing the ways to compute a product, a convolution or a network, and choosing the fastest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from fbg import _fbg
from fbg.errors import BusyError
from fbg.tuning.store import Blocking, Measured, Moved, conv_label, store

GAIN = 1.02  # by which a choice must be faster than the cost model's
PRODUCT_BUDGET = 0.25  # seconds for the blockings of one product
CONV_BUDGET = 0.1  # seconds for the algorithms of one convolution
SAMPLE = 2e-4  # seconds of a sample
ROUNDS = (5, 50)
HOPELESS = 4.0  # times the least modelled cost, beyond which nothing is timed

Call = Callable[[], object]
Choice = TypeVar("Choice", Blocking, str, Moved)


class Trial(Protocol[Choice]):
    """An object that can be timed; key: the name of its results."""

    @property
    def key(self) -> str: ...

    def candidates(self) -> list[tuple[Choice, bool]]:
        """Return each choice, the cost model's first, and whether it gives the same bits."""

    def race(self, choices: Sequence[Choice]) -> dict[Choice, float]:
        """Return the median seconds of each choice."""


def measure(
    trials: Iterable[Trial[Choice]], advance: Callable[[int], object], force: bool
) -> dict[str, dict[Choice, float]]:
    """Measure and store unknown results, or with `force` all.

    advance: is called with 1 after each trial. Returns, by key, the median seconds of all choices
    that were timed.
    """
    found, seconds = {}, {}
    try:
        for trial in trials:
            if force or trial.key not in store.known():
                found[trial.key], seconds[trial.key] = _fastest(trial)
            advance(1)
    finally:
        if found:
            store.add(found)
    return seconds


def _fastest(trial: Trial[Choice]) -> tuple[Measured, dict[Choice, float]]:
    """Return the choice to use, and the median seconds of all choices timed.

    Choices whose bits differ are timed, but never chosen.
    """
    candidates = trial.candidates()
    default = candidates[0][0]
    seconds = trial.race([choice for choice, _ in candidates])
    best = min((choice for choice, same in candidates if same), key=seconds.__getitem__)
    if seconds[default] > GAIN * seconds[best]:
        # The least of several noisy times is too good: it has to win a second time, alone.
        again = trial.race([default, best])
        if again[default] > GAIN * again[best]:
            return Measured(best, again[best], again[default]), seconds
    return Measured(default, seconds[default], seconds[default]), seconds


@dataclass(frozen=True)
class ProductTrial:
    """The product of `tokens` rows with weights that the tuner times."""

    key: str
    tuner: Callable[[], _fbg.Tuner]
    tokens: int

    def candidates(self) -> list[tuple[Blocking, bool]]:
        return [(Blocking(*members), True) for members in self.tuner().candidates(self.tokens)]

    def race(self, choices: Sequence[Blocking]) -> dict[Blocking, float]:
        tuner = self.tuner()
        try:
            seconds = tuner.seconds(self.tokens, choices, PRODUCT_BUDGET)
        except RuntimeError as error:
            raise BusyError(str(error).removeprefix("Tuner: ")) from None
        return dict(zip(choices, seconds, strict=True))


@dataclass(frozen=True)
class ConvTrial:
    """A convolution that can be timed.

    algorithms: (name, modelled cost, whether its bits equal the first's), cheapest first.
    prepare: returns a function that runs it once with the named algorithm on one thread.
    """

    key: str
    algorithms: Sequence[tuple[str, float, bool]]
    prepare: Callable[[str], Call]

    @property
    def label(self) -> str:
        """A description of the convolution for readers."""
        return conv_label(self.key)

    def candidates(self) -> list[tuple[str, bool]]:
        most = HOPELESS * self.algorithms[0][1]
        return [(name, same) for name, cost, same in self.algorithms if cost <= most]

    def race(self, choices: Sequence[str]) -> dict[str, float]:
        """Time all in turn, round after round."""
        return race({name: self.prepare(name) for name in choices}, CONV_BUDGET)


def race(calls: Mapping[Choice, Call], budget: float) -> dict[Choice, float]:
    """Return the median seconds of each call: they take turns until `budget` seconds are over."""
    repeats = {}
    for name, call in calls.items():
        call()  # once without a clock: caches
        repeats[name] = max(1, min(1000, int(SAMPLE / max(_seconds(call, 1), 1e-7))))
    samples: dict[Choice, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + budget
    least, most = ROUNDS
    for number in range(most):
        if number >= least and time.perf_counter() > end:
            break
        for name, call in calls.items():
            samples[name].append(_seconds(call, repeats[name]) / repeats[name])
    return {name: float(np.median(values)) for name, values in samples.items()}


def _seconds(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - start
