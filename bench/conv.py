"""Convolution: verify against NumPy, then time this library and its peers in turn, layer by layer.

    python bench/conv.py                              int8 and float32, one layer of each class
    python bench/conv.py int8 --set depthwise groupwise --threads 1 2
    python bench/conv.py float32 --match "dense 3x3"  classes whose name begins so
    python bench/conv.py int8 --isa avx2              this library limited to AVX2
    python bench/conv.py --algorithms                 every algorithm that applies, and what the
                                                      choice loses against the best of them

bench/conv_layers.py has the layers, bench/conv_peers.py the peers. On a CPU with AMX, oneDNN and
OpenVINO use it by themselves. ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI in the environment takes it from
torch.

int8 is uint8 x int8 with a bias, requantized to uint8 with a scale for each output channel;
zero points are 0, as after a ReLU. G op/s counts two operations for each multiply-add of the
definition, whatever an algorithm saves. "of peak" is the fraction of the register-only rate of the
best multiply-add of the ISA (bench/peak.py), measured in the same rounds.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import conv_peers
import numpy as np
import numpy.typing as npt
import peak
import timing
from conv_layers import CLASSES, SETS, Layer
from conv_peers import Problem

import fbg

Array = npt.NDArray[Any]

X_SCALE = 0.02
CHECKED_PIXELS = 40
FAMILY = {"int8": "int8", "float32": "fp32"}
TOLERANCE = {"int8": 2e-3, "float32": 1e-5}
PEER_TOLERANCE = {"int8": 2e-2, "float32": 1e-3}  # saturating int16 sums; Winograd


def aligned(array: Array) -> Array:
    """The same array at the beginning of a cache line, as engines allocate their own."""
    room = np.empty(array.nbytes + 64, np.uint8)
    first = -room.ctypes.data % 64
    result = room[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def problem(layer: Layer, dtype: str, threads: int) -> Problem:
    rng = np.random.default_rng([layer.inputs, layer.outputs, *layer.size, *layer.kernel])
    x_shape = (1, *layer.size, layer.inputs)
    w_shape = (layer.outputs, layer.inputs // layer.groups, *layer.kernel)
    w = rng.standard_normal(w_shape, dtype=np.float32)
    if dtype == "float32":
        x = aligned(rng.standard_normal(x_shape, dtype=np.float32))
        real_bias = rng.standard_normal(layer.outputs, dtype=np.float32)
        return Problem(layer, x, w, real_bias, threads)
    w_scale = rng.uniform(0.005, 0.01, layer.outputs).astype(np.float32)
    quantized = np.clip(np.rint(24 * w), -127, 127).astype(np.int8)
    bias = rng.integers(-1000, 1000, layer.outputs, dtype=np.int32)
    # Results spread over the range of uint8, and about half of them are cut off at 0.
    y_scale = X_SCALE * 0.0075 * 24 * 147 * float(np.sqrt(layer.depth)) / 100
    pixels = aligned(rng.integers(0, 256, x_shape, dtype=np.uint8))
    return Problem(layer, pixels, quantized, bias, threads, X_SCALE, w_scale, y_scale)


def expected(p: Problem) -> tuple[Array, Array]:
    """Some output pixels, as flat indices, and what they should be, by the definition."""
    layer = p.layer
    count = int(np.prod(layer.output))
    rng = np.random.default_rng(count)
    chosen = np.unique(np.append(rng.integers(0, count, CHECKED_PIXELS), [0, count - 1]))
    padded = np.pad(p.x[0].astype(np.float64), [*((n, n) for n in layer.pads), (0, 0)])
    w = p.w.astype(np.float64).reshape(layer.groups, -1, *p.w.shape[1:])
    results = []
    for at in zip(*np.unravel_index(chosen, layer.output), strict=True):
        window = tuple(
            slice(i * layer.stride, i * layer.stride + layer.dilation * (k - 1) + 1, layer.dilation)
            for i, k in zip(at, layer.kernel, strict=True)
        )
        patch = np.moveaxis(padded[window], -1, 0).reshape(layer.groups, -1)
        sums = np.einsum("gok,gk->go", w.reshape(*w.shape[:2], -1), patch)
        results.append(sums.reshape(-1) + p.bias)
    y = np.array(results)
    if p.w_scale is not None:
        y = np.clip(np.rint(y * (p.x_scale * p.w_scale.astype(np.float64)) / p.y_scale), 0, 255)
    return chosen, y


def error_of(result: Array, p: Problem) -> float:
    """The relative error of some output pixels; NaN if the result has another size."""
    chosen, wanted = expected(p)
    if result.size != math.prod(p.layer.output) * p.layer.outputs:
        return math.nan
    got = result.reshape(-1, p.layer.outputs)[chosen].astype(np.float64)
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def packed(p: Problem) -> fbg.PackedConv:
    layer = p.layer
    geometry: dict[str, Any] = {
        "stride": layer.stride,
        "padding": layer.pads,
        "dilation": layer.dilation,
        "groups": layer.groups,
    }
    if p.w_scale is None:
        return fbg.PackedConv(p.w, dtype="float32", **geometry)
    return fbg.PackedConv(p.w, scale=p.w_scale, zero_point=0, **geometry)


def prepared(p: Problem, algorithm: str | None = None) -> fbg.PreparedConv:
    arguments: dict[str, Any] = {"shape": p.x.shape, "algorithm": algorithm}
    arguments["num_threads"] = p.threads
    if p.w_scale is None:
        return fbg.prepare(packed(p), fbg.Bias(p.bias), **arguments)
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(p.bias) >> fbg.Requantize(p.y_scale, 0)
    return fbg.prepare(packed(p), stages, x_dtype=np.uint8, scale=p.x_scale, **arguments)


def ours(p: Problem, name: str, tolerance: float, isa: str, algorithm: str | None = None) -> Any:
    """A contestant: the prepared call with an array to write to, verified."""
    limit = functools.partial(fbg.isa.limit, isa)
    with limit():
        call = prepared(p, algorithm)
        out = call(p.x)
        if not (error := error_of(out, p)) <= tolerance:
            raise SystemExit(f"conv.py: {name} is off by {error:.2e} at {p.layer.name}")
    return timing.Contestant(name, lambda: call(p.x, out), around=limit)


def peer(name: str, p: Problem, tolerance: float) -> timing.Contestant | None:
    """A contestant, or None if the package is missing, has no such layer or computes it wrongly."""
    ready = conv_peers.prepare(name, p)
    if ready is None:
        return None
    with ready.around():
        error = error_of(ready.result(), p)
    if not error <= tolerance:
        print(f"{p.layer.name}: {name} is left out, its result is off by {error:.2e}", flush=True)
        return None
    return timing.Contestant(name, ready.call, around=ready.around, sample=ready.sample)


def contest(p: Problem, dtype: str, isa: str, rivals: list[str]) -> list[timing.Contestant]:
    entrants = [ours(p, "fbg", TOLERANCE[dtype], isa)]
    names = peak.names(isa, FAMILY[dtype])
    entrants.append(peak.contestant("peak", names, p.layer.operations, p.threads))
    found = (
        peer(name, p, PEER_TOLERANCE[dtype]) for name in rivals if name.endswith(_suffix(dtype))
    )
    return entrants + [each for each in found if each is not None]


def _suffix(dtype: str) -> str:
    return "fp32" if dtype == "float32" else dtype


def best_peer(results: dict[str, timing.Result]) -> timing.Result | None:
    peers = [result for name, result in results.items() if name not in ("fbg", "peak")]
    return min(peers, key=lambda result: result.median, default=None)


def row(layer: Layer, dtype: str, results: dict[str, timing.Result]) -> list[str]:
    """A line of the table: ours, the best peer, the ratio and the least that is asked of it."""
    fbg_, best = results["fbg"], best_peer(results)
    cells = [layer.kind, layer.name, f"{fbg_.median * 1e6:.0f}"]
    cells.append(f"{layer.operations / fbg_.median * 1e-9:.0f}")
    cells.append(f"{fbg_.speedup_over(results['peak']):.2f}")
    if best is None:
        return [*cells, "", "", "", ""]
    ratio, least = fbg_.speedup_over(best), CLASSES[layer.kind][dtype == "float32"]
    return [*cells, best.name, f"{best.median * 1e6:.0f}", f"{ratio:.2f}", f"{least:.2f}"]


HEADERS = ["class", "layer", "µs", "G op/s", "of peak", "best peer", "its µs", "ratio", "wanted"]


def compare(
    layers: list[Layer], dtype: str, threads: int, arguments: Any, report: timing.Report
) -> str:
    """Race all layers of one type; a Markdown table."""
    isa = arguments.isa or fbg.isa.active()
    rivals = list(conv_peers.PEERS) if arguments.peers is None else arguments.peers
    rows, ratios = [], []
    for layer in layers:
        p = problem(layer, dtype, threads)
        case = {"layer": layer.name, "dtype": dtype, "threads": threads, "isa": isa}
        entrants = functools.partial(contest, p, dtype, isa, rivals)
        results = report.race(case, entrants, timing.rounds(arguments))
        rows.append(row(layer, dtype, results))
        if best := best_peer(results):
            ratios.append(results["fbg"].speedup_over(best))
        times = (f"{name} {result.median * 1e6:.0f}" for name, result in results.items())
        print(f"{layer.kind}, {layer.name}: {', '.join(times)} µs", flush=True)
    text = f"### {dtype}, {threads} thread{'s' * (threads > 1)}, {isa}\n\n"
    text += timing.markdown(HEADERS, rows)
    if ratios:
        mean = statistics.geometric_mean(ratios)
        text += f"\n\nTo the best peer: geometric mean {mean:.2f}, least {min(ratios):.2f}."
    return text


def choices(
    layers: list[Layer], dtype: str, threads: int, arguments: Any, report: timing.Report
) -> str:
    """Race all algorithms of each layer; what the choice loses against the best."""
    isa = arguments.isa or fbg.isa.active()
    rows = []
    for layer in layers:
        p = problem(layer, dtype, threads)
        with fbg.isa.limit(isa):
            call = prepared(p)
            modelled = {name: cost for name, cost, _ in call.trial().algorithms}
            chosen = call.algorithm
        tolerance = PEER_TOLERANCE[dtype] if dtype == "float32" else TOLERANCE[dtype]
        entrants = [ours(p, name, tolerance, isa, name) for name in modelled]
        results = timing.race(entrants, timing.rounds(arguments), timing.pause(threads))
        case = {"layer": layer.name, "dtype": dtype, "threads": threads, "isa": isa}
        report.add({**case, "mode": "algorithms"}, results)
        # Disturbances only add to times: the least of each is compared.
        best = min(result.best for result in results.values())
        loss = 1 - best / results[chosen].best
        least = min(modelled.values())
        details = ", ".join(
            f"{name} {result.best * 1e6:.0f} ({modelled[name] / least:.2f})"
            for name, result in sorted(results.items(), key=lambda item: item[1].best)
        )
        rows.append([layer.kind, layer.name, chosen, f"{100 * loss:.0f} %", details])
        print(": ".join(rows[-1]), flush=True)
    headers = ["class", "layer", "chosen", "loss", "least µs (modelled, relative)"]
    title = f"### Choice of algorithms, {dtype}, {threads} thread{'s' * (threads > 1)}, {isa}\n\n"
    return title + timing.markdown(headers, rows)


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("dtypes", nargs="*", metavar="DTYPE", help="int8, float32; default both")
    parser.add_argument("--set", choices=SETS, nargs="+", default=["layers"])
    parser.add_argument("--match", nargs="+", default=[""], help="prefixes of names of classes")
    parser.add_argument("--isa", help="limit this library; default: the machine's best")
    parser.add_argument("--peers", nargs="*", choices=conv_peers.PEERS, metavar="PEER")
    parser.add_argument("--algorithms", action="store_true", help="compare fbg's own algorithms")
    parser.add_argument("--markdown", type=Path, metavar="OUT", help="also write the tables")
    arguments = parser.parse_args()
    unknown = set(arguments.dtypes) - set(FAMILY)
    if unknown:
        parser.error(f"unknown type {', '.join(sorted(unknown))}; known: {', '.join(FAMILY)}")
    return arguments


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    report = timing.Report("conv", arguments)
    layers = list(dict.fromkeys(layer for name in arguments.set for layer in SETS[name]))
    layers = [each for each in layers if each.kind.startswith(tuple(arguments.match))]
    mode: Callable[..., str] = choices if arguments.algorithms else compare
    texts: list[str] = []
    for threads, dtype in itertools.product(arguments.threads, arguments.dtypes or list(FAMILY)):
        fbg.set_num_threads(threads)
        texts.append(mode(layers, dtype, threads, arguments, report))
        print(f"\n{texts[-1]}\n", flush=True)
        if arguments.markdown:
            arguments.markdown.write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
