"""Tables of what a benchmark measured, from the rows of its JSON file: ours beside the best peer.

Every script that races contestants ends with them, and so does each section of report.py. A row
either holds the samples of a contestant in a case, or values that are shown as they are.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import timing

import fbg
from fbg.reports.page import Table

Rows = list[dict[str, Any]]
Case = dict[str, Any]
OURS = ("fbg",)
# What belongs to a contestant, not to the case.
OF_CONTESTANT = ("contestant", "median_s", "min_s", "samples_s", "watts", "commit", "figures")
# Names end with a precision. QDQ and NNCF quantize to int8; float16 weights compute in float32.
PRECISIONS = {"qdq": "int8", "nncf": "int8", "fp16": "fp32", "float32": "fp32", "bfloat16": "bf16"}
PARITY = 0.98  # ratios below this count as slower: a median of ratios has about 2 % of noise
PARTS = ("sub_layers", "modules")  # lists of parts and their shares (profiles)


@dataclass(frozen=True)
class Comparison:
    """One of ours in a case, its best rival by median and its peak, where there are any."""

    case: Case
    ours: timing.Result
    rival: timing.Result | None
    peak: timing.Result | None
    figures: dict[str, dict[str, Any]]

    @property
    def ratio(self) -> float:
        """How many times as fast as the best rival."""
        return self.ours.speedup_over(self.rival) if self.rival else math.nan

    @property
    def spread(self) -> float:
        """Noise: half the interquartile range of the rounds' ratios over their median."""
        against = self.rival or self.peak
        if against is None or len(self.ours.samples) < 2:
            return math.nan
        pairs = zip(against.samples, self.ours.samples, strict=True)
        low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
        return (high - low) / middle / 2

    @property
    def of_peak(self) -> float:
        return self.ours.speedup_over(self.peak) if self.peak else math.nan


def cases(rows: Rows) -> Iterator[tuple[Case, Rows]]:
    """The rows of each case that was raced, in their order."""
    groups: dict[str, tuple[Case, Rows]] = {}
    for row in rows:
        if "samples_s" in row:
            case = {key: value for key, value in row.items() if key not in OF_CONTESTANT}
            groups.setdefault(str(case), (case, []))[1].append(row)
    yield from groups.values()


def compare(rows: Rows, ours: Sequence[str] = OURS) -> list[Comparison]:
    """ours: how names of our contestants begin; names of peaks begin with "peak"."""
    found = []
    for case, group in cases(rows):
        results = timing.results_of(group)
        figures = {row["contestant"]: row["figures"] for row in group if "figures" in row}
        for name, mine in results.items():
            if not name.startswith(tuple(ours)):
                continue
            rivals = [
                result
                for other, result in results.items()
                if not other.startswith((*ours, "peak"))
                and _precision(name) in ("", _precision(other))
            ]
            best = min(rivals, key=lambda result: result.median, default=None)
            found.append(Comparison(case, mine, best, _peak(name, results), figures))
    return found


def _precision(name: str) -> str:
    """int8 of "ort-int8"; nothing where the name tells of none."""
    engine, _, last = name.split()[0].rpartition("-")
    return PRECISIONS.get(last, last) if engine else ""


def _peak(name: str, results: dict[str, timing.Result]) -> timing.Result | None:
    """That of the ISA and, among several, of the family that the name begins with."""
    family, _, isa = name.partition(" ")
    peaks = [n for n in results if n.startswith("peak") and n.endswith(isa)]
    peaks.sort(key=lambda n: n.split()[1:2] != [family])
    return results[peaks[0]] if peaks else None


def tables(rows: Rows, ours: Sequence[str] = OURS) -> list[Table]:
    """A row for each of ours in each case, means, and values as they are."""
    compared = compare(rows, ours)
    made = [_compared(compared), _means(compared)] if compared else [_medians(rows)]
    plain = [row for row in rows if "samples_s" not in row and "refused" not in row]
    return [table for table in (*made, *_plain(plain)) if table.rows]


def refused(rows: Rows) -> list[str]:
    """Who refused a case, and why."""
    lines = (
        f"{row['network']}: {row['contestant']}: {row['refused']}"
        for row in rows
        if "refused" in row
    )
    return list(dict.fromkeys(lines))


def text(rows: Rows, ours: Sequence[str] = OURS) -> str:
    """The tables as Markdown."""
    return "\n\n".join(markdown(table) for table in tables(rows, ours))


def markdown(table: Table) -> str:
    return f"**{table.caption}**\n\n{timing.markdown(table.head, table.rows)}"


