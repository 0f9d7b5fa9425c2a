"""Products: verify against NumPy, then time this library and its peers in turn, shape by shape.

    python bench/products.py                          every contest, each over its own shapes
    python bench/products.py linear                   dynamic int8 against torch and onnxruntime
    python bench/products.py fp32 int32 --isa all --memory warm cold --threads 1 2
    python bench/products.py int32 --shapes 64,768,768      or --set bert_base square
    python bench/products.py int32 --over N --range 640 896 --shape 64,768,768
    python bench/products.py layers --isa avx2 avx512       without VNNI
    python bench/products.py calls                          where the time of a small one goes

    linear    fbg.linear(f32, PackedB) with bias: quantize rows, multiply, dequantize
    fp32      float32 A and B, prepared
    bf16      bfloat16 A and B, prepared
    int32     uint8 A, int8 B, prepared: the integers, no output pipeline
    acc16     int16 accumulation against int32, both requantized to uint8, as the shapes of
              GEMM_ACC16 were published: weights within [-4, 4] but for one in a thousand, zero
              points on both sides (row offsets)
    int4      fbg.linear with int4 weights in groups, and with int8 ones as the rival
    offsets   the same with groups that have an offset beside their scale
    strassen  float32 by one and two levels of Strassen's algorithm; the rival is the product
    layers    all linear layers of MiniLM, and uniform weights: int32 and int16 against fp32
    calls     linear, gemm and prepare by layers of the library, in microseconds

Prepared: ``fbg.prepare`` once, then ``call(x, out)``, as peers have a session or a module.
--memory cold: calls rotate over copies of the weights that exceed the last-level cache 1.5 times,
so that B comes from DRAM, with peers as well. A and C stay warm. With --over, a size is flagged
whose G op/s are below 0.8 of the line between its neighbours at ±8; the exit status is the number
of flags, at most 100. "of peak" is the fraction of the best register-only rate of the instructions
that an ISA allows (bench/peaks.py), measured in the same rounds.
"""

import argparse
import itertools
import math
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import material
import numpy as np
import numpy.typing as npt
import peaks
import peers
import shapes
import timing

import fbg
import fbg._fbg as native

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]
Call = Callable[[], Any]
Make = Callable[[], Call]  # each call has packed weights of its own
CHECKED_ROWS = 200
DISTANCE, LEAST = 8, 0.8  # of the neighbours of a size, and the fraction of their line
RANGES = {"M": (1, 136), "N": (704, 832), "K": (704, 832)}


@dataclass(frozen=True)
class Operands:
    """A (M, K) and B (K, N) of one shape, and some rows of what their product should be.

    quantization: keywords of PackedB for B as it is. bias: (N,) float32 of a linear layer.
    """

    a: Array
    b: Array
    expected: Array
    quantization: dict[str, Any]
    bias: Array | None = None

    def error(self, result: Array) -> float:
        """Relative error (Frobenius) of the checked rows."""
        checked = result[rows_to_check(len(self.a))].astype(np.float64)
        return float(np.linalg.norm(checked - self.expected) / np.linalg.norm(self.expected))


def rows_to_check(m: int) -> Array:
    return np.unique(np.linspace(0, m - 1, min(m, CHECKED_ROWS)).astype(int))


def product(a: Array, b: Array) -> Array:
    """float64: exact for integers of this size."""
    result: Array = a[rows_to_check(len(a))].astype(np.float64) @ b.astype(np.float64)
    return result


def floats(shape: Shape) -> Operands:
    (m, n, k), rng = shape, np.random.default_rng(shape)
    a, b = (rng.standard_normal(size, dtype=np.float32) for size in ((m, k), (k, n)))
    return Operands(a, b, product(a, b), {})


def with_bias(shape: Shape) -> Operands:
    plain = floats(shape)
    bias = np.random.default_rng(shape).standard_normal(shape[1], dtype=np.float32)
    return Operands(plain.a, plain.b, plain.expected + bias, {}, bias)


def integers(shape: Shape) -> Operands:
    (m, n, k), rng = shape, np.random.default_rng(shape)
    a = rng.integers(0, 256, (m, k), dtype=np.uint8)
    b = rng.integers(-128, 128, (k, n), dtype=np.int8)
    return Operands(a, b, product(a, b), {"scale": 1.0, "zero_point": 0})


A_SCALE, A_ZERO_POINT, B_SCALE, B_ZERO_POINT = 0.05, 110, 0.01, 1
OUTLIERS, OUT_ZERO_POINT = 0.001, 120


def out_scale(k: int) -> float:
    """Return a uint8 scale: results fill most of the range, and no sum is a tie."""
    return A_SCALE * B_SCALE * 2 * float(np.sqrt(k) * np.e)


