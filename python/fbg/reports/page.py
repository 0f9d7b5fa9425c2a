"""A report as one page of HTML: tables and figures of the JSON that a report gives.

Each list of records in the JSON is a table, whatever it is about: a record is a row, which begins
with the dtype, the tokens and the threads of the records around it, and a field is a column.

A page needs no other file: no script, no file beside it, nothing from a network. All text is
escaped by the template, since names of models, layers and nodes come from files of other people;
figures are images, in which a browser runs nothing.
"""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fbg.errors import needed
from fbg.files import replace_file
from fbg.reports.machine import binary_size, describe_machine
from fbg.reports.measuring import noise
from fbg.reports.plots import DTYPES, color, draw_lines, draw_stacks, require_matplotlib
from fbg.reports.speedup import Speedup

if TYPE_CHECKING:
    from jinja2 import Template

LONGEST, MOST_BARS, MOST_ROWS = 48, 12, 12  # letters of a label, bars of a panel, rows at first
RUN = ("dtype", "tokens", "threads", "noisy")  # fields that a row has of the records around it
LINES = ("relative_error", "median")
HIDDEN = ("model", "path", "isa", "modelled", "operations")
SECONDS = ("median", "percentile_10", "percentile_90", "prepare", "seconds")
PARTS = ("packed_weights", "embeddings", "vectors", "derived", "arenas")
HELD = (*PARTS, "weight_bytes", "arena_bytes")
# How fields are shown: units, factors and formats.
FIELDS = {
    **dict.fromkeys((*SECONDS, "float32_seconds", "int8_seconds"), ("ms", 1e3, ".3f")),
    **dict.fromkeys((*HELD, "tensor_bytes"), ("MiB", 2.0**-20, ".2f")),
    **dict.fromkeys(("share", "of_peak", "neighbours_kept", "top_1"), ("%", 1e2, ".1f")),
    **dict.fromkeys(("mean", "minimum", "percentile_1", "percentile_5"), ("", 1.0, ".5f")),
    "cosine": ("", 1.0, ".6f"),
    "relative_error": ("", 1.0, ".2e"),
    "rate": ("G op/s", 1.0, ",.0f"),
}
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "fbg", "text.parse_math": False}


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; numeric: the first column that holds numbers.

    folded: shown only on a click.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: int = 1
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """A heading with its text, figures and tables. name: the target of links.

    figures: by caption, text that also describes them to readers who cannot see them; as data URIs.
    """

    name: str
    title: str
    text: Sequence[str]
    figures: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Page:
    """A title, its subject (text by name), highlights, and sections.

    highlights: a number with its unit, and its meaning. legend: colors by
    their meaning.
    """

    title: str
    facts: dict[str, str]
    highlights: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    notes: Sequence[str] = field(default=())
    legend: Mapping[str, str] = field(default_factory=dict)

    def html(self) -> str:
        """Return the page."""
        return _template().render(page=self)


@dataclass(frozen=True)
class View:
    """A table of records, and its figure: bars of y by x, or lines along x if y is one of LINES.

    x: fields of a record, or "#" for its place. y: "" for sizes by their names. part, panel: the
    fields that tell parts of a bar, or lines, and panels.
    """

    section: str
    caption: str
    x: str = ""
    y: str = ""
    part: str = ""
    panel: str = ""


