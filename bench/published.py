"""Published figures beside ours: data/published.json says which result answers each.

An entry names the row of the sources, the figure, and the part of report.py. What answers it is one
of: `ratio` (a contestant, and another one, or a part of the names of others, of which the fastest
counts; nothing is any rival of the same precision), `threads` (a contestant: most threads over
one), `milliseconds` (of a contestant), `figure` (of a contestant), `value` (of rows of values).
`where` chooses cases, `take` one number of theirs, and `form` says how it is shown.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import comparison
import timing
from comparison import Rows

FILE = Path(__file__).with_name("data") / "published.json"
TAKES: dict[str, Any] = {"max": max, "min": min, "mean": comparison.mean}


def table(rows: dict[str, Rows]) -> list[list[str]]:
    """A line for each figure, with what answers it or that it is not measured."""
    lines = []
    for entry in json.loads(FILE.read_text(encoding="utf-8")):
        own = comparison.only(rows.get(entry["part"], []), entry.get("where", {}))
        head = [entry[key] for key in ("row", "published", "what", "part")]
        lines.append([*head, ours(entry, own) or "not measured"])
    return lines


def ours(entry: dict[str, Any], rows: Rows) -> str:
    found = list(figures(entry, rows))
    if not found:
        return ""
    value = TAKES[entry.get("take", "max")](found)
    threads = max((row.get("threads", 1) for row in rows), default=1)
    form: str = entry["form"]
    return form.format(value, percent=100 * (value - 1), threads=threads)


def figures(entry: dict[str, Any], rows: Rows) -> Iterator[float]:
    if "value" in entry:
        yield from (row[entry["value"]] for row in rows if entry["value"] in row)
    elif "figure" in entry:
        name, key = entry["figure"]
        yield from (row["figures"][key] for row in comparison.only(rows, {"contestant": name}))
    elif "milliseconds" in entry:
        own = comparison.only(rows, {"contestant": entry["milliseconds"]})
        yield from (1e3 * row["median_s"] for row in own)
    elif "threads" in entry:
        times = {
            row["threads"]: row["median_s"]
            for row in comparison.only(rows, {"contestant": entry["threads"]})
        }
        if len(times) > 1:
            yield times[min(times)] / times[max(times)]
    else:
        name, other = entry["ratio"]
        yield from ratios(name, other, rows)


def ratios(name: str, other: str, rows: Rows) -> Iterator[float]:
    """How many times as fast the one is in each case."""
    if not other:
        for each in comparison.compare(rows):
            if each.ours.name == name and each.rival:
                yield each.ratio
        return
    for _, group in comparison.cases(rows):
        results = timing.results_of(group)
        others = [results[other]] if other in results else [
            result for n, result in results.items() if other in n and not n.startswith("fbg")
        ]  # fmt: skip
        if name in results and others:
            yield results[name].speedup_over(min(others, key=lambda result: result.median))
