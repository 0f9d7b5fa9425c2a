"""One page of what this library does on this machine, beside what was published.

    python bench/report.py                      an hour and a half at most, then the page
    python bench/report.py --quick              some minutes: whether everything runs
    python bench/report.py --part products      one part only; --anew measures it again
    python bench/report.py --only-page          measure nothing: the page of the results at hand
    python bench/report.py --hours 5            more cases of each part

Each part is a script of this folder with a share of the time. What it measures is kept as JSON in
--results (which git ignores), written after each case: what was interrupted, or used up its time,
goes on when the command is given again, with more --hours in the latter case. The page, as HTML and
as Markdown, is written beside them. Results of another build (another commit, another compiler, or
sources with changes that no commit names) are an error. Peers that are not installed are named.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import comparison
import published
import timing
from comparison import OURS

from fbg.reports.page import Page, Section, Table, write_page

BENCH = Path(__file__).resolve().parent
QUICK_SECONDS = 180


@dataclass(frozen=True)
class Part:
    """A script with its options, and its section of the page: a row of data/parts.json.

    seconds: how long it may take with --hours 1. peers: distributions that it measures against, or
    that peers need. ours: how names of our contestants begin. quick: options of a trial, after the
    others. before: a command that makes what the script needs, unless it is there as `made`.
    """

    name: str
    title: str
    command: str
    seconds: float
    peers: str = ""
    ours: Sequence[str] = OURS
    quick: str = ""
    before: str = ""
    made: str = ""
    text: str = ""


PARTS = tuple(Part(**row) for row in json.loads((BENCH / "data" / "parts.json").read_text("utf-8")))


def main() -> None:
    arguments = options()
    arguments.results.mkdir(parents=True, exist_ok=True)
    chosen = [part for part in PARTS if part.name in (arguments.part or names())]
    if not arguments.only_page:
        build = clean(timing.build())
        for part in chosen:
            path = file_of(part, arguments)
            if arguments.anew:
                path.unlink(missing_ok=True)
            elif path.exists():
                timing.read(path, build)  # before anything is measured
        for part in chosen:
            measure(part, arguments, build)
    for written in write(arguments):
        print(f"{written}: written")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=names(), metavar="PART", help="default: all")
    text = "multiplies the time of each part (default 1: an hour and a half at most in all)"
    parser.add_argument("--hours", type=float, default=1.0, help=text)
    parser.add_argument("--quick", action="store_true", help="a trial, not a measurement")
    parser.add_argument("--anew", action="store_true", help="discard the results of these parts")
    parser.add_argument("--only-page", action="store_true", help="measure nothing")
    parser.add_argument("--results", type=Path, default=BENCH / "results")
    return parser.parse_args()


def names() -> list[str]:
    return [part.name for part in PARTS]


def file_of(part: Part, arguments: argparse.Namespace) -> Path:
    folder: Path = arguments.results
    return folder / f"{part.name}.json"


def clean(build: dict[str, str], path: Path | None = None) -> dict[str, str]:
    """The build; ends the program if it has no name."""
    if not build.get("commit"):
        raise SystemExit(f"{path or 'report.py'}: no commit is known: run it in a checkout of git")
    if build["commit"].endswith("-dirty"):
        where = f"{path}: measured with" if path else "there are"
        raise SystemExit(f"{where} sources that no commit names: commit the changes, measure again")
    return build


# --- Measuring ----------------------------------------------------------------------------------


def measure(part: Part, arguments: argparse.Namespace, build: dict[str, str]) -> None:
    """Run a part, or let it go on, until it is done or its time is used up."""
    path = file_of(part, arguments)
    state: dict[str, Any] = {"finished": False, "seconds": 0.0, "quick": arguments.quick}
    if path.exists():
        kept = timing.read(path, build).get("report", state)
        if kept["quick"] != arguments.quick:
            raise SystemExit(f"{path}: one with --quick, one without: use --anew or --results")
        state |= kept
    left = QUICK_SECONDS if arguments.quick else part.seconds * arguments.hours
    left -= state["seconds"]
    if state["finished"] or left <= 0:
        return
    cache, quick = str(timing.default_cache()), part.quick if arguments.quick else ""
    words = f"{part.command} {quick}".format(cache=cache).split()
    words += ["--quick"] if arguments.quick else []
    words += ["--json", str(path.resolve()), "--resume"]
    start, reason = time.monotonic(), ""
    try:
        print(f"{part.name}: {' '.join(words)}", flush=True)
        if part.before and not Path(part.made.format(cache=cache)).exists():
            reason = run(part.before.format(cache=cache).split(), part.seconds)
            start = time.monotonic()
        reason = reason or run(words, left)
        state["finished"] = not reason
    finally:
        state |= {"seconds": state["seconds"] + time.monotonic() - start, "reason": reason}
        record(path, part, state, build)


def run(words: Sequence[str], seconds: float) -> str:
    """Run a script for so long at most; return why it did not end well."""
    command = [sys.executable, *words]
    with subprocess.Popen(
        command, cwd=BENCH, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            _, errors = process.communicate(timeout=seconds)
        except BaseException as stop:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started as well
            process.communicate()
            if not isinstance(stop, subprocess.TimeoutExpired):
                raise
            return f"stopped after {seconds:.0f} s"
    sys.stderr.write(errors)
    lines = [line for line in errors.splitlines() if line.strip() and not line[0].isspace()]
    return (lines[-1] if lines else f"status {process.returncode}") if process.returncode else ""


def record(path: Path, part: Part, state: dict[str, Any], build: dict[str, str]) -> None:
    """Keep the state of a part in its file, which may have no results."""
    content = {"benchmark": part.name, "machine": timing.machine(), "build": build, "results": []}
    if path.exists():
        content = timing.read(path, build)
    path.write_text(json.dumps(content | {"report": state}, indent=1) + "\n", encoding="utf-8")


# --- The page -----------------------------------------------------------------------------------


def write(arguments: argparse.Namespace) -> list[Path]:
    """Write the page in both forms; return the paths."""
    files = read(arguments)
    page = page_of(files)
    html, text = (arguments.results / f"report.{kind}" for kind in ("html", "md"))
    write_page(page, html)
    text.write_text(markdown(page), encoding="utf-8")
    return [html, text]


def read(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The contents of all files, by part; ends the program unless one build measured them."""
    found: dict[str, dict[str, Any]] = {}
    build: dict[str, str] = {} if arguments.only_page else timing.build()
    for part in PARTS:
        path = file_of(part, arguments)
        if path.exists():
            found[part.name] = timing.read(path, build)
            build = clean(found[part.name].get("build", {}), path)
            first = next(iter(found.values()))["machine"]
            for name in ("cpu", "isa"):
                if found[part.name]["machine"][name] != first[name]:
                    raise SystemExit(f"{path}: measured on another machine than the parts before")
    if not found:
        raise SystemExit(f"{arguments.results}: no results")
    return found