VIEWS = {  # by the path of the records in the JSON
    "comparison": View("accuracy", "What was compared"),
    "comparison.dtypes": View("accuracy", "Embeddings against float32, and speed of encode"),
    "comparison.dtypes.layers": View("accuracy", "Layers", "layer", "relative_error", "dtype"),
    "comparison.nodes": View("accuracy", "Products", "#", "relative_error"),
    "benchmark.latencies": View("speed", "Latency", "tokens", "median", "dtype", "threads"),
    "profile.profiles.sub_layers": View("profile", "Parts", "tokens threads", "share", "name"),
    "profile.profiles.modules": View("profile", "Modules", "tokens threads", "share", "name"),
    "profile.profiles.layers": View("profile", "Layers"),
    "operators": View("profile", "Operators", "operators", "seconds", "backend", "dtype"),
    "comparison.dtypes.memory": View("memory", "Memory by dtype", "dtype"),
    "memory": View("memory", "Memory of what was examined"),
    "plans": View("memory", "Arenas of what was examined"),
    "profiles.plan": View("memory", "Memory of plans", "dtype"),
    "plans.ops": View("kernels", "Ops"),
    "profiles.plan.steps": View("kernels", "Steps"),
}
SAVED = "What was saved has one dtype, so that there is no float32 to compare it with."
TEXTS = {
    "accuracy": "How far results are from those in float32. Your own texts or inputs say more than "
    "samples and random numbers: give them with --input.",
    "speed": "The time of a run on random tokens or inputs. The dtypes took turns.",
    "profile": "Where the time goes. Rates count a multiply-add as two operations; with few tokens "
    "their limit is the reading of weights, not the peak of the instructions.",
    "memory": "Weights are packed once. An arena holds all that a run writes; tensors that are not "
    "needed at the same time share its memory.",
    "kernels": "The microkernel or algorithm of each op, chosen by the cost model or by fbg.tune.",
}


def report_page(report: Mapping[str, Any], plots: bool = True) -> Page:
    """Return the page of the JSON of a report about a model or a network.

    plots: with figures, for which matplotlib is needed.
    """
    records: dict[str, list[dict[str, Any]]] = {}
    _collect(report, "", {}, records)
    sections = []
    for name, text in TEXTS.items():
        own = [(v, records[p]) for p, v in VIEWS.items() if v.section == name and p in records]
        figures = dict(_figure(view, rows) for view, rows in own if plots and view.x)
        tables = [_table(view.caption, rows) for view, rows in own]
        texts = [text if own else SAVED]
        sections.append(Section(name, name.capitalize(), texts, figures, tables))
    benchmark, machine = report["benchmark"], describe_machine(report["machine"])
    how = f"medians of {benchmark['rounds']} rounds, {benchmark['isa']}."
    notes = [f"Measured on {date.today()} on {machine['CPU']}: {how}"]
    runs = [*records.get("profile.profiles", ()), *records.get("profiles", ())]
    noisy = [", ".join(_label(r, f) for f in RUN[:3] if f in r) for r in runs if r["noisy"]]
    notes += [noise(noisy)] if noisy else []
    about = {name.replace("_", " "): _text(value) for name, value in report["facts"].items()}
    legend = {row["dtype"]: color(row["dtype"], 0) for row in benchmark["latencies"]}
    facts = {name: text for name, text in (about | machine).items() if text}
    return Page(f"{report['model']}: report", facts, _highlights(report), sections, notes, legend)


def _collect(
    value: Any, path: str, run: Mapping[str, Any], found: dict[str, list[dict[str, Any]]]
) -> None:
    """Add the records in the JSON to those found, by their paths. run: fields of those around."""
    if isinstance(value, list | tuple):
        for each in value:
            _collect(each, path, run, found)
    elif isinstance(value, dict) and value and set(value) <= set(DTYPES):
        for dtype, each in value.items():
            _collect(each, path, {**run, "dtype": dtype}, found)
    elif isinstance(value, dict):
        found.setdefault(path, []).append({**run, **value})
        if path:
            run = {**run, **{name: value[name] for name in RUN if name in value}}
        for name, each in value.items():
            _collect(each, f"{path}.{name}".strip("."), run, found)


def _cell(name: str, value: Any) -> str:
    """Return how a field of a record is shown; "" for records in it."""
    if name == "speedup":
        return str(Speedup(**value))
    if value is None or isinstance(value, dict) or name in HIDDEN:
        return ""
    if isinstance(value, list | tuple):
        return " + ".join(each for each in value if isinstance(each, str))
    if isinstance(value, bool):
        return name.replace("_", " ") * value
    _, factor, form = FIELDS.get(name, ("", 1.0, ",.0f"))
    return value if isinstance(value, str) else format(value * factor, form)


