"""Which algorithm each convolution runs with: what tuning found, by what is convolved.

What is known comes from the tuning file, read when the first convolution is prepared, and from
`fbg.tune`. A measured algorithm replaces the one that the cost model chooses only if both give the
same bits, so that tuning changes no result. As the cost model, a measurement depends neither on the
batch nor on the number of threads.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fbg import _fbg, tuning_file

__all__ = ["Choice", "Choices", "Trial", "choices", "key_of", "trial_name"]


PROMISES = ("unit", "centered", "bounded")  # that a stage makes, in the order of its key


class Choice(NamedTuple):
    """The algorithm to use, its median seconds, and those of the cost model's."""

    algorithm: str
    seconds: float
    default_seconds: float


@dataclass(frozen=True)
class Trial:
    """A convolution that can be timed.

    key: what is known about it is found under this name.
    algorithms: (name, modelled cost, whether its bits are those of the first), cheapest first.
    prepare: returns a function that runs it once with the named algorithm on one thread.
    """

    key: str
    algorithms: Sequence[tuple[str, float, bool]]
    prepare: Callable[[str], Callable[[], object]]

    @property
    def label(self) -> str:
        """What is convolved, for a reader."""
        return trial_name(self.key)


def key_of(
    weights: Any,
    geometry: object,
    spatial: Sequence[int],
    stages: Sequence[Any],
    source: str,
    features: int,
) -> str:
    """Return the name of a convolution: all that the time of a run depends on.

    weights: native ones. spatial: of x, three axes. stages: native ones. features: of the CPU that
    kernels use.
    """
    isa = _fbg.best_isa(features)
    size = "x".join(map(str, spatial))
    kinds = ",".join(
        "-".join([f"{kind}-{wanted}", *itertools.compress(PROMISES, promise)])
        for kind, wanted, promise in (stage.key for stage in stages)
    )
    kind = type(weights).__name__
    return f"{tuning_file.CONV}{isa} {kind} {source} {size} {kinds or 'sums'} {geometry}"


def trial_name(key: str) -> str:
    """Return the readable part of a key: the type of the weights, the image, the geometry."""
    _, _, kind, _, size, _, *geometry = key.split(" ")
    return f"{kind.removeprefix('Conv').lower()} {size} {' '.join(geometry)}"


class Choices:
    """The measurements of this process and of those before it.

    generation: counts changes; what was prepared with an older one is out of date.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._known: dict[str, Choice] | None = None

    def known(self) -> Mapping[str, Choice]:
        """Return all measurements, by key."""
        if self._known is None:
            self._known = dict(tuning_file.read(_entry, convs=True))
        return self._known

    def algorithm(self, key: str) -> str:
        """Return the name of the algorithm that was measured to be fastest, or ""."""
        choice = self.known().get(key)
        return "" if choice is None else choice.algorithm

    def add(self, found: Mapping[str, Choice]) -> None:
        """Take measurements in and write them to the file."""
        self._known = {**self.known(), **found}
        self.generation += 1
        tuning_file.merge(
            {
                key: {
                    "algorithm": choice.algorithm,
                    "seconds": choice.seconds,
                    "default": choice.default_seconds,
                }
                for key, choice in found.items()
            }
        )

    def forget(self) -> None:
        """Read the file again when next asked."""
        self._known = None
        self.generation += 1


def _entry(name: str, value: Mapping[str, Any]) -> tuple[str, Choice] | None:
    """Return an entry of the file, or None if any part of it is not what it should be."""
    algorithm, seconds = value.get("algorithm"), tuning_file.read_seconds(value)
    if not isinstance(algorithm, str) or not re.fullmatch("[a-z0-9]{1,32}", algorithm):
        return None
    if seconds is None or len(name.split(" ")) < 7:
        return None
    return name, Choice(algorithm, *seconds)


choices = Choices()