def run(
    report: timing.Report, cases: Iterable[timing.Case], count: int, ours: Sequence[str] = OURS
) -> None:
    """Measure what the file does not have yet, in so many rounds, and print the tables of all."""
    measured: Rows = []
    for case in cases:
        results = report.run(case, count)
        names = ", ".join(f"{key} {value}" for key, value in case.names.items())
        print(f"{names}: {', '.join(f'{n} {_ms(r)} ms' for n, r in results.items())}", flush=True)
        measured += report.rows(case.names)
    if measured:
        print(f"\n{fbg.isa.active()}\n\n{text(measured, ours)}")


def _compared(compared: list[Comparison]) -> Table:
    keys = list(dict.fromkeys(key for each in compared for key in each.case))
    figures = list(
        dict.fromkeys(f for each in compared for own in each.figures.values() for f in own)
    )
    head = [*keys, "ours", "ms", "of peak", "best peer", "its ms", "×", "± %", "mJ", "its mJ"]
    for name in figures:
        head += [name, "of peer"]
    rows = []
    for each in compared:
        row = [shown(each.case.get(key, "")) for key in keys]
        row += [each.ours.name, _ms(each.ours), shown(each.of_peak)]
        row += [each.rival.name if each.rival else "", _ms(each.rival), shown(each.ratio)]
        row += [shown(100 * each.spread), _mj(each.ours), _mj(each.rival)]
        for name in figures:
            for result in (each.ours, each.rival):
                own = each.figures.get(result.name, {}) if result else {}
                row.append(shown(own.get(name, "")))
        rows.append(row)
    return _used("Each case", head, rows, len(keys) + 1)


def _medians(rows: Rows) -> Table:
    """Where all contestants are ours: their times side by side."""
    groups = [(case, timing.results_of(group)) for case, group in cases(rows)]
    keys = list(dict.fromkeys(key for case, _ in groups for key in case))
    names = list(dict.fromkeys(name for _, results in groups for name in results))
    lines = [
        [shown(case.get(key, "")) for key in keys] + [_ms(results.get(name)) for name in names]
        for case, results in groups
    ]
    head = [*keys, *(f"{name}, ms" for name in names)]
    return Table("Each case", head, lines, len(keys))


def _used(caption: str, head: Sequence[str], rows: list[list[str]], numeric: int) -> Table:
    """A table without the columns that are empty."""
    used = [n for n in range(len(head)) if any(row[n] for row in rows)]
    narrow = [[row[n] for n in used] for row in rows]
    return Table(caption, [head[n] for n in used], narrow, sum(n < numeric for n in used))


def _means(compared: list[Comparison]) -> Table:
    """Geometric means for each of ours, each number of threads and each kind of case."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for each in compared:
        if each.rival:
            kinds = (str(each.case[key]) for key in ("contest", "memory") if key in each.case)
            key = (each.ours.name, ", ".join(kinds), str(each.case.get("threads", "")))
            groups.setdefault(key, []).append(each.ratio)
    rows = [
        [
            *key,
            str(len(own)),
            f"{mean(own):.2f}",
            f"{min(own):.2f}",
            str(sum(ratio < PARITY for ratio in own)),
        ]
        for key, own in groups.items()
    ]
    head = ("ours", "of", "threads", "cases", "mean ×", "least ×", f"below {PARITY}")
    return _used("Geometric means of × best peer", head, rows, 2)


def _plain(rows: Rows) -> Iterator[Table]:
    """A table for each set of keys that rows have."""
    groups: dict[tuple[str, ...], Rows] = {}
    for row in rows:
        flat: Case = {}
        for key, value in row.items():
            if key in PARTS:
                flat |= {f"{part['name']}, %": 100 * part["share"] for part in value}
            elif key != "commit":
                flat[key] = value
        groups.setdefault(tuple(flat), []).append(flat)
    for keys, own in groups.items():
        numeric = next(
            (n for n, key in enumerate(keys) if not isinstance(own[0][key], str)), len(keys)
        )
        yield Table("Values", keys, [[shown(row[key]) for key in keys] for row in own], numeric)


def shown(value: object) -> str:
    """Three digits of a float; nothing of one that is not a number."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _ms(result: timing.Result | None) -> str:
    return shown(1e3 * result.median) if result else ""


def _mj(result: timing.Result | None) -> str:
    """Energy of a call: the power meanwhile times its duration."""
    return shown(1e3 * result.watts * result.median) if result and result.watts else ""


def mean(ratios: Iterable[float]) -> float:
    """The geometric one."""
    return statistics.geometric_mean(ratios)


def only(rows: Iterable[dict[str, Any]], where: Case) -> Rows:
    return [row for row in rows if all(row.get(key) == value for key, value in where.items())]