def small_weights(shape: Shape) -> Operands:
    (m, n, k), rng = shape, np.random.default_rng(shape)
    a = rng.integers(0, 256, (m, k), dtype=np.uint8)
    b = rng.integers(-4, 5, (k, n), dtype=np.int8)
    outliers = rng.random((k, n)) < OUTLIERS
    b[outliers] = rng.integers(-128, 128, int(outliers.sum()), dtype=np.int8)
    sums = product(a.astype(np.int16) - A_ZERO_POINT, b.astype(np.int16) - B_ZERO_POINT)
    real = sums * (A_SCALE * B_SCALE / out_scale(k))
    expected = np.clip(np.rint(real) + OUT_ZERO_POINT, 0, 255)
    return Operands(a, b, expected, {"scale": B_SCALE, "zero_point": B_ZERO_POINT})


# --- This library's ways ------------------------------------------------------------------------
def linear(o: Operands, **packing: Any) -> Make:
    packed = fbg.PackedB(o.b, **packing)

    def make() -> Call:
        own = fbg.PackedB._from_block(packed._native.block.copy())
        return lambda: fbg.linear(o.a, own, o.bias)

    return make


def int32(o: Operands) -> Make:
    return prepared(o, o.a, {"packer": fbg.PackA}, **o.quantization)


def fp32(o: Operands) -> Make:
    return prepared(o, o.a, {}, dtype="float32")


def strassen(o: Operands, algorithm: str) -> Make:
    """Return the product as a pointwise convolution, whose pixels are the rows of A."""

    def make() -> Call:
        packed, x = fbg.PackedConv(o.b.T[:, :, None], dtype="float32"), o.a[None]
        call = fbg.prepare(packed, shape=x.shape, algorithm=algorithm)
        out = np.empty(call.output_shape, call.dtype)
        return lambda: call(x, out)[0]

    return make


def bf16(o: Operands) -> Make:
    import ml_dtypes

    rounded = o.a.astype(ml_dtypes.bfloat16)
    return prepared(o, rounded, {"x_dtype": "bfloat16"}, dtype="bfloat16")


def requantized(o: Operands, **packing: Any) -> Make:
    preparing = {
        "packer": fbg.PackAWithRowOffset,
        "scale": A_SCALE,
        "zero_point": A_ZERO_POINT,
        "pipeline": fbg.Requantize(out_scale(o.a.shape[1]), OUT_ZERO_POINT),
    }
    return prepared(o, o.a, preparing, **o.quantization, **packing)


def prepared(o: Operands, a: Array, preparing: dict[str, Any], **packing: Any) -> Make:
    out: list[Array] = []  # shared by the copies of cold runs

    def make() -> Call:
        call = fbg.prepare(fbg.PackedB(o.b, **packing), rows=len(a), **preparing)
        out.append(call(a) if not out else out[0])
        return lambda: call(a, out[0])

    return make


@dataclass(frozen=True)
class Contest:
    """One comparison: see the list at the head of this file.

    tolerance: of `Operands.error`; 0 for integers. peaks: families of bench/peaks.py. leads: ours
    that the others are rivals of; by default the first. isa: the limit, if none is named.
    """

    operands: Callable[[Shape], Operands]
    tolerance: float
    ours: dict[str, Callable[[Operands], Make]]
    peaks: tuple[str, ...]
    peers: tuple[str, ...]
    sets: tuple[str, ...]
    weight_bytes: float = 1
    isa: str | None = None
    leads: tuple[str, ...] = ()


BERT = ("bert_base", "bert_large")
INT8 = ("torch-int8", "torch-onednn-int8", "ort-int8")
FP32 = ("numpy-fp32", "torch-fp32", "ort-fp32")
GROUPS = (32, 64, 128)


def int4(**more: Any) -> Contest:
    ways = {f"int4:{n}": partial(linear, dtype="int4", group=n, **more) for n in GROUPS}
    ours: dict[str, Callable[[Operands], Make]] = {**ways, "int8": linear}
    sets = ("few_rows", "many_rows")
    return Contest(floats, 0.3, ours, (), (), sets, 0.5, leads=tuple(ways))


