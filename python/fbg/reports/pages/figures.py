"""The figures of pages: matplotlib's drawings as markup that takes the page's fonts and colours.

Text stays text, and takes the colour of the text around it; the colours of series are variables of
the style sheet. So a figure fits light and dark pages alike, and its words can be found.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from fbg.reports.measuring import threads_text
from fbg.reports.pages.page import printable
from fbg.reports.plots import (
    Panels,
    draw_embeddings,
    draw_hidden_states,
    draw_stacks,
    require_matplotlib,
)

if TYPE_CHECKING:
    from fbg.reports.benchmark import Benchmark
    from fbg.reports.comparison import Comparison
    from fbg.reports.profiling import Profile
    from fbg.runtime.reports import PlanReport

TEXT = "#000001"  # stands for the colour of the text around the figure
# They stand for the variables --c0 to --c7 of the style sheet.
SERIES = tuple(f"#00000{digit}" for digit in range(2, 10))
LONGEST = 48  # characters of a label
LOSSY = SERIES[1:]  # the first one is float32's
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fbg",
    "text.usetex": False,
    "text.parse_math": False,  # names may contain dollars
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "legend.frameon": False,
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), TEXT
    ),
}
SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FONT = re.compile(r"font(: [^;]*?px |-family: )[^;]*")
Draw = Callable[[list[Any]], None]


def _svg(name: str, label: str, panels: int, draw: Draw, height: float = 3.2) -> str:
    """Return a figure of panels side by side; name: prefix of its ids, unique on a page."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(SETTINGS):
        figure = Figure(figsize=(10.0, height), layout="constrained")
        draw([figure.add_subplot(1, panels, n + 1) for n in range(panels)])
        figure.patch.set_visible(False)
        for axes in figure.axes:
            axes.patch.set_visible(False)
        content = io.BytesIO()
        figure.savefig(content, format="svg")
    return _inline(content.getvalue(), name, label)