def page_of(files: dict[str, dict[str, Any]]) -> Page:
    machine = next(iter(files.values()))["machine"]
    build = next(iter(files.values()))["build"]
    versions: dict[str, str] = {}
    for content in files.values():
        versions |= content["machine"]["versions"]
    peers = dict.fromkeys(name for part in PARTS for name in part.peers.split())
    facts = {
        "CPU": f"{machine['cpu']}, {machine['cores']} cores",
        "instruction set": machine["isa"],
        **build,
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "absent peers": ", ".join(name for name in peers if name not in versions) or "none",
        "energy": "RAPL" if measured_energy(files) else "RAPL does not answer",
    }
    rows = {name: content["results"] for name, content in files.items()}
    head = ("row", "published", "what", "part", "ours")
    beside = Table("Sources and this library", head, published.table(rows), 5)
    sections = [Section("published", "Beside what was published", [], {}, [beside])]
    sections += [section(part, files.get(part.name)) for part in PARTS]
    notes = ["Ratios are medians of the ratios of interleaved rounds; × is how many times as fast."]
    if any(content.get("report", {}).get("quick") for content in files.values()):
        notes.append("A trial with few rounds and cases: not a measurement.")
    title = f"fbg {versions.get('fbg', '')} on {machine['cpu']}"
    return Page(title, facts, highlights(rows), sections, notes)


def measured_energy(files: dict[str, dict[str, Any]]) -> bool:
    return any("watts" in row for content in files.values() for row in content["results"])


def highlights(rows: dict[str, comparison.Rows]) -> list[tuple[str, str]]:
    """The means of parts that have rivals."""
    found = []
    for part in PARTS:
        compared = comparison.compare(rows.get(part.name, []), part.ours)
        ratios = [each.ratio for each in compared if each.rival and each.ratio > 0]
        if ratios and part.peers:
            found.append((f"{comparison.mean(ratios):.2f} ×", f"{part.title}, {len(ratios)} cases"))
    return found


def section(part: Part, content: dict[str, Any] | None) -> Section:
    """What a part measured, whom it did not, and whether it came to its end."""
    text = [part.text] if part.text else []
    text.append(f"Measured by bench/{part.command.split()[0]}.")
    if content is None:
        return Section(part.name, part.title, [*text, "Not measured yet."])
    versions = content["machine"]["versions"]
    peers = part.peers.split()
    absent = [name for name in peers if name not in versions]
    if peers:
        there = [f"{name} {versions[name]}" for name in peers if name in versions]
        text.append(f"Peers and what they need: {', '.join(there) or 'none'}.")
    text += [f"Absent: {', '.join(absent)}."] if absent else []
    state = content.get("report", {})
    if not state.get("finished"):
        reason = state.get("reason") or "interrupted"
        text.append(f"Incomplete: {reason}. What follows was measured before.")
    rows = content["results"]
    text += [f"Refused: {line}" for line in comparison.refused(rows)]
    return Section(part.name, part.title, text, {}, comparison.tables(rows, part.ours))


def markdown(page: Page) -> str:
    parts = [f"# {page.title}", *page.notes]
    parts.append("\n".join(f"* {name}: {value}" for name, value in page.facts.items()))
    for each in page.sections:
        parts += [f"## {each.title}", *each.text]
        parts += [comparison.markdown(table) for table in each.tables]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