CONTESTS = {
    "linear": Contest(
        with_bias, 0.05, {"linear": linear}, ("int8",), INT8, ("float_io", "square", *BERT)
    ),
    "fp32": Contest(floats, 1e-5, {"fp32": fp32}, ("fp32",), FP32, BERT, 4),
    "bf16": Contest(floats, 0.01, {"bf16": bf16}, ("bf16",), ("torch-bf16",), BERT, 2),
    "int32": Contest(integers, 0.0, {"int32": int32}, ("int8",), (), ("bert_blocks",)),
    "acc16": Contest(
        small_weights,
        1e-3,
        {"int16": partial(requantized, accum="int16"), "int32-requantized": requantized},
        ("int16", "int8"),
        (),
        ("acc16",),
        isa="avx2",
    ),
    "int4": int4(),
    "offsets": int4(symmetric=False),
    "strassen": Contest(
        floats,
        1e-4,
        {name: partial(strassen, algorithm=name) for name in ("strassen1", "strassen2")}
        | {"product": fp32},
        ("fp32",),
        (),
        ("large",),
        4,
        leads=("strassen1", "strassen2"),
    ),
}
ALONE = ("int4", "offsets", "strassen", "layers", "calls")  # measured only if they are named
# How the names of our contestants begin that lead a contest.
LEADS = tuple(
    name for each in CONTESTS.values() for name in each.leads or (f"{next(iter(each.ours))} ",)
)


def copies(shape: Shape, weight_bytes: float, memory: str) -> int:
    """How many copies of the weights the calls of a contestant rotate over."""
    if memory == "warm":
        return 1
    last = max(peaks.caches().values())
    return 1 + math.ceil(1.5 * last / (shape[1] * shape[2] * weight_bytes))


def verified(call: Call, operands: Operands, tolerance: float, name: str) -> Call:
    error = operands.error(peers.as_float(call()))
    if not error <= tolerance:
        where = f"A {operands.a.shape}, B {operands.b.shape}"
        raise SystemExit(f"products.py: {name} is off by {error:.2e} at {where}")
    return call


def field(
    contest: Contest,
    shape: Shape,
    isas: list[str],
    threads: int,
    memory: str,
    rivals: Iterable[str],
) -> Iterator[timing.Contestant]:
    """Everything that runs for one shape: our ways under each ISA, the peaks, the peers."""
    operands = contest.operands(shape)
    count = copies(shape, contest.weight_bytes, memory)
    for (way, prepare), isa in itertools.product(contest.ours.items(), isas):
        limit = partial(fbg.isa.limit, isa)
        with limit():  # packing as well: int16 is kept only where it is the faster way
            call = peers.rotate(prepare(operands), count)
            verified(call, operands, contest.tolerance, f"{way} {isa}")
        yield timing.Contestant(f"{way} {isa}", call, around=limit)
    for isa, family in itertools.product(isas, contest.peaks):
        if names := peaks.names(isa, family):
            operations = 2.0 * math.prod(shape)
            yield peaks.contestant(f"peak {family} {isa}", names, operations, threads)
    case = peers.Product(operands.a, operands.b, operands.bias, threads, count)
    yield from peers.contestants("PRODUCTS", rivals, case, operands.error, contest.tolerance)


def limits(arguments: argparse.Namespace, otherwise: str | None) -> list[str]:
    if arguments.isa == ["all"]:
        return list(fbg.isa.supported())
    named: list[str] | None = arguments.isa
    return named or [otherwise or fbg.isa.active()]


def cases(arguments: argparse.Namespace, names: list[str]) -> Iterator[timing.Case]:
    for threads, memory, name in itertools.product(arguments.threads, arguments.memory, names):
        fbg.set_num_threads(threads)
        if name == "layers":
            yield from layers(arguments)
            continue
        contest = CONTESTS[name]
        rivals = contest.peers if arguments.peers is None else arguments.peers
        sets = [shapes.SETS[key] for key in arguments.set or contest.sets]
        for m, n, k in arguments.shapes or dict.fromkeys(itertools.chain(*sets)):
            case = {"contest": name, "threads": threads, "memory": memory, "m": m, "n": n, "k": k}
            isas = limits(arguments, contest.isa)
            yield timing.Case(
                case, partial(field, contest, (m, n, k), isas, threads, memory, rivals)
            )