def _table(caption: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of records with a column for each field: texts, then numbers."""
    names = dict.fromkeys(name for row in rows for name in row)
    cells = {name: [_cell(name, row.get(name)) for row in rows] for name in names}
    texts = [n for n in names if any(cells[n]) and isinstance(rows[0].get(n), str | list | tuple)]
    shown = [*texts, *(n for n in names if any(cells[n]) and n not in texts)]
    lines = list(zip(*(cells[name] for name in shown), strict=True))
    return Table(caption, [*map(_head, shown)], lines, len(texts), len(rows) > MOST_ROWS)


def _figure(view: View, rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the caption and the drawing of a figure."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    lines = view.y in LINES and (view.x == "#" or view.x in rows[0])
    panels: dict[str, dict[str, Any]] = {}
    for n, row in enumerate(rows, 1):
        panel = panels.setdefault(_label(row, view.panel), {})
        fields = [name for name in view.x.split() if name in row] or [view.part]
        x = ", ".join(_label(row, name) for name in fields)
        mark = " (noisy)" * bool(view.y and row.get("noisy"))
        held = [name for name in HELD if name in row]
        names = {_label(row, view.part): view.y} if view.y else {_head(n): n for n in held}
        for part, name in names.items():
            value = row[name] * FIELDS[name][1]
            if lines:
                panel.setdefault(part + mark, []).append((str(row.get(view.x, n)), value))
            elif x + mark in panel or len(panel) < MOST_BARS:
                panel.setdefault(x + mark, {})[part] = value
    unit = _head(view.y) if view.y else "MiB"
    height = 3.2 if lines else 2.2 + 0.25 * max(map(len, panels.values()))
    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(10.0, height), layout="constrained")
        places = list(figure.subplots(1, len(panels), squeeze=False, sharey=lines)[0])
        if lines:
            draw_lines(places, panels, view.x, unit)
        else:
            draw_stacks(places, panels, unit)
        figure.savefig(content := io.BytesIO(), format="svg", metadata={"Date": None})
    data = base64.b64encode(content.getvalue()).decode()
    return f"{view.caption}: {unit}.", f"data:image/svg+xml;base64,{data}"


def _label(row: Mapping[str, Any], name: str) -> str:
    """Return a field of a record as the name of a bar, a line or a panel."""
    value = row.get(name, "")
    text = value if isinstance(value, str) else f"{value} {name.removesuffix('s' * (value == 1))}"
    return printable(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def _head(name: str) -> str:
    unit = FIELDS.get(name, ("",))[0]
    return name.replace("_", " ") + (f", {unit}" if unit else "")


def _text(value: Any) -> str:
    """Return a fact as a line."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: ""}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)


def _highlights(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the figures at the top, each of which says of which dtype it is."""
    rows = report["benchmark"]["latencies"]
    examined = report.get("dtype", rows[-1]["dtype"])
    best = min((row for row in rows if row["dtype"] == examined), key=lambda row: row["median"])
    run = ", ".join(_label(best, name) for name in RUN[1:3] if name in best)
    found = [(f"{1e3 * best['median']:.2f} ms", f"for a run in {examined}, {run}")]
    compared = report["comparison"] or {"dtypes": []}
    for row in compared.get("dtypes", [compared]):
        if row.get("dtype", "int8") == examined != "float32":
            speedup = Speedup(**row["speedup"])
            doubt = f": {speedup.doubt}" if speedup.doubt else ""
            cosine = f"{row.get('mean', row.get('cosine')):.5f}"
            found.append((cosine, f"mean cosine of {examined} to float32"))
            found.append((f"× {speedup.ratio:.2f}", f"as fast as float32 in {examined}{doubt}"))
    held = report["memory"] if "memory" in report else report["profiles"][examined]["plan"]
    return [*found, (binary_size(sum(held.get(n, 0) for n in HELD)), f"of memory in {examined}")]


def write_page(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page to a file, whole or not at all; raises OSError."""
    with replace_file(path) as file:
        file.write(page.html().encode("utf-8"))


def printable(text: object) -> str:
    """Return the text with every character replaced that cannot be seen, or stored in a file.

    Control characters are errors in markup, and those that turn the direction of writing around
    can make a name look like another one.
    """
    return "".join(c if c.isprintable() else "�" for c in str(text))


@cache
def _template() -> Template:
    with needed("pages"):
        from jinja2 import Environment, StrictUndefined
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.finalize = printable
    source = resources.files("fbg.reports").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(source)