def _inline(content: bytes, name: str, label: str) -> str:
    """Return markup for a page: ids that are its own, its colours and fonts, no metadata."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(content)
    for child in list(root):
        if child.tag.endswith("}metadata"):
            root.remove(child)
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-label", printable(label))
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{name}-{value}")
            elif key == f"{{{XLINK}}}href":
                element.set(key, value.replace("#", f"#{name}-"))
            elif key in ("style", "clip-path", "fill", "stroke"):
                element.set(key, _restyled(value.replace("url(#", f"url(#{name}-")))
    return ElementTree.tostring(root, encoding="unicode")


def _restyled(style: str) -> str:
    style = FONT.sub(r"font\1system-ui, sans-serif", style).replace(TEXT, "currentColor")
    for number, color in enumerate(SERIES):
        style = style.replace(color, f"var(--c{number})")
    return style


def accuracy(report: Comparison) -> str:
    """Draw the losses of dtypes: cosines of embeddings, errors of hidden states."""

    def draw(axes: list[Any]) -> None:
        draw_embeddings(axes[0], report, LOSSY)
        draw_hidden_states(axes[1], report, LOSSY)
        for each in axes:
            _plain_powers(each.yaxis)

    return _svg("accuracy", "Accuracy of embeddings and of hidden states", 2, draw)


def latency(report: Benchmark) -> str:
    """Draw the time of a call against its tokens, a panel for each number of threads."""
    counts = list(dict.fromkeys(row.threads for row in report.latencies))

    def draw(panels: list[Any]) -> None:
        for axes, count in zip(panels, counts, strict=True):
            rows = [row for row in report.latencies if row.threads == count]
            lengths = sorted({row.tokens for row in rows})
            for n, dtype in enumerate(dict.fromkeys(row.dtype for row in rows)):
                own = sorted((row.tokens, 1e3 * row.median) for row in rows if row.dtype == dtype)
                color = SERIES[n % len(SERIES)]
                axes.plot(*zip(*own, strict=True), "o-", color=color, label=dtype)
            axes.set(xscale="log", yscale="log", xlabel="tokens", title=threads_text(count))
            _plain_ticks(axes, lengths)
            axes.legend()
        panels[0].set_ylabel("ms")
        _same_heights(panels)

    return _svg("latency", "Milliseconds of a call by tokens", len(counts), draw)


def layers(profiles: Sequence[Profile]) -> str:
    """Draw the share of each layer in the time of a run, a line for each run."""

    def draw(panels: list[Any]) -> None:
        axes = panels[0]
        names = [part.name.removeprefix("layer ") for part in profiles[0].layers]
        for n, p in enumerate(profiles):
            shares = [100 * part.share for part in p.layers]
            style = "o-" if n < len(SERIES) else "s:"
            color = SERIES[n % len(SERIES)]
            axes.plot(range(len(names)), shares, style, markersize=4, color=color, label=p.label)
        axes.set_xticks(range(len(names)), names, rotation=0 if len(names) < 20 else 90)
        axes.set(ylabel="% of the time", xlabel="layer")
        axes.set_ylim(bottom=0)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    return _svg("layers", "Share of each layer in the time of a run", 1, draw)


def stacked_bars(name: str, label: str, panels: Panels, unit: str) -> str:
    """Draw horizontal bars: panels by title, of bars by name, of lengths by part."""
    most = max(len(bars) for bars in panels.values())

    def draw(places: list[Any]) -> None:
        draw_stacks(places, panels, unit, SERIES, _short)

    return _svg(name, label, len(panels), draw, height=2.2 + 0.25 * most)


def bars(name: str, label: str, panels: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """Draw horizontal bars: panels by title, of lengths by name; the first is on top."""
    nested = {
        title: {key: {"": length} for key, length in lengths.items()}
        for title, lengths in panels.items()
    }
    return stacked_bars(name, label, nested, unit)


def errors(name: str, label: str, values: Sequence[float], unit: str) -> str:
    """Draw a figure for each node, in their order, on a logarithmic scale."""

    def draw(panels: list[Any]) -> None:
        places = range(1, len(values) + 1)
        panels[0].plot(places, np.maximum(values, 1e-9), "o-", markersize=4, color=SERIES[0])
        panels[0].set(yscale="log", xlabel="node, in the order of the table", ylabel=unit)
        _plain_powers(panels[0].yaxis)

    return _svg(name, label, 1, draw, height=2.6)


def arena(plan: PlanReport) -> str:
    """Draw which part of the arena each op writes, and which is its scratch memory."""

    def draw(panels: list[Any]) -> None:
        axes = panels[0]
        kib = 1 / 1024
        kinds = {
            "output": [(n, op.offset, op.bytes) for n, op in enumerate(plan.ops)],
            "scratch memory": [
                (n, op.scratch_offset, op.scratch_bytes) for n, op in enumerate(plan.ops)
            ],
        }
        for color, (kind, places) in zip(SERIES, kinds.items(), strict=False):
            used = [place for place in places if place[2]]
            if used:
                at, start, size = zip(*used, strict=True)
                axes.bar(
                    at, np.array(size) * kib, 0.9, np.array(start) * kib, color=color, label=kind
                )
        axes.set(xlabel="op, in the order of the plan", ylabel="KiB from the start of the arena")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))

    return _svg("arena", "The arena: what each op uses", 1, draw)


def _short(name: str) -> str:
    """Return a name cut to the room beside a bar."""
    return printable(name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…")


def _plain_ticks(axes: Any, lengths: Sequence[int]) -> None:
    """Label a logarithmic axis with the lengths themselves."""
    from matplotlib.ticker import NullLocator

    axes.set_xticks(lengths, [str(length) for length in lengths])
    axes.xaxis.set_minor_locator(NullLocator())
    _plain_powers(axes.yaxis)


def _plain_powers(axis: Any) -> None:
    """Label the powers of ten of a logarithmic axis, and 2 and 5 times them, without formulas."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=9))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _same_heights(panels: Sequence[Any]) -> None:
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
