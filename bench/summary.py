"""The end of a run of bench/gemm.py: a Markdown row for each shape, means, the worst shapes."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

import timing
from contests import Contest, Shape

# Ratios below this count as slower: measured noise of a median of ratios is about 2 %.
PARITY = 0.98


@dataclass(frozen=True)
class Row:
    """What was measured at one shape."""

    shape: Shape
    results: dict[str, timing.Result]

    @property
    def operations(self) -> float:
        return 2.0 * math.prod(self.shape)


@dataclass(frozen=True)
class Comparison:
    """Our leading way at one shape, its best rival by median and its peak, where there are any."""

    row: Row
    ours: timing.Result
    rival: timing.Result | None
    peak: timing.Result | None

    @property
    def ratio(self) -> float:
        """How many times faster than the best rival."""
        return self.ours.speedup_over(self.rival) if self.rival else math.nan

    @property
    def spread(self) -> float:
        """Noise: the interquartile range of the rounds' ratios (or fractions of peak) over it."""
        against = self.rival or self.peak
        if against is None:
            return math.nan
        ratios = [a / b for a, b in zip(against.samples, self.ours.samples, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        return (high - low) / middle

    @property
    def of_peak(self) -> float:
        return self.ours.speedup_over(self.peak) if self.peak else math.nan


def line(shape: Shape, results: dict[str, timing.Result]) -> str:
    """Progress: every contestant's median at one shape."""
    times = ", ".join(
        f"{name} {result.median * 1e6:.1f}"
        for name, result in results.items()
        if not name.startswith("peak")
    )
    return f"{'x'.join(map(str, shape))}: {times} µs"


def geometric_mean(values: Iterable[float]) -> float:
    return statistics.geometric_mean(values)


def compare(row: Row, contest: Contest, isa: str) -> Comparison:
    ways = [way for way in contest.ours if f"{way} {isa}" in row.results]
    others = [f"{way} {isa}" for way in ways[1:]]
    foreign = [name for name in row.results if " " not in name]
    rivals = [row.results[name] for name in (*others, *foreign)]
    return Comparison(
        row,
        row.results[f"{ways[0]} {isa}"],
        min(rivals, key=lambda result: result.median, default=None),
        row.results.get(f"peak {contest.peak[ways[0]]} {isa}"),
    )


def text(setting: str, rows: list[Row], contest: Contest, isa: str) -> str:
    """Markdown: heading, table, means."""
    comparisons = [compare(row, contest, isa) for row in rows]
    parts = [f"### {setting}, {isa}", _table(comparisons)]
    if all(comparison.rival for comparison in comparisons):
        parts.append(_ratios(comparisons))
    if all(comparison.peak for comparison in comparisons):
        parts.append(_fractions(comparisons))
    return "\n\n".join(parts)


def _table(comparisons: list[Comparison]) -> str:
    headers = ["M", "N", "K", "ours µs", "G op/s", "of peak", "best rival", "its µs", "ratio"]
    headers.append("± %")
    rows = []
    for comparison in comparisons:
        ours, rival = comparison.ours, comparison.rival
        rows.append(
            [
                *map(str, comparison.row.shape),
                f"{ours.median * 1e6:.1f}",
                f"{comparison.row.operations / ours.median * 1e-9:.1f}",
                f"{comparison.of_peak:.3f}" if comparison.peak else "",
                rival.name if rival else "",
                f"{rival.median * 1e6:.1f}" if rival else "",
                f"{comparison.ratio:.2f}" if rival else "",
                f"{comparison.spread * 50:.0f}",
            ]
        )
    return timing.markdown(headers, rows)


def _ratios(comparisons: list[Comparison]) -> str:
    """Means of ours / best rival, and the shapes where that is below parity, worst first."""
    every = [comparison.ratio for comparison in comparisons]
    small = [comparison.ratio for comparison in comparisons if comparison.row.shape[0] <= 8]
    lines = [
        f"Speed relative to the best rival: geometric mean {geometric_mean(every):.3f} over "
        f"{len(every)} shapes"
        + (f", {geometric_mean(small):.3f} over {len(small)} with M ≤ 8" if small else "")
        + f"; least {min(every):.2f}."
    ]
    slower = [comparison for comparison in comparisons if comparison.ratio < PARITY]
    lines.append(f"Below {PARITY}: {len(slower)} shapes{':' if slower else '.'}")
    for comparison in sorted(slower, key=lambda comparison: comparison.ratio):
        ours, rival = comparison.ours, comparison.rival
        assert rival is not None
        lines.append(
            f"* {comparison.row.shape}: {ours.median * 1e6:.1f} µs, {rival.name} "
            f"{rival.median * 1e6:.1f} µs, ratio {comparison.ratio:.2f}"
        )
    return "\n".join(lines)


def _fractions(comparisons: list[Comparison]) -> str:
    """Fraction of peak, over everything and where the product is large enough to reach it."""
    parts = []
    for name, least in (("all", 1), ("M ≥ 64", 64)):
        values = [each.of_peak for each in comparisons if each.row.shape[0] >= least]
        if values:
            parts.append(f"{name}: median {statistics.median(values):.3f}, least {min(values):.3f}")
    return f"Fraction of peak: {'; '.join(parts)}."
