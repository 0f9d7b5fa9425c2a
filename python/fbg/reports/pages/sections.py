"""Sections that pages about encoders and about networks from files share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from fbg.reports.machine import describe_machine
from fbg.reports.measuring import noise
from fbg.reports.pages.model_report import ModelReport
from fbg.reports.pages.net_report import NetReport
from fbg.reports.pages.page import MIB, Figure, Page, Section, Table
from fbg.reports.speedup import Speedup


def report_page(
    report: ModelReport | NetReport,
    about: dict[str, str],
    highlights: Sequence[tuple[str, str]],
    sections: Sequence[Section],
) -> Page:
    """Return a page about a model or a network; about: its subject."""
    bench = report.benchmark
    cpu = report.machine["cpu"]["name"].strip()
    measured = (
        f"Measured on {date.today()} on {cpu}: medians of {bench.rounds} rounds, {bench.isa}."
    )
    facts = about | describe_machine(report.machine)
    return Page(f"{report.model}: report", facts, highlights, sections, [measured])


def section(
    name: str,
    text: Sequence[str],
    tables: Sequence[Table] = (),
    figures: Mapping[str, Callable[[], str]] | None = None,
) -> Section:
    """Return a section; figures: functions that draw them, by caption; None for a page without."""
    drawn = [Figure(caption, draw()) for caption, draw in (figures or {}).items()]
    return Section(name, name.capitalize(), text, drawn, tables)


def saved_accuracy(what: str, dtype: str, origin: str) -> Section:
    """Return the section about a saved model or network, made from a checkpoint or a file."""
    text = (
        f"A saved {what} has one dtype, {dtype}, so that there is no float32 to compare it with: "
        f"make the report of the {origin} that it was saved from."
    )
    return section("accuracy", [text])


def memory_table(caption: str, held: Mapping[str, Mapping[str, float]]) -> Table:
    """Return bytes by dtype and part, in MiB."""
    rows = [
        [dtype, *(f"{size / MIB:.2f}" for size in sizes.values())] for dtype, sizes in held.items()
    ]
    return Table(caption, ["dtype", *next(iter(held.values()))], rows)


def alike(caption: str, head: Sequence[str], ops: Iterable[tuple[str, ...]]) -> Table:
    """Return a row for all ops that are alike, with their number behind the first cell."""
    rows = [
        [name, f"× {count}" if count > 1 else "", *more]
        for (name, *more), count in Counter(ops).items()
    ]
    return Table(caption, [head[0], "", *head[1:]], rows, numeric=len(head) + 1, folded=True)


def noise_of(noisy: Sequence[str]) -> list[str]:
    """Return the remark of a section about profiles on noisy ones."""
    return [noise(noisy)] if noisy else []


def speedup_highlight(speedup: Speedup, dtype: str) -> tuple[str, str]:
    """Return the figure and its description, with any reservation."""
    doubt = f": {speedup.doubt}" if speedup.doubt else ""
    return f"× {speedup.ratio:.2f}", f"as fast as float32 in {dtype}{doubt}"
