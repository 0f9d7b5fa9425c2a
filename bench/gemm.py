"""GEMM: verify against NumPy, then time u8 × s8 → int32, fp32 and the dynamically quantized linear.

    python bench/gemm.py                                      this library and every peer installed
    python bench/gemm.py --shapes 64,768,768 --isa avx2 --contestants int32 fp32
    python bench/gemm.py --set GEMM_FLOAT_IO                  a list of bench/shapes.py

    int32    fbg.gemm(PackA(u8), PackedB(s8)): the integers, no output pipeline
    fp32     fbg.gemm(PackA(f32), PackedB(f32))
    linear   fbg.linear(f32, PackedB): quantize rows, multiply, dequantize; what int8 peers do too

G op/s counts 2·M·N·K. "of peak" is the fraction of the best register-only rate of the instructions
an ISA allows (bench/peak.py), measured in the same rounds.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import peak
import peers
import shapes
import timing

import fbg

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]

DEFAULT: list[Shape] = [
    (64, 768, 768),
    (384, 768, 768),
    (384, 3072, 768),
    (8, 768, 768),
    (128, 768, 3072),
    (1, 768, 768),
]
FAMILY = {"int32": "int8", "linear": "int8", "fp32": "fp32"}


class Case:
    """One shape's operands, the expected results and this library's calls."""

    def __init__(self, shape: Shape, threads: int) -> None:
        m, n, k = shape
        rng = np.random.default_rng(k * n + m)
        self.threads = threads
        self.x = rng.standard_normal((m, k), dtype=np.float32)
        self.w = rng.standard_normal((k, n), dtype=np.float32)
        self.x_u8 = rng.integers(0, 256, (m, k), dtype=np.uint8)
        self.w_s8 = rng.integers(-128, 128, (k, n), dtype=np.int8)
        self.packed_s8 = fbg.PackedB(self.w_s8, scale=1.0, zero_point=0)
        self.packed_f32 = fbg.PackedB(self.w, dtype="float32")
        self.packed = fbg.PackedB(self.w)
        self.out_s32 = np.empty((m, n), np.int32)
        self.out_f32 = np.empty((m, n), np.float32)

    def calls(self) -> dict[str, Callable[[], Array]]:
        a_u8, a_f32 = fbg.PackA(self.x_u8), fbg.PackA(self.x)
        threads = self.threads

        def int32() -> Array:
            return fbg.gemm(a_u8, self.packed_s8, out=self.out_s32, num_threads=threads)

        def fp32() -> Array:
            return fbg.gemm(a_f32, self.packed_f32, out=self.out_f32, num_threads=threads)

        def linear() -> Array:
            return fbg.linear(self.x, self.packed)

        return {"int32": int32, "fp32": fp32, "linear": linear}

    def verify(self, isa: str) -> None:
        """Integers exactly (float64 holds them), floats to rounding, int8 to its quantization."""
        calls = self.calls()
        exact = self.x_u8.astype(np.float64) @ self.w_s8.astype(np.float64)
        if not np.array_equal(calls["int32"](), exact.astype(np.int64)):
            raise SystemExit(f"gemm.py: wrong integers at {self.x.shape} x {self.w.shape}, {isa}")
        product = self.x.astype(np.float64) @ self.w.astype(np.float64)
        for name, bound in (("fp32", 1e-5), ("linear", 0.02)):
            error = relative_error(calls[name](), product)
            if not error < bound:
                raise SystemExit(f"gemm.py: {name} is off by {error:.2e} at {self.w.shape}, {isa}")


def relative_error(actual: Array, expected: Array) -> float:
    return float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))


def contestants(
    case: Case, arguments: argparse.Namespace, threads: int
) -> tuple[list[timing.Contestant], dict[str, str]]:
    """Everything that runs for one shape, and which peak bounds it (by contestant name)."""
    m, k = case.x.shape
    operations = 2.0 * m * k * case.w.shape[1]
    field: list[timing.Contestant] = []
    bound: dict[str, str] = {}
    for isa in arguments.isa:
        limit = functools.partial(fbg.isa.limit, isa)
        with limit():
            case.verify(isa)
            calls = case.calls()
        wanted = [name for name in calls if name in arguments.contestants]
        for name in wanted:
            label = f"{name} {isa}"
            field.append(timing.Contestant(label, calls[name], around=limit))
            bound[label] = f"peak {FAMILY[name]} {isa}"
        for family in sorted({FAMILY[name] for name in wanted}):
            names = peak.names(isa, family)
            if names:
                label = f"peak {family} {isa}"
                field.append(peak.contestant(label, names, operations, threads))
    for name in arguments.peers:
        call = peers.gemm(name, case.x, case.w, threads)
        if call is None:
            print(f"{name}: not installed, left out")
            continue
        product = case.x.astype(np.float64) @ case.w.astype(np.float64)
        if not relative_error(call(), product) < 0.05:
            raise SystemExit(f"gemm.py: the peer {name} is wrong at {case.w.shape}")
        field.append(timing.Contestant(name, call))
    return field, bound


def table(shape: Shape, results: dict[str, timing.Result], bound: dict[str, str]) -> str:
    m, n, k = shape
    operations = 2e-9 * m * n * k
    rows = []
    for name, result in results.items():
        limit = results.get(bound.get(name, ""))
        fraction = f"{result.speedup_over(limit):.3f}" if limit is not None else ""
        rows.append(
            [
                name,
                f"{result.median * 1e6:.1f}",
                f"{operations / result.median:.1f}",
                f"{operations / result.best:.1f}",
                fraction,
            ]
        )
    headers = ["contestant", "median µs", "G op/s", "best G op/s", "of peak"]
    return timing.markdown(headers, rows)


def ratios(results: dict[str, timing.Result], ours: list[str], theirs: list[str]) -> list[str]:
    """Lines such as "linear avx512_vnni against ort-int8: 1.32 ×"."""
    lines = []
    for name in ours:
        kind = "fp32" if name.startswith("fp32") else "int8"
        for peer in theirs:
            if name.split()[0] in ("fp32", "linear") and peer.endswith(kind):
                ratio = results[name].speedup_over(results[peer])
                lines.append(f"{name} is {ratio:.2f} × as fast as {peer}")
    return lines


def shape(text: str) -> Shape:
    m, n, k = (int(part) for part in text.split(","))
    return m, n, k


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--shapes", type=shape, nargs="+", metavar="M,N,K")
    sets = [name for name in vars(shapes) if name.startswith("GEMM_")]
    parser.add_argument("--set", choices=sets, help="a list of bench/shapes.py")
    parser.add_argument("--isa", nargs="+", help="default: the best of this machine")
    parser.add_argument("--contestants", nargs="*", choices=sorted(FAMILY), default=list(FAMILY))
    parser.add_argument("--peers", nargs="*", default=list(peers.GEMM_PEERS))
    arguments = parser.parse_args()
    arguments.isa = arguments.isa or [fbg.isa.active()]
    chosen: list[Shape] = arguments.shapes or DEFAULT
    if arguments.set:
        chosen = getattr(shapes, arguments.set)
    report = timing.Report("gemm", arguments)
    for threads in arguments.threads:
        fbg.set_num_threads(threads)
        for m, n, k in chosen:
            field, bound = contestants(Case((m, n, k), threads), arguments, threads)
            results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
            print(f"\n### M {m}, N {n}, K {k}, {threads} thread{'s' * (threads > 1)}\n")
            print(table((m, n, k), results, bound))
            theirs = [name for name in arguments.peers if name in results]
            print("\n".join(ratios(results, list(bound), theirs)), flush=True)
            report.add({"m": m, "n": n, "k": k, "threads": threads}, results)
    report.write()


if __name__ == "__main__":
    main()
