"""Compares fbg with other implementations on random cases, each a function of its number.

    python -m differential.driver KIND|all [--cases N] [--seconds T] [--seed S]      (in tests/)

The cases run in a process of their own. A finding is a result that differs, an exception that the
kind does not expect, a case that takes longer than its limit, or the end of the process. `--first N
--cases 1` with the seed repeats the case of a finding.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from differential import kinds
from helpers.supervised import FOUND, WELL, supervise

__all__ = ["KINDS", "Different", "Kind", "find_kind", "finding", "run_cases"]

KINDS = tuple(sorted(module.name for module in pkgutil.iter_modules(kinds.__path__)))
MOST_FINDINGS = 20  # after which a run ends


class Different(Exception):
    """A result of fbg that is not that of the other implementation; its text has the case."""


@dataclass(frozen=True)
class Kind:
    """name: of the module with it. run: computes a case that it draws.

    run returns a word for how the case ended, such as "same" or "refused by both", by which cases
    are counted, and raises Different. cases: how many a run of all tests has. seconds: what a case
    may take, waiting included. needs: a package that the tests themselves do not install.
    """

    name: str
    run: Callable[[Random], str]
    cases: int = 100
    seconds: float = 20.0
    needs: str = "fbg"


def find_kind(name: str) -> Kind:
    """Return the kind of that name; its module is differential.kinds.NAME."""
    kind: Kind = importlib.import_module(f"differential.kinds.{name}").KIND
    return kind


def finding(kind: Kind, seed: int, number: int, seen: Counter[str] | None = None) -> str | None:
    """Run one case. Return what is wrong, if anything is; count in `seen` how it ended."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ended = kind.run(Random(f"{kind.name} {seed} {number}"))
    except Different as error:
        return f"{kind.name} {seed} {number}: {error}"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        return f"{kind.name} {seed} {number}: {type(error).__name__} at {place}: {error}"
    if seen is not None:
        seen[ended] += 1
    return None


def run_cases(kind: Kind, seed: int, count: int) -> list[str]:
    """Run the first `count` cases in this process and return what is wrong."""
    found = (finding(kind, seed, number) for number in range(count))
    return [text for text in found if text is not None]


def _work(name: str, seed: int, numbers: range, until: float, shared: object) -> None:
    """The process that runs the cases. shared: the number of the case, and when it began."""
    kind, seen, findings = find_kind(name), Counter[str](), 0
    for number in numbers:
        if time.monotonic() > until:
            break
        shared[0], shared[1] = number, int(time.monotonic())  # type: ignore[index]
        text = finding(kind, seed, number, seen)
        if text is not None:
            print(f"FINDING {text}", flush=True)
            findings += 1
            if findings == MOST_FINDINGS:
                break
        shared[0] = number + 1  # type: ignore[index]
    print(f"  {dict(seen.most_common())}", flush=True)
    sys.exit(FOUND if findings else WELL)


def compare(name: str, seed: int, first: int, cases: int, seconds: float) -> bool:
    """Run cases in another process. True if all agree."""
    return supervise(
        f"{name} {seed}",
        _work,
        (name, seed),
        first=first,
        end=first + cases,
        seconds=seconds,
        stuck=find_kind(name).seconds,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=(*KINDS, "all"))
    parser.add_argument("--cases", type=int, default=1000, help="of each kind")
    parser.add_argument("--seconds", type=float, default=1e9, help="of each kind, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    given = parser.parse_args()
    names = KINDS if given.kind == "all" else (given.kind,)
    options = (given.seed, given.first, given.cases, given.seconds)
    agree = [compare(name, *options) for name in names]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    # As the module that kinds import, so that their `Different` is the one that is caught.
    from differential.driver import main as run

    sys.exit(run())
