"""Winograd's convolution: speed over n on the layers of networks, what the cost model says, errors.

    python bench/winograd.py                    every layer, one thread
    python bench/winograd.py --match ResNet
    python bench/winograd.py --errors           the error of each F(n, k), for several k

For each layer, the direct algorithm (taps) and all sizes of Winograd that apply run in turn. The
table has the gain of each over the direct one, measured, and of the chosen one also as the cost
model has it. "loss" is what the choice loses against the best; "of peak" counts the multiply-adds
of the definition, so that it may exceed 1. MobileNet has no layer for it: its kernels of 3x3 are
depthwise or have stride 2.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import comparison
import numpy as np
import numpy.typing as npt
import peak
import timing

import fbg

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Layer:
    """A dense convolution with stride 1 whose output has the size of its input."""

    network: str
    inputs: int
    outputs: int
    size: int
    kernel: tuple[int, int] = (3, 3)

    @property
    def name(self) -> str:
        height, width = self.kernel
        return f"{height}×{width} {self.inputs}→{self.outputs}, {self.size}²"

    @property
    def operations(self) -> float:
        taps = self.kernel[0] * self.kernel[1]
        return 2.0 * self.size**2 * self.outputs * self.inputs * taps


LAYERS = [
    Layer("ResNet", 64, 64, 56),
    Layer("ResNet", 128, 128, 28),
    Layer("ResNet", 256, 256, 14),
    Layer("ResNet", 512, 512, 7),
    Layer("Inception-v3", 32, 32, 147),
    Layer("Inception-v3", 32, 64, 147),
    Layer("Inception-v3", 80, 192, 71),
    Layer("Inception-v3", 48, 64, 35, (5, 5)),
    Layer("Inception-v3", 64, 96, 35),
    Layer("Inception-v3", 96, 96, 35),
    Layer("Inception-v3", 128, 128, 17, (1, 7)),
    Layer("Inception-v3", 128, 192, 17, (7, 1)),
    Layer("Inception-v3", 192, 192, 17, (1, 7)),
    Layer("Inception-v3", 192, 192, 17, (7, 1)),
    Layer("Inception-v3", 384, 384, 8, (1, 3)),
    Layer("Inception-v3", 384, 384, 8, (3, 1)),
    Layer("Inception-v3", 448, 384, 8),
    Layer("SqueezeNet", 16, 64, 55),
    Layer("SqueezeNet", 32, 128, 27),
    Layer("SqueezeNet", 48, 192, 13),
    Layer("SqueezeNet", 64, 256, 13),
]
TOLERANCE = 1e-3  # of the standard deviation


def operands(layer: Layer) -> tuple[Array, Array, fbg.PackedConv]:
    rng = np.random.default_rng([layer.inputs, layer.outputs, layer.size])
    x = rng.standard_normal((1, layer.size, layer.size, layer.inputs), dtype=np.float32)
    w = rng.standard_normal((layer.outputs, layer.inputs, *layer.kernel), dtype=np.float32)
    padding = tuple(k // 2 for k in layer.kernel)
    return x, w, fbg.PackedConv(w, padding=padding, dtype="float32")


def contestants(layer: Layer, threads: int) -> tuple[list[timing.Contestant], dict[str, float]]:
    """The direct algorithm and Winograd's, verified against it, and their modelled costs."""
    x, _, wc = operands(layer)
    stages = fbg.Bias(np.zeros(layer.outputs, np.float32)) >> fbg.ReLU()
    costs = {a.name: a.cost for a in wc.algorithms(x.shape)}
    entrants, expected = [], None
    for name in ["implicit_gemm", *sorted(n for n in costs if n.startswith("winograd"))]:
        call = fbg.prepare(wc, stages, shape=x.shape, algorithm=name, num_threads=threads)
        out = call(x)
        expected = out.copy() if expected is None else expected
        if np.abs(out - expected).max() > TOLERANCE * expected.std():
            raise SystemExit(f"winograd.py: {name} is wrong at {layer.name}")
        entrants.append(timing.Contestant(name, functools.partial(call, x, out)))
    entrants.append(
        peak.contestant("peak", peak.names(fbg.isa.active(), "fp32"), layer.operations, threads)
    )
    return entrants, costs


def row(
    layer: Layer, chosen: str, results: dict[str, timing.Result], costs: dict[str, float]
) -> list[str]:
    direct = results["implicit_gemm"]
    algorithms = {name: r for name, r in results.items() if name != "peak"}
    best = min(algorithms.values(), key=lambda result: result.median)
    cells = [layer.network, layer.name, f"{direct.median * 1e6:.0f}"]
    for n in range(2, 7):
        result = results.get(f"winograd{n}")
        cells.append("" if result is None else f"{result.speedup_over(direct):.2f}")
    cells += [chosen, f"{costs['implicit_gemm'] / costs[chosen]:.2f}"]
    cells.append(f"{100 * (1 - results[chosen].speedup_over(best)):.0f} %")
    return [*cells, f"{results[chosen].speedup_over(results['peak']):.2f}"]


HEADERS = [
    "network", "layer", "direct, µs", "n = 2", "3", "4", "5", "6", "chosen", "modelled", "loss",
    "of peak",
]  # fmt: skip


def speed(layers: list[Layer], threads: int, arguments: Any, report: timing.Report) -> str:
    rows = []
    for layer in layers:
        entrants, costs = contestants(layer, threads)
        results = timing.race(entrants, timing.rounds(arguments), timing.pause(threads))
        report.add({"layer": layer.name, "threads": threads}, results)
        names = [e.name for e in entrants if e.name != "peak"]
        rows.append(row(layer, min(names, key=costs.__getitem__), results, costs))
        print(" ".join(rows[-1]), flush=True)
    title = f"### Winograd over n, {threads} thread{'s' * (threads > 1)}, {fbg.isa.active()}\n\n"
    return title + timing.markdown(HEADERS, rows)


def errors(report: timing.Report) -> str:
    """Errors relative to the standard deviation of the outputs; normal pixels and weights."""
    for k, inputs in itertools.product((2, 3, 5), (64, 512)):
        rng = np.random.default_rng(k)
        x = rng.standard_normal((1, 26, 26, inputs), dtype=np.float32)
        w = rng.standard_normal((32, inputs, k, k), dtype=np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(x[0].astype(np.float64), (k, k), (0, 1))
        exact = np.einsum("yxiab,oiab->yxo", windows, w.astype(np.float64), optimize=True)
        wc = fbg.PackedConv(w, dtype="float32")
        names = sorted(a.name for a in wc.algorithms(x.shape) if "winograd" in a.name)
        for name in ["implicit_gemm", *names]:
            error = np.abs(fbg.conv(x, wc, algorithm=name)[0] - exact) / exact.std()
            rms = float(np.sqrt((error**2).mean()))
            case = {"kernel": f"{k}×{k}", "channels": inputs, "algorithm": name}
            report.put(case, [case | {"largest error": float(error.max()), "rms": rms}])
    return comparison.text(report.rows({}))


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--errors", action="store_true", help="errors instead of speed")
    parser.add_argument("--match", default="", help="how names of networks begin")
    arguments = parser.parse_args()
    report = timing.Report("winograd", arguments)
    if arguments.errors:
        print(errors(report))
        return
    timing.use_clock(arguments)
    layers = [layer for layer in LAYERS if layer.network.startswith(arguments.match)]
    for threads in arguments.threads:
        fbg.set_num_threads(threads)
        print(f"\n{speed(layers, threads, arguments, report)}\n", flush=True)


if __name__ == "__main__":
    main()
