"""Convolutions: verify against NumPy, then time this library and its peers in turn, layer by layer.

    python bench/convolutions.py                            int8 and float32, a layer of each class
    python bench/convolutions.py int8 --set depthwise groupwise --threads 1 2
    python bench/convolutions.py float32 --match "dense 3x3"    classes whose name begins so
    python bench/convolutions.py int8 --isa avx2            this library limited to AVX2
    python bench/convolutions.py --algorithms               every algorithm that applies, and what
                                                            the choice loses against the best
    python bench/convolutions.py float32 --set winograd --algorithms    tile sizes of Winograd's
    python bench/convolutions.py --errors                   errors of Winograd's algorithm
    python bench/convolutions.py --json FILE --resume --plot docs/convolution.svg

bench/shapes.py has the layers. On a CPU with AMX, oneDNN and OpenVINO use it by themselves;
ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI in the environment takes it from torch.

int8 is uint8 x int8 with a bias, requantized to uint8 with a scale for each output channel;
zero points are 0, as after a ReLU. "of peak" counts two operations for each multiply-add of the
definition, whatever an algorithm saves, and is the fraction of the register-only rate of the best
multiply-add of the ISA (bench/peaks.py), measured in the same rounds.
"""

import argparse
import itertools
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import numpy.typing as npt
import peaks
import peers
import timing
from peers import Convolution
from shapes import CONVOLUTIONS, Layer

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


