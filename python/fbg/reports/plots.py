"""Pictures of the reports, with matplotlib; drawn to a file, never to a screen."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fbg.errors import needed
from fbg.files import replace_file
from fbg.matmul.weights import WEIGHT_LIMITS

if TYPE_CHECKING:
    from fbg.reports.comparison import Comparison, DtypeComparison

Panels = Mapping[str, Mapping[str, Mapping[str, float]]]  # bars by name, lengths by part
DTYPES = tuple(WEIGHT_LIMITS)  # each has its color
COLORS = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#bbbbbb", "#222222")


def require_matplotlib() -> None:
    """Raise ModuleNotFoundError that says how to install it; before hours of measuring."""
    with needed("plots"):
        import matplotlib  # noqa: F401


def _figure(panels: int) -> tuple[Any, list[Any]]:
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * panels, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, [figure.add_subplot(1, panels, n + 1) for n in range(panels)]


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    kind = os.path.splitext(path)[1].removeprefix(".")
    with replace_file(path) as file:
        figure.savefig(file, format=kind.lower() or None, dpi=120)


def plot_comparison(report: Comparison, path: str | os.PathLike[str]) -> None:
    """Draw accuracy, the error of each layer, and speed against memory."""
    figure, (embeddings, layers, speed) = _figure(3)
    lossy = report.dtypes[1:]
    names = ("mean", "5th pct", "1st pct", "min")
    cosines = {row.dtype: list(zip(names, _losses(row), strict=True)) for row in lossy}
    draw_lines([embeddings], {"embeddings": cosines}, "", "1 - cosine to float32")
    errors = {
        row.dtype: [(str(layer.layer), layer.relative_error) for layer in row.layers[1:]]
        for row in lossy
    }
    draw_lines([layers], {"hidden states": errors}, "layer", "relative error")
    dtypes = [row.dtype for row in report.dtypes]
    speed.bar(dtypes, [row.tokens_per_second for row in report.dtypes], color=COLORS[0])
    for n, row in enumerate(report.dtypes):
        size = f"{row.memory.packed_weights / 2**20:.0f} MiB"
        speed.annotate(size, (n, row.tokens_per_second), ha="center", va="bottom")
    speed.set(ylabel="tokens/s", title="speed, and size of the weights")
    _save(figure, path)


def _losses(row: DtypeComparison) -> list[float]:
    return [1 - x for x in (row.mean, row.percentile_5, row.percentile_1, row.minimum)]


def color(name: str, place: int) -> str:
    """Return the color of a line or a part: that of a dtype, or the one of its place."""
    return COLORS[(DTYPES.index(name) if name in DTYPES else place) % len(COLORS)]


def draw_lines(
    places: Sequence[Any],
    panels: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]],
    x: str,
    y: str,
) -> None:
    """Draw lines on a logarithmic scale, where values above 0 are: panels by title, of points."""
    from matplotlib.ticker import LogFormatter

    for axes, (title, lines) in zip(places, panels.items(), strict=True):
        names = list(dict.fromkeys(name for points in lines.values() for name, _ in points))
        for n, (line, points) in enumerate(lines.items()):
            shown = [(names.index(name), value) for name, value in points if value > 0]
            if shown:
                axes.plot(*zip(*shown, strict=True), "o-", color=color(line, n), label=line)
            if shown and line:
                axes.legend()
        every = len(names) // 20 + 1
        axes.set_xticks(range(0, len(names), every), names[::every])
        axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
        for formatter in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            formatter(LogFormatter())  # without formulas


def plot_stacks(panels: Panels, path: str | os.PathLike[str]) -> None:
    """Draw shares of the time as stacked bars."""
    figure, axes = _figure(len(panels))
    draw_stacks(axes, panels, "% of the time")
    _save(figure, path)


def draw_stacks(places: Sequence[Any], panels: Panels, unit: str) -> None:
    """Draw horizontal bars: panels by title, of bars by name, of lengths by part."""
    for axes, (title, bars) in zip(places, panels.items(), strict=True):
        parts = list(dict.fromkeys(part for bar in bars.values() for part in bar))
        left = np.zeros(len(bars))
        for n, part in enumerate(parts):
            lengths = np.array([bar.get(part, 0.0) for bar in bars.values()])
            faded = 1.0 if n < len(COLORS) else 0.5
            drawn = {"color": color(part, n), "alpha": faded, "label": part}
            axes.barh(range(len(bars)), lengths, 0.7, left, **drawn)
            left += lengths
        axes.set_yticks(range(len(bars)), bars)
        axes.invert_yaxis()
        axes.set(title=title, xlabel=unit)
        if len(parts) > 1:
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
    widest = max(axes.get_xlim()[1] for axes in places)
    for axes in places:
        axes.set_xlim(0, widest)
