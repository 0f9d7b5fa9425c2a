"""What the scripts that break kernels have in common: trying mutants and counting kills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Result(Generic[T]):
    """How many mutants were killed, by what, and those that were not."""

    survivors: list[T] = field(default_factory=list)
    killers: Counter[str] = field(default_factory=Counter)

    @property
    def killed(self) -> int:
        return self.killers.total()

    @property
    def tried(self) -> int:
        return self.killed + len(self.survivors)

    def __str__(self) -> str:
        share = 100 * self.killed / self.tried if self.tried else 0
        return f"{self.killed} of {self.tried} killed ({share:.1f} %)"


def try_all(
    mutants: Iterable[T],
    killer: Callable[[T], str | None],
    name: Callable[[T], str],
    only_survivors: bool = False,
) -> Result[T]:
    """Try every mutant. `killer` tells what noticed it, or None; a line is printed for each."""
    result: Result[T] = Result()
    for mutant in mutants:
        killed_by = killer(mutant)
        if killed_by is None:
            result.survivors.append(mutant)
        else:
            result.killers[killed_by] += 1
        if killed_by is None or not only_survivors:
            verdict = f"killed by {killed_by}" if killed_by else "SURVIVED"
            print(f"{name(mutant)}: {verdict}", flush=True)
    return result