def problem(layer: Layer, dtype: str, threads: int) -> Convolution:
    rng = np.random.default_rng([layer.inputs, layer.outputs, *layer.size, *layer.kernel])
    x_shape = (1, *layer.size, layer.inputs)
    w_shape = (layer.outputs, layer.inputs // layer.groups, *layer.kernel)
    w = rng.standard_normal(w_shape, dtype=np.float32)
    if dtype == "float32":
        x = aligned(rng.standard_normal(x_shape, dtype=np.float32))
        real_bias = rng.standard_normal(layer.outputs, dtype=np.float32)
        return Convolution(layer, x, w, real_bias, threads)
    w_scale = rng.uniform(0.005, 0.01, layer.outputs).astype(np.float32)
    quantized = np.clip(np.rint(24 * w), -127, 127).astype(np.int8)
    bias = rng.integers(-1000, 1000, layer.outputs, dtype=np.int32)
    # Results spread over the range of uint8, and about half of them are cut off at 0.
    y_scale = X_SCALE * 0.0075 * 24 * 147 * float(np.sqrt(layer.depth)) / 100
    pixels = aligned(rng.integers(0, 256, x_shape, dtype=np.uint8))
    return Convolution(layer, pixels, quantized, bias, threads, X_SCALE, w_scale, y_scale)


def expected(p: Convolution) -> tuple[Array, Array]:
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


def error_of(p: Convolution, result: Array) -> float:
    """The relative error of some output pixels; NaN if the result has another size."""
    chosen, wanted = expected(p)
    if result.size != math.prod(p.layer.output) * p.layer.outputs:
        return math.nan
    got = result.reshape(-1, p.layer.outputs)[chosen].astype(np.float64)
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def prepared(p: Convolution, algorithm: str | None = None) -> fbg.PreparedConv:
    layer = p.layer
    geometry: dict[str, Any] = {"stride": layer.stride, "padding": layer.pads}
    geometry |= {"dilation": layer.dilation, "groups": layer.groups}
    more: dict[str, Any] = {"shape": p.x.shape, "algorithm": algorithm, "num_threads": p.threads}
    if p.w_scale is None:
        packed = fbg.PackedConv(p.w, dtype="float32", **geometry)
        return fbg.prepare(packed, fbg.Bias(p.bias), **more)
    packed = fbg.PackedConv(p.w, scale=p.w_scale, zero_point=0, **geometry)
    stages = fbg.CorrectZeroPoints() >> fbg.Bias(p.bias) >> fbg.Requantize(p.y_scale, 0)
    return fbg.prepare(packed, stages, x_dtype=np.uint8, scale=p.x_scale, **more)


def ours(
    p: Convolution, name: str, tolerance: float, isa: str, algorithm: str | None = None
) -> timing.Contestant:
    """The prepared call with an array to write to, verified."""
    limit = partial(fbg.isa.limit, isa)
    with limit():
        call = prepared(p, algorithm)
        out = call(p.x)
        if not (error := error_of(p, out)) <= tolerance:
            raise SystemExit(f"convolutions.py: {name} is off by {error:.2e} at {p.layer.name}")
    return timing.Contestant(name, lambda: call(p.x, out), around=limit)


def field(
    layer: Layer, dtype: str, threads: int, isa: str, rivals: list[str] | None
) -> Iterator[timing.Contestant]:
    p, suffix = problem(layer, dtype, threads), FAMILY[dtype]
    yield ours(p, f"fbg-{suffix}", TOLERANCE[dtype], isa)
    yield peaks.contestant("peak", peaks.names(isa, suffix), layer.operations, threads)
    named = peers.table("CONVOLUTIONS") if rivals is None else rivals
    chosen = [name for name in named if name.endswith(suffix)]
    yield from peers.contestants(
        "CONVOLUTIONS", chosen, p, partial(error_of, p), PEER_TOLERANCE[dtype]
    )


def algorithms(layer: Layer, dtype: str, threads: int, isa: str) -> Iterator[timing.Contestant]:
    """All that apply, with their modelled costs; the name of the chosen one says so."""
    p, tolerance = problem(layer, dtype, threads), max(TOLERANCE[dtype], PEER_TOLERANCE["float32"])
    with fbg.isa.limit(isa):
        call = prepared(p)
        modelled = {name: cost for name, cost, _ in call.trial().algorithms}
        chosen = call.algorithm
    for name in sorted(modelled, key=chosen.__ne__):
        label = f"chosen:{name}" if name == chosen else name
        found = ours(p, label, tolerance, isa, name)
        found.figures["modelled"] = modelled[name] / min(modelled.values())
        yield found
    yield peaks.contestant("peak", peaks.names(isa, FAMILY[dtype]), layer.operations, threads)


def errors(report: timing.Report) -> None:
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
    print(comparison.text(report.rows({})))


def plot(rows: comparison.Rows, out: Path) -> None:
    """The speedup of each layer over the fastest peer; the line is parity."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "fbg", "svg.fonttype": "none"})  # stable, small
    import matplotlib.pyplot as plt

    compared = [each for each in comparison.compare(rows) if each.rival]
    dtypes = sorted({each.case["dtype"] for each in compared}, reverse=True)
    figure, panels = plt.subplots(1, len(dtypes), figsize=(11, 7), squeeze=False)
    for panel, dtype in zip(panels[0], dtypes, strict=True):
        own = [each for each in compared if each.case["dtype"] == dtype]
        layers = list(dict.fromkeys(each.case["layer"] for each in own))
        groups = sorted({each.case["threads"] for each in own})
        height = 0.8 / len(groups)
        for n, threads in enumerate(groups):
            values = {e.case["layer"]: e.ratio for e in own if e.case["threads"] == threads}
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


def cases(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    layers = dict.fromkeys(layer for name in arguments.set for layer in CONVOLUTIONS[name])
    chosen = [each for each in layers if each.kind.startswith(tuple(arguments.match))]
    isa = arguments.isa or fbg.isa.active()
    for threads, dtype in itertools.product(arguments.threads, arguments.dtypes or FAMILY):
        fbg.set_num_threads(threads)
        for layer in chosen:
            names = {"class": layer.kind, "layer": layer.name, "dtype": dtype}
            names |= {"threads": threads, "isa": isa}
            if arguments.algorithms:
                race = partial(algorithms, layer, dtype, threads, isa)
                yield timing.Case(names | {"mode": "algorithms"}, race)
            else:
                yield timing.Case(
                    names, partial(field, layer, dtype, threads, isa, arguments.peers)
                )


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("dtypes", nargs="*", metavar="DTYPE", help="int8, float32; default both")
    parser.add_argument("--set", choices=CONVOLUTIONS, nargs="+", default=["layers"])
    parser.add_argument("--match", nargs="+", default=[""], help="prefixes of names of classes")
    parser.add_argument("--isa", help="limit this library; default: the machine's best")
    parser.add_argument("--peers", nargs="*", metavar="PEER", help="instead of all")
    parser.add_argument("--algorithms", action="store_true", help="compare fbg's own algorithms")
    parser.add_argument("--errors", action="store_true", help="errors instead of speed")
    parser.add_argument("--plot", type=Path, metavar="OUT", help="draw the speedups (.svg)")
    arguments = parser.parse_args()
    if unknown := set(arguments.dtypes) - set(FAMILY):
        parser.error(f"unknown type {', '.join(sorted(unknown))}; known: {', '.join(FAMILY)}")
    report = timing.begin("convolutions", arguments)
    if arguments.errors:
        errors(report)
        return
    leads = ("chosen",) if arguments.algorithms else comparison.OURS
    comparison.run(report, cases(arguments), timing.rounds(arguments), leads)
    if arguments.plot:
        plot(report.rows({}), arguments.plot)


if __name__ == "__main__":
    main()
