"""Pictures of the reports, with matplotlib; drawn to a file, never to a screen."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fbg.errors import needed
from fbg.files import replace_file

if TYPE_CHECKING:
    from fbg.reports.comparison import Comparison

Panels = Mapping[str, Mapping[str, Mapping[str, float]]]  # bars by name, lengths by part
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
    draw_embeddings(embeddings, report, COLORS)
    draw_hidden_states(layers, report, COLORS)
    names = [row.dtype for row in report.dtypes]
    speed.bar(names, [row.tokens_per_second for row in report.dtypes], color=COLORS[0])
    for n, row in enumerate(report.dtypes):
        size = f"{row.memory.packed_weights / 2**20:.0f} MiB"
        speed.annotate(size, (n, row.tokens_per_second), ha="center", va="bottom")
    speed.set(ylabel="tokens/s", title="speed, and size of the weights")
    _save(figure, path)


def draw_embeddings(axes: Any, report: Comparison, colors: Sequence[str]) -> None:
    """Draw how far the cosines between embeddings are from 1, a line for each dtype."""
    for n, row in enumerate(report.dtypes[1:]):
        losses = [
            1 - value for value in (row.mean, row.percentile_5, row.percentile_1, row.minimum)
        ]
        axes.plot(np.maximum(losses, 1e-9), "o-", color=colors[n], label=row.dtype)
    axes.set_xticks(range(4), ["mean", "5th pct", "1st pct", "min"])
    axes.set(yscale="log", ylabel="1 - cosine to float32", title="embeddings")
    if len(report.dtypes) > 1:
        axes.legend()


def draw_hidden_states(axes: Any, report: Comparison, colors: Sequence[str]) -> None:
    """Draw the error of the hidden states after each layer, a line for each dtype."""
    for n, row in enumerate(report.dtypes[1:]):
        errors = [max(layer.relative_error, 1e-9) for layer in row.layers[1:]]
        axes.plot(range(1, len(errors) + 1), errors, "o-", color=colors[n], label=row.dtype)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(yscale="log", xlabel="layer", ylabel="relative error", title="hidden states")
    if len(report.dtypes) > 1:
        axes.legend()


def plot_stacks(panels: Panels, path: str | os.PathLike[str]) -> None:
    """Draw shares of the time as stacked bars."""
    figure, axes = _figure(len(panels))
    draw_stacks(axes, panels, "% of the time", COLORS)
    _save(figure, path)


def draw_stacks(
    places: Sequence[Any],
    panels: Panels,
    unit: str,
    colors: Sequence[str],
    shown: Callable[[str], str] = str,
) -> None:
    """Draw horizontal bars: panels by title, of bars by name, of lengths by part.

    shown: returns how the name of a bar is written.
    """
    for axes, (title, bars) in zip(places, panels.items(), strict=True):
        parts = list(dict.fromkeys(part for bar in bars.values() for part in bar))
        left = np.zeros(len(bars))
        for n, part in enumerate(parts):
            lengths = np.array([bar.get(part, 0.0) for bar in bars.values()])
            color, faded = colors[n % len(colors)], 1.0 if n < len(colors) else 0.5
            axes.barh(range(len(bars)), lengths, 0.7, left, color=color, alpha=faded, label=part)
            left += lengths
        axes.set_yticks(range(len(bars)), [shown(bar) for bar in bars])
        axes.invert_yaxis()
        axes.set(title=title, xlabel=unit)
        if len(parts) > 1:
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize="small")
    widest = max(axes.get_xlim()[1] for axes in places)
    for axes in places:
        axes.set_xlim(0, widest)
