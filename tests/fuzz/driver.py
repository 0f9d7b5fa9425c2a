"""Runs a fuzz target: cases made at random from its seeds, each a function of its number.

    python -m fuzz.driver TARGET [--seconds N] [--seed S] [--first N]      (in tests/)

The cases run in a process of their own. A finding is an exception that the target does not allow,
a case that takes more than a second of CPU time, the end of the process, or memory that is lost.
The bytes of each finding are written to the folder of findings, by which `replay` runs them again;
those that were fixed go to corpus/TARGET, where the tests replay them.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import resource
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from helpers.supervised import FOUND, WELL, supervise

__all__ = ["CORPUS", "TARGETS", "Target", "find_target", "outcome", "run_cases"]

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
TARGETS = ("safetensors", "shards", "saved_model", "pickle", "config", "tokenizer")
TARGETS += ("onnx", "onnx_hostile", "tuning", "http")

SECONDS_PER_CASE = 1.0  # of CPU time
STUCK_SECONDS = 60.0  # of a case that waits for something
MEMORY = 12 << 30  # of the address space of the process
LOST = 400 << 20  # bytes by which the process may grow between its 1000th and its last case


@dataclass(frozen=True)
class Target:
    """name: of the module with it. make_seeds: inputs to begin with. mutate: changes one of them.

    run: uses the input. allowed: the exceptions that are documented for any input.
    """

    name: str
    make_seeds: Callable[[], list[bytes]]
    mutate: Callable[[bytes, Random], bytes]
    run: Callable[[bytes], object]
    allowed: tuple[type[Exception], ...]

    @cached_property
    def seeds(self) -> list[bytes]:
        kept = sorted((CORPUS / self.name).glob("*"))
        return self.make_seeds() + [path.read_bytes() for path in kept]

    def case(self, seed: int, number: int) -> bytes:
        """Return the input of a case."""
        rng = Random(f"{self.name} {seed} {number}")
        data = rng.choice(self.seeds)
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = self.mutate(data, rng)
        return data


def find_target(name: str) -> Target:
    """Return the target of that name; its module is fuzz.targets.NAME."""
    target: Target = importlib.import_module(f"fuzz.targets.{name}").TARGET
    return target


def outcome(target: Target, data: bytes) -> tuple[str, str | None]:
    """Run one input. Return how it ended, and what is wrong with that, if anything is."""
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            target.run(data)
        ended, problem = "accepted", None
    except target.allowed as error:
        ended, problem = type(error).__name__, None
    except Exception as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "/fbg/" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
        ended = problem = f"{type(error).__name__} at {place}: {str(error)[:100]}"
    seconds = time.process_time() - begin
    if problem is None and seconds > SECONDS_PER_CASE:
        problem = f"{seconds:.1f} s of CPU time"
    return ended, problem


def run_cases(
    target: Target, seed: int, first: int, count: int, findings: Path | None = None
) -> list[str]:
    """Run cases in this process; return what is wrong, as text, and write the inputs."""
    problems = []
    for number in range(first, first + count):
        data = target.case(seed, number)
        _, problem = outcome(target, data)
        if problem is not None:
            problems.append(f"{target.name} {seed} {number}: {problem}")
            if findings is not None:
                _keep(target, data, findings)
    return problems


def _keep(target: Target, data: bytes, findings: Path) -> None:
    folder = findings / target.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def _work(name: str, seed: int, folder: Path, numbers: range, until: float, shared: object) -> None:
    """The process that runs the cases. shared: the number of the case, and when it began."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    target, seen, size = find_target(name), Counter[str](), 0
    problems: set[str] = set()
    for number in numbers:
        if time.monotonic() > until:
            break
        shared[0], shared[1] = number, int(time.monotonic())  # type: ignore[index]
        data = target.case(seed, number)
        ended, problem = outcome(target, data)
        seen[ended.split(" ")[0]] += 1
        if problem is not None and problem.split(": ")[0] not in problems:
            problems.add(problem.split(": ")[0])
            print(f"FINDING {name} {seed} {number}: {problem}", flush=True)
            _keep(target, data, folder)
        shared[0] = number + 1  # type: ignore[index]
        if number == numbers.start + 999:
            size = _resident()
    grown = _resident() - size if size else 0
    if grown > LOST:
        print(f"FINDING {name} {seed}: {grown >> 20} MiB were lost", flush=True)
        problems.add("lost")
    print(f"  {dict(seen.most_common())}, grown by {grown >> 20} MiB", flush=True)
    sys.exit(FOUND if problems else WELL)


def _resident() -> int:
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def fuzz(name: str, seed: int, first: int, seconds: float, findings: Path) -> bool:
    """Run cases for some time, in another process. True if all is well."""

    def keep(number: int) -> None:
        target = find_target(name)
        _keep(target, target.case(seed, number), findings)

    return supervise(
        f"{name} {seed}",
        _work,
        (name, seed, findings),
        first=first,
        end=sys.maxsize,
        seconds=seconds,
        stuck=STUCK_SECONDS,
        lost=keep,
    )


def replay(path: Path) -> None:
    """Run the input of a finding again, without catching anything: FOLDER/TARGET/CASE."""
    find_target(path.parent.name).run(path.read_bytes())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", help="of " + ", ".join(TARGETS) + "; all; or a file to replay")
    parser.add_argument("--seconds", type=float, default=60, help="of each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    given = parser.parse_args()
    if Path(given.target).is_file():
        replay(Path(given.target))
        return 0
    names = TARGETS if given.target == "all" else (given.target,)
    well = [fuzz(n, given.seed, given.first, given.seconds, given.findings) for n in names]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
