"""Which blocking each product of a plan runs with: what tuning found, by kind and token count.

A kind is (dtype, K, N) of a linear layer. What is known comes from the tuning file, read when the
first plan is made, and from `fbg.tune`; where nothing is known, the cost model chooses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from fbg import _fbg, tuning_file

__all__ = ["Blocking", "Key", "Kind", "Measured", "Table", "forced", "merge", "read", "table"]

Kind = tuple[str, int, int]
ANY_NUMBER = 1 << 40
LIMITS = (32, 8, 1 << 16, _fbg.MAX_THREADS)  # of the members of a blocking


class Blocking(NamedTuple):
    """How a product is cut; 0 leaves it to the cost model. No choice changes a bit of a result.

    rows: of the tallest tile. panels: of 32 columns, that the widest tile spans. a_kib: of A that
    a thread works on at a time. row_parts: threads side by side along the rows.
    """

    rows: int = 0
    panels: int = 0
    a_kib: int = 0
    row_parts: int = 0

    def __str__(self) -> str:
        chosen = [f"{name}={value}" for name, value in self._asdict().items() if value]
        return " ".join(chosen) or "cost model"


class Key(NamedTuple):
    """What a measurement is of: a product of `tokens` rows, and where it ran."""

    isa: str
    threads: int
    dtype: str
    k: int
    n: int
    tokens: int


class Measured(NamedTuple):
    """The blocking to use, its median seconds, and those of the cost model's."""

    blocking: Blocking
    seconds: float
    default_seconds: float


def read() -> dict[Key, Measured]:
    """Return the measurements of products in the tuning file."""
    return dict(tuning_file.read(_entry, convs=False))


def merge(found: Mapping[Key, Measured]) -> None:
    """Add measurements of products to the tuning file."""
    tuning_file.merge(
        {
            " ".join(map(str, key)): {
                "blocking": list(value.blocking),
                "seconds": value.seconds,
                "default": value.default_seconds,
            }
            for key, value in found.items()
        }
    )


def _entry(name: str, value: Mapping[str, Any]) -> tuple[Key, Measured] | None:
    """Return an entry of the file, or None if any part of it is not what it should be."""
    words = name.split(" ")
    if len(words) != len(Key._fields):
        return None
    isa, dtype, numbers = words[0], words[2], [words[1], *words[3:]]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", number) for number in numbers):
        return None
    threads, k, n, tokens = map(int, numbers)
    members, seconds = value.get("blocking"), tuning_file.read_seconds(value)
    if not isinstance(members, list) or len(members) != len(LIMITS) or seconds is None:
        return None
    if not all(type(m) is int and 0 <= m <= most for m, most in zip(members, LIMITS, strict=True)):
        return None
    return Key(isa, threads, dtype, k, n, tokens), Measured(Blocking(*members), *seconds)


class Table:
    """The measurements of this process and of those before it.

    generation: counts changes; plans of an older one are out of date.
    forced: what every product runs with, whatever was measured.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.forced: Blocking | None = None
        self._known: dict[Key, Measured] | None = None

    def known(self) -> Mapping[Key, Measured]:
        """Return all measurements."""
        if self._known is None:
            self._known = read()
        return self._known

    def add(self, found: Mapping[Key, Measured]) -> None:
        """Take measurements in and write them to the file."""
        self._known = {**self.known(), **found}
        self.generation += 1
        merge(found)

    def forget(self) -> None:
        """Read the file again when next asked."""
        self._known = None
        self.generation += 1

    def for_plan(
        self, kinds: Sequence[Kind], threads: int, isa: str
    ) -> list[tuple[Kind, int, int, Blocking]]:
        """Return (kind, first, last, blocking), ranges of tokens as `_fbg.Plan` takes them."""
        if self.forced is not None:
            return [(kind, 1, ANY_NUMBER, self.forced) for kind in kinds]
        ranges = []
        for kind in kinds:
            blockings = {
                key.tokens: measured.blocking
                for key, measured in self.known().items()
                if key[:5] == (isa, threads, *kind)
            }
            sizes = sorted(blockings)
            for n, tokens in enumerate(sizes):
                # What is best for one size is no guide to a quarter of it, nor to four times.
                first = max(sizes[n - 1] if n else 0, tokens // 4) + 1
                last = tokens if n + 1 < len(sizes) else 4 * tokens
                ranges.append((kind, first, last, blockings[tokens]))
        return ranges


table = Table()


@contextmanager
def forced(blocking: Blocking) -> Iterator[None]:
    """Run every product of every plan with one blocking: for tests and benchmarks."""
    before = table.forced
    table.forced = blocking
    table.generation += 1
    try:
        yield
    finally:
        table.forced = before
        table.generation += 1
