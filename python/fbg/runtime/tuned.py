"""Which blocking each product of a plan runs with: what tuning found, by kind and token count.

A kind is (dtype, K, N) of a linear layer. What is known comes from the tuning file, read when the
first plan is made, and from `fbg.tune`; where nothing is known, the cost model chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from fbg.runtime import tuning_file
from fbg.runtime.tuning_file import Blocking, Key, Measured

__all__ = ["Kind", "Table", "forced", "table"]

Kind = tuple[str, int, int]
ANY_NUMBER = 1 << 40


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
            self._known = tuning_file.read()
        return self._known

    def add(self, found: Mapping[Key, Measured]) -> None:
        """Take measurements in and write them to the file."""
        self._known = {**self.known(), **found}
        self.generation += 1
        tuning_file.merge(found)

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
