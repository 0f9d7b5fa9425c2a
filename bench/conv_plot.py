"""Plot what bench/conv.py measured: the speedup of each layer over the fastest peer.

    python bench/conv.py --threads 1 2 --json conv.json
    python bench/conv_plot.py conv.json --plot docs/convolution.svg

A bar ends at the median over the rounds of the ratio of the fastest peer's time to this library's.
The line is parity.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import Any

OURS = ("fbg", "peak")


def speedups(rows: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, float]]:
    """The ratio of each layer by (dtype, threads)."""
    times: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for row in rows:
        if "mode" not in row:
            case = (row["dtype"], row["threads"], row["layer"])
            times.setdefault(case, {})[row["contestant"]] = row["samples_s"]
    found: dict[tuple[str, int], dict[str, float]] = {}
    for (dtype, threads, layer), by_name in times.items():
        peers = [seconds for name, seconds in by_name.items() if name not in OURS]
        if peers and "fbg" in by_name:
            best = min(peers, key=statistics.median)
            ratios = [theirs / ours for theirs, ours in zip(best, by_name["fbg"], strict=True)]
            found.setdefault((dtype, threads), {})[layer] = statistics.median(ratios)
    return found


def plot(found: dict[tuple[str, int], dict[str, float]], out: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "fbg", "svg.fonttype": "none"})  # stable, small
    import matplotlib.pyplot as plt

    dtypes = sorted({dtype for dtype, _ in found}, reverse=True)
    figure, panels = plt.subplots(1, len(dtypes), figsize=(11, 7), squeeze=False)
    for panel, dtype in zip(panels[0], dtypes, strict=True):
        groups = {threads: values for (kind, threads), values in found.items() if kind == dtype}
        layers = list(next(iter(groups.values())))
        height = 0.8 / len(groups)
        for n, (threads, values) in enumerate(sorted(groups.items())):
            places = [i + (n - (len(groups) - 1) / 2) * height for i in range(len(layers))]
            label = f"{threads} thread{'s' * (threads > 1)}"
            panel.barh(places, [values.get(x, 0) for x in layers], height, label=label)
        panel.axvline(1, color="black", linewidth=0.8)
        panel.set_yticks(range(len(layers)), layers, fontsize=7)
        panel.invert_yaxis()
        panel.set_xscale("log", base=2)
        ticks = [0.25, 0.5, 1, 2, 4]
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.set_title(f"{dtype}: speedup over the fastest peer", fontsize=9)
        panel.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", nargs="+", type=Path, help="what conv.py --json wrote")
    parser.add_argument("--plot", type=Path, default=Path("docs/convolution.svg"))
    arguments = parser.parse_args()
    rows = [row for path in arguments.json for row in json.loads(path.read_text())["results"]]
    plot(speedups(rows), arguments.plot)


if __name__ == "__main__":
    main()