# --- Speed over one dimension, so that no M, N or K falls off a cliff ---------------------------
def sweep(arguments: argparse.Namespace, names: list[str], report: timing.Report) -> int:
    """Time all sizes in turn; return how many are flagged."""
    over: str = arguments.over
    low, high = arguments.range or RANGES[over]
    axis, total = "MNK".index(over), 0
    for threads, name in itertools.product(arguments.threads, names):
        fbg.set_num_threads(threads)
        contest = CONTESTS[name]
        for isa in limits(arguments, contest.isa):
            entrants, sizes = [], {}
            with fbg.isa.limit(isa):
                for value in range(low, high + 1):
                    sizes[value] = size = (
                        *arguments.shape[:axis],
                        value,
                        *arguments.shape[axis + 1 :],
                    )
                    operands = contest.operands(size)
                    call = next(iter(contest.ours.values()))(operands)()
                    verified(call, operands, contest.tolerance, str(size))
                    entrants.append(timing.Contestant(str(value), call))
                results = timing.race(entrants, timing.rounds(arguments), timing.pause(threads))
            rates = {v: 2e-9 * math.prod(s) / results[str(v)].median for v, s in sizes.items()}
            flags = flagged(rates)
            total += len(flags)
            case = {"contest": name, "threads": threads, "isa": isa, "over": over}
            report.add(case, results)
            rows = [[str(v), f"{rate:.1f}", flags.get(v, "")] for v, rate in rates.items()]
            title = ", ".join(f"{key} {value}" for key, value in case.items())
            print(f"\n### {title}\n\n{timing.markdown([over, 'G op/s', 'of the line'], rows)}")
            print(f"\n{len(flags)} below {LEAST} of the line between neighbours at ±{DISTANCE}")
    return min(total, 100)


def flagged(rates: dict[int, float]) -> dict[int, str]:
    """Sizes below LEAST of the line between their neighbours, and at which fraction of it."""
    found = {}
    for value, rate in rates.items():
        below, above = rates.get(value - DISTANCE), rates.get(value + DISTANCE)
        if below is not None and above is not None and 2 * rate / (below + above) < LEAST:
            found[value] = f"{2 * rate / (below + above):.2f}"
    return found


