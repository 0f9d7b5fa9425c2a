"""Time contestants in turn, so that a ratio compares what ran side by side.

A machine's speed drifts (frequency, neighbours), so times of different runs say nothing. Here each
round samples every contestant once; a ratio is the median over rounds of the ratios in a round.
A sample is the mean of enough calls to last 5 ms. Raw samples are kept in the JSON output.

With several threads each sample follows a pause, in which the worker threads of other libraries
stop spinning, and untimed calls of 0.1 s: a thread that wakes is often put on the CPU of the one
that waits for it, and the scheduler takes that long to part them.

Beside other processes, `--clock cpu` leaves out the time in which they had the core (one thread
only: it adds up the CPU time of all threads). What they do to shared caches it cannot leave out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fbg
from fbg import _fbg

SAMPLE_SECONDS = 0.005
WARM_UP = 2.0  # how many times as long as a pause the untimed calls after it last
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time, "thread": time.thread_time}
POWERCAP = Path("/sys/class/powercap")
# What figures depend on: fbg, NumPy, and every package that an environment of peers names.
PINNED = re.compile(r"^([\w-]+)==", re.MULTILINE)
ENVIRONMENTS = sorted((Path(__file__).parent / "environments").glob("*.txt"))
PINNED_NAMES = [name for path in ENVIRONMENTS for name in PINNED.findall(path.read_text("utf-8"))]
PACKAGES = ("fbg", "numpy", *dict.fromkeys(PINNED_NAMES))
_clock = CLOCKS["wall"]


def use_clock(arguments: argparse.Namespace) -> None:
    """Time everything from now on as --clock says."""
    global _clock
    if arguments.clock != "wall" and max(arguments.threads) > 1:
        raise SystemExit(f"--clock {arguments.clock} goes with --threads 1 only")
    _clock = CLOCKS[arguments.clock]


def elapsed(call: Callable[[], object], repeats: int = 1) -> float:
    """Seconds of `repeats` calls by the clock in use."""
    start = _clock()
    for _ in range(repeats):
        call()
    return _clock() - start


@dataclass
class Contestant:
    """Something to time: `call` does the work once.

    `around` makes a context entered around each sample, outside the timed part (an ISA limit).
    `sample`, if given, replaces the timing: it returns the seconds of one call by other means.
    `figures`: what else is said of it, by name.
    """

    name: str
    call: Callable[[], object] = field(default=lambda: None)
    around: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
    sample: Callable[[], float] | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    repeats: int = 0

    def seconds(self, pause: float = 0.0) -> float:
        """One sample: mean seconds per call, after untimed calls that wake caches and threads.

        pause: how long nothing ran before.
        """
        if self.sample is not None:
            return self.sample()
        with self.around():
            start = time.perf_counter()
            self.call()
            while time.perf_counter() - start < WARM_UP * pause:
                self.call()
            if self.repeats == 0:
                self.repeats = self._calibrate()
            return elapsed(self.call, self.repeats) / self.repeats

    def _calibrate(self) -> int:
        """Calls per sample; the very first call may include one-time work, so look again."""
        repeats = 1
        while (taken := elapsed(self.call, repeats)) < SAMPLE_SECONDS and repeats < 1 << 20:
            growth = SAMPLE_SECONDS / max(taken, 1e-9)
            repeats = min(max(repeats * 2, int(repeats * growth * 1.1)), repeats * 64)
        return repeats


@dataclass
class Result:
    """All samples of one contestant, in seconds per call; watts: of the packages meanwhile."""

    name: str
    samples: list[float]
    watts: float | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def best(self) -> float:
        return min(self.samples)

    def speedup_over(self, other: Result) -> float:
        """How many times faster this is than `other`: the median of the rounds' ratios."""
        pairs = zip(other.samples, self.samples, strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def race(contestants: Iterable[Contestant], rounds: int, pause: float = 0.0) -> dict[str, Result]:
    """Sample every contestant once per round, starting each round with the next one.

    pause: seconds to sleep before each sample, so that another library's worker threads stop
    spinning; wanted as soon as more than one thread is used.
    """
    field_ = list(contestants)
    for contestant in field_:  # an unrecorded round: one-time work and the number of repeats
        contestant.seconds()
    samples: dict[str, list[float]] = {contestant.name: [] for contestant in field_}
    meters = {contestant.name: Meter() for contestant in field_}
    for number in range(rounds):
        start = number % len(field_)
        for contestant in field_[start:] + field_[:start]:
            if pause:
                time.sleep(pause)
            with meters[contestant.name]:
                samples[contestant.name].append(contestant.seconds(pause))
    return {name: Result(name, values, meters[name].watts) for name, values in samples.items()}


class Meter:
    """Mean power of the packages while the context is entered, as RAPL counts their energy."""

    def __init__(self) -> None:
        self._seconds = self._joules = 0.0

    def __enter__(self) -> None:
        self._begin, self._before = time.perf_counter(), _joules()

    def __exit__(self, *raised: object) -> None:
        after = _joules()
        if self._before is not None and after is not None and after >= self._before:  # no overflow
            self._joules += after - self._before
            self._seconds += time.perf_counter() - self._begin

    @property
    def watts(self) -> float | None:
        """None where the kernel does not say."""
        return self._joules / self._seconds if self._seconds else None


def _joules() -> float | None:
    zones = [zone for zone in POWERCAP.glob("intel-rapl:*") if zone.name.count(":") == 1]
    try:
        return sum(int((zone / "energy_uj").read_text()) for zone in zones) / 1e6 if zones else None
    except OSError:  # of a kernel that lets only root read
        return None


def markdown(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, columns aligned to be read in a terminal as well."""
    table = [list(headers), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(headers))]

    def line(cells: Sequence[str]) -> str:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"| {' | '.join(padded)} |"

    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([line(table[0]), rule, *(line(row) for row in table[1:])])


@dataclass(frozen=True)
class Case:
    """What tells a case from others, in tables and files, and what makes its contestants."""

    names: dict[str, Any]
    field: Callable[[], Iterable[Contestant]]


def default_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "fbg-bench"


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options every benchmark has; description: of a module, whose first line counts."""
    result = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    result.add_argument("--json", type=Path, metavar="OUT", help="write raw samples to this file")
    result.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default 9)")
    result.add_argument(
        "--threads", type=int, nargs="+", default=[1], metavar="N", help="thread counts (default 1)"
    )
    result.add_argument("--clock", choices=CLOCKS, default="wall", help="default wall")
    result.add_argument("--quick", action="store_true", help="3 rounds: a trial, not a measurement")
    text = "skip the cases already in --json OUT"
    result.add_argument("--resume", action="store_true", help=text)
    result.add_argument("--cache", type=Path, default=default_cache(), help="of files of models")
    return result


def begin(benchmark: str, arguments: argparse.Namespace) -> Report:
    """Use the clock that the arguments name; return what collects the results."""
    use_clock(arguments)
    return Report(benchmark, arguments)


def rounds(arguments: argparse.Namespace) -> int:
    return 3 if arguments.quick else int(arguments.rounds)


def pause(threads: int) -> float:
    return 0.05 if threads > 1 else 0.0


class Report:
    """Collects results case by case; the JSON file is written after each, so that none is lost.

    With --resume it begins with what the file holds already, if that is of this build.
    """

    def __init__(self, benchmark: str, arguments: argparse.Namespace) -> None:
        shown = {key: _plain(value) for key, value in vars(arguments).items() if key != "json"}
        self._path: Path | None = arguments.json
        self._rows: list[dict[str, Any]] = []
        self._content: dict[str, Any] = {
            "benchmark": benchmark,
            "arguments": shown,
            "machine": machine(),
            "build": build(),
            "results": self._rows,
        }
        if arguments.resume:
            if self._path is None:
                raise SystemExit("--resume goes with --json")
            if self._path.exists():
                self._rows += read(self._path, self._content["build"])["results"]

    def rows(self, case: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of a case as they are in the file."""
        return [row for row in self._rows if _is_of(row, case)]

    def put(self, case: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        """Add rows of a case, in place of any that are there; they hold what the case does."""
        added = [row | {"commit": self._content["build"]["commit"]} for row in rows]
        self._rows[:] = [row for row in self._rows if not _is_of(row, case)] + added
        self.write()

    def find(self, case: dict[str, Any]) -> dict[str, Result]:
        """The results of a case, or none."""
        return results_of(self.rows(case))

    def run(self, case: Case, count: int) -> dict[str, Result]:
        """The results of a case: those of the file that is resumed, or of a race now."""
        if not self.rows(case.names):
            contestants = list(case.field())
            results = race(contestants, count, pause(case.names.get("threads", 1)))
            self.add(case.names, results, {each.name: each.figures for each in contestants})
        return self.find(case.names)

    def add(
        self,
        case: dict[str, Any],
        results: dict[str, Result],
        figures: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        """Add the results of a case, in place of any that are there; figures: more, by name."""
        rows = [
            {
                **case,
                "contestant": result.name,
                "median_s": result.median,
                "min_s": result.best,
                "samples_s": result.samples,
                **({"watts": result.watts} if result.watts else {}),
                **({"figures": figures[name]} if figures and figures.get(name) else {}),
            }
            for name, result in results.items()
        ]
        self.put(case, rows)

    def write(self) -> None:
        if self._path is not None:
            partial = self._path.with_name(self._path.name + ".partial")
            partial.write_text(json.dumps(self._content, indent=1) + "\n")
            partial.replace(self._path)


def results_of(rows: Iterable[dict[str, Any]]) -> dict[str, Result]:
    """The results of the rows of a case, by contestant."""
    return {
        row["contestant"]: Result(row["contestant"], row["samples_s"], row.get("watts"))
        for row in rows
        if "samples_s" in row
    }


def read(path: Path, wanted: dict[str, str]) -> dict[str, Any]:
    """The content of a JSON file; ends the program if it was measured with another build."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found = content.get("build", {})
    for name, value in wanted.items():
        if found.get(name) != value:
            raise SystemExit(
                f"{path}: measured with {name} {found.get(name, 'unknown')!r}, not {value!r}: "
                "remove it, or measure it again"
            )
    return content


def _is_of(row: dict[str, Any], case: dict[str, Any]) -> bool:
    return all(row.get(key) == value for key, value in case.items())


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path) else value


def machine() -> dict[str, Any]:
    """What a reader needs to judge the figures."""
    name = platform.processor()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        name = models[0] if models else name
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return {
        "cpu": name,
        "cores": len(os.sched_getaffinity(0)),
        "isa": fbg.isa.active(),
        "versions": versions,
    }


def build() -> dict[str, str]:
    """What was measured: the commit that is checked out, and the compiler of the extension."""
    comment = re.search(rb"GCC: \([^\0]*|clang version [^\0]*", Path(_fbg.__file__).read_bytes())
    return {"commit": commit(), "compiler": comment[0].decode() if comment else "not recorded"}


def commit() -> str:
    """The commit that is checked out, or nothing where this is no checkout."""
    words = ["git", "describe", "--always", "--dirty", "--exclude", "*", "--abbrev=7"]
    try:
        found = subprocess.run(
            words, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found.stdout.strip()
