"""Rooflines: what bounds a product at each M, and where int8 passes what fp32 could ever reach.

    python bench/gemm.py int32 fp32 linear --set roofline --peers --memory warm cold \\
        --isa avx2 avx512_vnni --json gemm.json
    python bench/roofline.py gemm.json --plot docs/roofline.svg

A product reads each weight once and does 2·M operations with it, so its roof is

    min(peak, 2·M / bytes of a weight · bandwidth)

Peaks are those of the JSON file. The bandwidth is measured here: that of the smallest cache that B
fits in (warm), or of memory (cold). The table answers the claim published with FBGEMM, that int32
accumulation beats the fp32 roofline at small M.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import timing

import fbg._fbg as native

# The family of the peak of each contest, and the bytes of a weight.
WEIGHTS = {"fp32": ("fp32", 4), "int32": ("int8", 1), "linear": ("int8", 1)}
SAMPLES, SECONDS = 40, 0.02
DRAM_BYTES = 128 << 20


@dataclass
class Setting:
    """One ISA limit and memory: G op/s by contest and M, peaks by family, in G op/s."""

    isa: str
    memory: str
    weights: int  # K·N
    points: dict[str, dict[int, float]] = field(default_factory=dict)
    peaks: dict[str, float] = field(default_factory=dict)

    def roof(self, contest: str, m: float, read: dict[str, float]) -> float:
        family, size = WEIGHTS[contest]
        return min(self.peaks[family], 2 * m / size * read[self.level(contest)])

    def level(self, contest: str) -> str:
        """Where B comes from."""
        return "DRAM" if self.memory == "cold" else level(self.weights * WEIGHTS[contest][1])


def caches() -> dict[str, int]:
    """Bytes of the unified caches of one core, nearest first: {"L2": …, "L3": …}."""
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, number, size = (
            (folder / name).read_text().strip() for name in ("type", "level", "size")
        )
        if kind == "Unified":
            found[f"L{number}"] = int(size.rstrip("K")) << 10
    return found


def level(size: int) -> str:
    return next((name for name, capacity in caches().items() if size < capacity), "DRAM")


def bandwidths() -> dict[str, float]:
    """GB/s that one core reads from each level, the best of several samples: a roof."""
    sizes = {name: capacity // 2 for name, capacity in caches().items()} | {"DRAM": DRAM_BYTES}
    return {
        name: max(native.measure_read(size, SECONDS) for _ in range(SAMPLES))
        for name, size in sizes.items()
    }


def load(path: Path) -> list[Setting]:
    """The settings of a JSON file of bench/gemm.py, for one thread and one B."""
    settings: dict[tuple[str, str], Setting] = {}
    for result in json.loads(path.read_text())["results"]:
        *kind, isa = result["contestant"].split()
        if result["threads"] != 1 or not kind or result["contest"] not in WEIGHTS:
            continue
        m, weights = result["m"], result["n"] * result["k"]
        setting = settings.setdefault(
            (isa, result["memory"]), Setting(isa, result["memory"], weights)
        )
        if setting.weights != weights:
            raise SystemExit(f"roofline.py: {path} has more than one B; use --set roofline")
        rate = 2e-9 * m * weights / result["median_s"]
        if kind[0] == "peak":
            setting.peaks[kind[1]] = max(rate, setting.peaks.get(kind[1], 0.0))
        else:
            setting.points.setdefault(kind[0], {})[m] = rate
    return list(settings.values())


def verdict(setting: Setting, read: dict[str, float]) -> str:
    """Markdown: every M of int32 beside what fp32 reaches and could reach."""
    rows = []
    for m, rate in setting.points["int32"].items():
        roof = setting.roof("fp32", m, read)
        rows.append(
            [
                str(m),
                f"{roof:.0f}",
                f"{setting.points['fp32'][m]:.0f}",
                f"{rate:.0f}",
                f"{rate / roof:.2f}",
                f"{setting.points['linear'][m] / roof:.2f}",
            ]
        )
    title = (
        f"### {setting.isa}, {setting.memory}: fp32 from {setting.level('fp32')}, "
        f"int8 from {setting.level('int32')}"
    )
    headers = ["M", "fp32 roof", "fp32", "int32", "int32 / roof", "linear / roof"]
    return f"{title}\n\n{timing.markdown(headers, rows)}"


def curve(setting: Setting, contest: str, read: dict[str, float], ms: Iterable[float]) -> Any:
    return [setting.roof(contest, m, read) for m in ms]


def plot(settings: list[Setting], read: dict[str, float], path: Path) -> None:
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "fbg", "svg.fonttype": "none"})  # stable, small
    columns = sorted({setting.memory for setting in settings}, reverse=True)  # warm, cold
    isas = list(dict.fromkeys(setting.isa for setting in settings))
    figure, axes = pyplot.subplots(
        len(isas), len(columns), figsize=(9, 3.4 * len(isas)), sharex=True, sharey=True,
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for setting in settings:
        axis = axes[isas.index(setting.isa)][columns.index(setting.memory)]
        ms = sorted(setting.points["int32"])
        grid = [ms[0] * (ms[-1] / ms[0]) ** (step / 200) for step in range(201)]
        for contest, color in (("int32", "tab:blue"), ("fp32", "tab:red")):
            label = f"{WEIGHTS[contest][0]} roof ({setting.level(contest)})"
            axis.plot(grid, curve(setting, contest, read, grid), color=color, lw=1, label=label)
        styles = {"int32": ("tab:blue", "o"), "linear": ("tab:cyan", "s"), "fp32": ("tab:red", "^")}
        for contest, (color, marker) in styles.items():
            points = setting.points[contest]
            axis.plot(ms, [points[m] for m in ms], marker, color=color, ms=4, label=contest)
        axis.set(xscale="log", yscale="log", title=f"{setting.isa}, {setting.memory}")
        axis.set_xticks(ms, [str(m) for m in ms], minor=False, fontsize=7)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.supxlabel("M")
    figure.supylabel("G op/s, one thread")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", type=Path, help="from gemm.py --set roofline --json")
    parser.add_argument("--plot", type=Path, metavar="OUT", help="write the plot (.svg or .png)")
    arguments = parser.parse_args()
    settings = load(arguments.json)
    read = bandwidths()
    print("Reading, GB/s: " + ", ".join(f"{name} {rate:.0f}" for name, rate in read.items()))
    for setting in settings:
        print(f"\n{verdict(setting, read)}")
    if arguments.plot:
        plot(settings, read, arguments.plot)


if __name__ == "__main__":
    main()