# --- Layers without VNNI ------------------------------------------------------------------------
def layers(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    """uint8 rows times all layers one after the other; fp32: the same layers in float32.

    int16 stands for the weights rounded to 4 bits as well, since at 8 bits it redirects to int32.
    """
    rng = np.random.default_rng(0)
    sizes = ([(384, 384)] * 4 + [(384, 1536), (1536, 384)]) * 6
    sources = {
        "minilm": material.minilm_layers(),
        "uniform": [rng.uniform(-1, 1, size).astype(np.float32) for size in sizes],
    }
    rows = arguments.rows
    for (source, weights), isa in itertools.product(sources.items(), limits(arguments, "avx2")):
        if isa in fbg.isa.supported():
            names = {"weights": source, "isa": isa, "rows": rows}
            yield timing.Case(names, partial(ways_of_layers, weights, rows, isa))


def four_bits(w: Array) -> Array:
    """Within ±7 by 1/99 of the largest values, which stay large: an outlier-aware rounding."""
    step = np.quantile(np.abs(w), 0.999) / 7
    rounded: Array = np.clip(np.rint(w / step), -128, 127).astype(np.int8)
    return rounded


def ways_of_layers(weights: list[Array], rows: int, isa: str) -> Iterator[timing.Contestant]:
    ways: dict[str, Callable[[Array], fbg.PackedB]] = {
        "layers in int32": lambda w: fbg.PackedB(w),
        "layers in int16, 8 bits": lambda w: fbg.PackedB(w, accum="int16"),
        "layers in int16, 4 bits": lambda w: fbg.PackedB(four_bits(w), accum="int16"),
        "fp32": lambda w: fbg.PackedB(w, dtype="float32"),
    }
    for name, pack in ways.items():
        with fbg.isa.limit(isa):
            steps = [step_of(pack(w), rows) for w in weights]
        run = partial(lambda each: [call(a, out) for call, a, out in each], steps)
        yield timing.Contestant(name, run, around=partial(fbg.isa.limit, isa))


def step_of(w: fbg.PackedB, rows: int) -> tuple[Callable[[Array, Array], Any], Array, Array]:
    x = np.random.default_rng(1).integers(0, 256, (rows, w.shape[0])).astype(np.uint8)
    a = x if w.dtype == np.int8 else x.astype(np.float32)
    call = fbg.prepare(w, rows=rows, x_dtype=a.dtype)
    out = call(a)
    if w.dtype == np.int8:
        np.testing.assert_array_equal(out[:2], x[:2].astype(int) @ w.unpack().astype(int))
    return call, a, out


# --- Where the time of a small product goes -----------------------------------------------------
def calls(report: timing.Report, rounds: int) -> None:
    """Each layer is what its callers take beyond it, all sampled in turn in one process.

    python: the public function, less the native method it calls with checked arguments. bindings:
    that native method, less the product run natively (`product_seconds`, a loop in C++). dispatch:
    the same product with K = 1, so an upper limit of the loops around the kernel. kernel: what
    grows with K, including the quantization of x. The call of an empty method is taken off first.
    """
    fbg.set_num_threads(1)
    for m, n, k in ((8, 768, 768), (1, 384, 384), (1, 16, 16)):
        results = timing.race([*ways_to_call(m, n, k), *ways_to_call(m, n, 1)[-1:]], rounds)

        def less(name: str, *others: str, results: Any = results) -> float:
            rows = zip(*(results[each].samples for each in (name, *others)), strict=True)
            return 1e6 * float(statistics.median(first - sum(rest) for first, *rest in rows))

        for name in ("linear", "gemm", "prepare"):
            beneath = "prepare" if name == "prepare" else f"native {name}"
            times = {"python": less(name, beneath), "bindings": less(beneath, "K", "nothing")}
            times |= {"dispatch": less("K = 1"), "kernel": less("K", "K = 1")}
            times |= {"outside": sum(list(times.values())[:3]), "total": less(name, "nothing")}
            case = {"M N K": f"{m} {n} {k}", "call": name}
            report.put(case, [case | {f"{key}, µs": value for key, value in times.items()}])
    print(f"{fbg.isa.active()}\n\n{comparison.text(report.rows({}))}")


def ways_to_call(m: int, n: int, k: int) -> list[timing.Contestant]:
    """Ways to multiply the same operands; the last one is the product alone, K or K = 1."""
    rng = np.random.default_rng(m + n + k)
    x = rng.standard_normal((m, k), dtype=np.float32)
    w = fbg.PackedB(rng.standard_normal((k, n), dtype=np.float32))
    bias = rng.standard_normal(n, dtype=np.float32)
    pipeline, out = fbg.Dequantize() >> fbg.Bias(bias), np.empty((m, n), np.float32)
    call = fbg.prepare(w, pipeline, rows=m, num_threads=1)

    def native_gemm() -> Any:
        operand = native.AOperand.quantized(x)
        return w._native.gemm(operand, pipeline._native, out, 1, False)

    def alone() -> float:
        once = native.product_seconds(call, x, out, 10)
        return native.product_seconds(call, x, out, max(1, int(timing.SAMPLE_SECONDS / once)))

    ways: dict[str, Call] = {
        "nothing": lambda: None,
        "linear": lambda: fbg.linear(x, w, bias, None, 1),
        "native linear": lambda: w._native.linear(x, bias, "", 1, False),
        "gemm": lambda: fbg.gemm(fbg.PackAWithQuantRowOffset(x), w, pipeline, out, 1),
        "native gemm": native_gemm,
        "prepare": lambda: call(x, out),
    }
    wanted = ways["prepare"]().copy()
    assert np.array_equal(ways["linear"](), wanted) and np.array_equal(ways["gemm"](), wanted)
    label = "K = 1" if k == 1 else "K"
    found = [timing.Contestant(name, way) for name, way in ways.items()]
    return [*found, timing.Contestant(label, sample=alone)]


def options() -> argparse.Namespace:
    def shape(text: str) -> Shape:
        m, n, k = (int(part) for part in text.split(","))
        return m, n, k

    known = (*CONTESTS, "layers", "calls")
    parser = timing.parser(__doc__)
    parser.add_argument("contests", nargs="*", metavar="CONTEST", help=", ".join(known))
    parser.add_argument("--shapes", type=shape, nargs="+", metavar="M,N,K")
    parser.add_argument("--set", choices=shapes.SETS, nargs="+", help="shapes to measure instead")
    parser.add_argument("--isa", nargs="+", help="names or all; default: the machine's best")
    parser.add_argument("--memory", choices=("warm", "cold"), nargs="+", default=["warm"])
    parser.add_argument("--peers", nargs="*", metavar="PEER", help="instead of all of a contest")
    parser.add_argument("--over", choices="MNK", help="time a range of this size instead")
    parser.add_argument("--range", type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--shape", type=shape, default=(64, 768, 768), metavar="M,N,K")
    parser.add_argument("--rows", type=int, default=128, help="of layers")
    parser.add_argument("--markdown", type=Path, metavar="OUT", help="also write the tables")
    arguments = parser.parse_args()
    if unknown := set(arguments.contests) - set(known):
        parser.error(f"unknown contest {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    return arguments


def main() -> None:
    arguments = options()
    report = timing.begin("products", arguments)
    names = arguments.contests or [name for name in CONTESTS if name not in ALONE]
    if "calls" in names:
        calls(report, timing.rounds(arguments))
    elif arguments.over:
        sys.exit(sweep(arguments, names, report))
    else:
        comparison.run(
            report, cases(arguments, names), timing.rounds(arguments), (*LEADS, "layers")
        )
        if arguments.markdown:
            text = comparison.text(report.rows({}), (*LEADS, "layers"))
            arguments.markdown.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
