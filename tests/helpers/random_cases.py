"""Runs random cases of fuzz targets and of comparisons, each a function of its number.

    python -m helpers.random_cases KIND|GROUP [--cases N] [--seconds T] [--seed S]      (in tests/)
    python -m helpers.random_cases FINDINGS/KIND/FILE

A kind is fuzz.NAME or differential.NAME, a group all of one of these. The cases run in a process of
their own: where it ends or gets stuck, another one goes on. A finding is a result that differs, an
exception that the kind does not allow, a case that takes longer than its limit, the end of the
process, or memory that is lost. `--first N --cases 1` with the seed repeats the case of a finding.
If its input is bytes, they are also written to the folder of findings: given that file, the driver
runs it again, without catching anything.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import math
import multiprocessing
import pkgutil
import resource
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["KINDS", "Different", "Kind", "Results", "find_kind", "outcome", "run_cases"]

GROUPS = {"fuzz": "fuzz.targets", "differential": "differential.kinds"}
KINDS = {
    group: tuple(
        sorted(
            f"{group}.{module.name}"
            for module in pkgutil.iter_modules(importlib.import_module(package).__path__)
        )
    )
    for group, package in GROUPS.items()
}
MOST_FINDINGS = 20  # different ones, after which a run ends
STUCK_SECONDS = 60.0  # beyond the limit of its kind, of a case that waits for something
MEMORY = 12 << 30  # of the address space of a process that fuzzes
WELL, FOUND = 0, 1  # exit codes of a process that ran its cases


Results = Callable[[int], Iterator[tuple[str, Any]]]


class Different(Exception):
    """A result of fbg that is not that of the other implementation; its text has the case."""


@dataclass(frozen=True)
class Kind:
    """name: of the module with it. draw: makes the input of a case. run: uses one.

    run returns a word for how the case ended, such as "same" or "refused by both", by which cases
    are counted, and raises Different. allowed: the exceptions that are documented for any input.
    cases: how many a run of all tests has. seconds: of CPU time that a case may take. growth: bytes
    by which the process may grow between its 1000th and its last case. needs: a package that the
    tests themselves do not install. results: draws a case for scripts/result_bits, and returns what
    computes results of fbg by name, given a number of threads.
    """

    name: str
    run: Callable[[Any], str]
    draw: Callable[[Random], Any] = lambda random: random
    allowed: tuple[type[Exception], ...] = ()
    cases: int = 100
    seconds: float = 20.0
    growth: float = math.inf
    needs: str = "fbg"
    results: Callable[[Random], Results] | None = None

    def case(self, seed, number):
        """Return the input of a case."""
        return self.draw(Random(f"{self.name.partition('.')[2]} {seed} {number}"))


def find_kind(name):
    """Return the kind of that name; its module is fuzz.targets.NAME or differential.kinds.NAME."""
    group, _, module = name.partition(".")
    return importlib.import_module(f"{GROUPS[group]}.{module}").KIND


def outcome(kind, case):
    """Run one case. Return how it ended, and what is wrong with that, if anything is."""
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ended, problem = kind.run(case), None
    except Different as error:
        ended = problem = str(error)
    except kind.allowed as error:
        ended, problem = type(error).__name__, None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        frame = [f for f in frames if "/fbg/" in f.filename or f is frames[-1]][-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        ended = problem = f"{type(error).__name__} at {place}: {error}"
    seconds = time.process_time() - begin
    if problem is None and seconds > kind.seconds:
        problem = f"{seconds:.1f} s of CPU time"
    return ended, problem


def run_cases(kind, seed, count):
    """Run the first `count` cases in this process and return what is wrong."""
    problems = []
    for number in range(count):
        _, problem = outcome(kind, kind.case(seed, number))
        if problem is not None:
            problems.append(f"{kind.name} {seed} {number}: {problem}")
    return problems


def _keep(kind, case, findings):
    if isinstance(case, bytes):
        folder = findings / kind.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashlib.sha256(case).hexdigest()[:16]).write_bytes(case)


def _work(name, seed, findings, numbers, until, shared):
    """The process that runs the cases. shared: the number of the case, and when it began."""
    kind, seen, size = find_kind(name), Counter[str](), 0
    if kind.growth < math.inf:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    problems = set()
    for number in numbers:
        if time.monotonic() > until or len(problems) == MOST_FINDINGS:
            break
        shared[:] = number, int(time.monotonic())
        case = kind.case(seed, number)
        ended, problem = outcome(kind, case)
        if problem is None:
            seen[ended] += 1
        elif problem.split(": ")[0] not in problems:
            problems.add(problem.split(": ")[0])
            print(f"FINDING {name} {seed} {number}: {problem}", flush=True)
            _keep(kind, case, findings)
        shared[0] = number + 1
        if number == numbers.start + 999:
            size = _resident()
    grown = _resident() - size if size else 0
    if grown > kind.growth:
        print(f"FINDING {name} {seed}: {grown >> 20} MiB were lost", flush=True)
        problems.add("lost")
    print(f"  {dict(seen.most_common())}, grown by {grown >> 20} MiB", flush=True)
    sys.exit(FOUND if problems else WELL)


def _resident():
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def supervise(name, seed, first, cases, seconds, findings):
    """Run cases for some time, in processes of their own. True if nothing was found."""
    kind, context = find_kind(name), multiprocessing.get_context("spawn")
    begin = time.monotonic()
    number, end, well = first, first + cases, True
    while number < end and time.monotonic() < begin + seconds:
        shared = context.Array("q", [number, int(time.monotonic()) + 60], lock=False)
        given = (name, seed, findings, range(number, end), begin + seconds, shared)
        process = context.Process(target=_work, args=given)
        process.start()
        while process.is_alive():
            process.join(0.5)
            if time.monotonic() - shared[1] > max(kind.seconds, STUCK_SECONDS):
                process.kill()
        number = shared[0]
        if process.exitcode in (WELL, FOUND):
            well = well and process.exitcode == WELL
            break
        print(f"FINDING {name} {seed} {number}: the process ended with {process.exitcode}")
        _keep(kind, kind.case(seed, number), findings)
        well, number = False, number + 1
    print(f"{name} {seed}: {number - first} cases in {time.monotonic() - begin:.0f} s: ", end="")
    print("nothing found" if well else "FINDINGS", flush=True)
    return well


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    every = [*KINDS, *(name for group in KINDS.values() for name in group)]
    parser.add_argument("kind", help="of " + ", ".join(every) + "; or a file to run again")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="of each kind, at most")
    parser.add_argument("--seconds", type=float, default=60, help="of each kind, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    given = parser.parse_args()
    path = Path(given.kind)
    if path.is_file():
        find_kind(path.parent.name).run(path.read_bytes())
        return 0
    if given.kind not in every:
        parser.error(f"{given.kind} is neither a kind nor a file")
    options = (given.seed, given.first, given.cases, given.seconds, given.findings)
    well = [supervise(name, *options) for name in KINDS.get(given.kind, (given.kind,))]
    return 0 if all(well) else 1


if __name__ == "__main__":
    # As the module that kinds import, so that their `Different` is the one that is caught.
    from helpers.random_cases import main as run

    sys.exit(run())
