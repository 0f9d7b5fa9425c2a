"""What bench/gemm.py can compare: operands of a shape, this library's ways to multiply them, peers.

    linear   fbg.linear(f32, PackedB) with bias: quantize rows, multiply, dequantize
    fp32     float32 A and B, prepared
    bf16     bfloat16 A and B, prepared
    int32    uint8 A, int8 B, prepared: the integers, no output pipeline
    narrow   the same with weights of 7 bits, which engines that add pairs of products in int16 need
    acc16    int16 accumulation against int32, both requantized to uint8, as the shapes of
             GEMM_ACC16 were published: weights within [-4, 4] but for one in a thousand, zero
             points on both sides (row offsets)

Prepared: ``fbg.prepare`` once, then ``call(x, out)``, as peers have a session or a module, with
the `out` that a first call allocated.

The first way of `ours` leads the summary; the others and the peers are its rivals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fbg

Array = npt.NDArray[Any]
Shape = tuple[int, int, int]
Call = Callable[[], Any]
CHECKED_ROWS = 200


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


def generator(shape: Shape) -> np.random.Generator:
    return np.random.default_rng(shape)


def product(a: Array, b: Array) -> Array:
    """float64: exact for integers of this size."""
    result: Array = a[rows_to_check(len(a))].astype(np.float64) @ b.astype(np.float64)
    return result


def floats(shape: Shape) -> Operands:
    m, n, k = shape
    rng = generator(shape)
    a, b = (rng.standard_normal(size, dtype=np.float32) for size in ((m, k), (k, n)))
    return Operands(a, b, product(a, b), {})


def with_bias(shape: Shape) -> Operands:
    plain = floats(shape)
    bias = generator(shape).standard_normal(shape[1], dtype=np.float32)
    return Operands(plain.a, plain.b, plain.expected + bias, {}, bias)


def integers(shape: Shape) -> Operands:
    m, n, k = shape
    rng = generator(shape)
    a = rng.integers(0, 256, (m, k), dtype=np.uint8)
    b = rng.integers(-128, 128, (k, n), dtype=np.int8)
    return Operands(a, b, product(a, b), {"scale": 1.0, "zero_point": 0})


def narrow_integers(shape: Shape) -> Operands:
    wide = integers(shape)
    b = wide.b // 2
    return Operands(wide.a, b, product(wide.a, b), wide.quantization)


A_SCALE, A_ZERO_POINT, B_SCALE, B_ZERO_POINT = 0.05, 110, 0.01, 1
OUTLIERS, OUT_ZERO_POINT = 0.001, 120


def out_scale(k: int) -> float:
    """Return a uint8 scale: results fill most of the range, and no sum is a tie."""
    return A_SCALE * B_SCALE * 2 * float(np.sqrt(k) * np.e)


def small_weights(shape: Shape) -> Operands:
    m, n, k = shape
    rng = generator(shape)
    a = rng.integers(0, 256, (m, k), dtype=np.uint8)
    b = rng.integers(-4, 5, (k, n), dtype=np.int8)
    outliers = rng.random((k, n)) < OUTLIERS
    b[outliers] = rng.integers(-128, 128, int(outliers.sum()), dtype=np.int8)
    sums = product(a.astype(np.int16) - A_ZERO_POINT, b.astype(np.int16) - B_ZERO_POINT)
    real = sums * (A_SCALE * B_SCALE / out_scale(k))
    quantization = {"scale": B_SCALE, "zero_point": B_ZERO_POINT}
    expected = np.clip(np.rint(real) + OUT_ZERO_POINT, 0, 255)
    return Operands(a, b, expected, quantization)


# --- This library's ways: makers of calls, each of which has packed weights of its own ---------
def linear(o: Operands) -> Callable[[], Call]:
    def make() -> Call:
        packed = fbg.PackedB(o.b)
        return lambda: fbg.linear(o.a, packed, o.bias)

    return make


def int32(o: Operands) -> Callable[[], Call]:
    return _prepared(o, o.a, {"packer": fbg.PackA}, **o.quantization)


def fp32(o: Operands) -> Callable[[], Call]:
    return _prepared(o, o.a, {}, dtype="float32")


def bf16(o: Operands) -> Callable[[], Call]:
    import ml_dtypes

    rounded = o.a.astype(ml_dtypes.bfloat16)
    return _prepared(o, rounded, {"x_dtype": "bfloat16"}, dtype="bfloat16")


def requantized(o: Operands, **packing: Any) -> Callable[[], Call]:
    preparing = {
        "packer": fbg.PackAWithRowOffset,
        "scale": A_SCALE,
        "zero_point": A_ZERO_POINT,
        "pipeline": fbg.Requantize(out_scale(o.a.shape[1]), OUT_ZERO_POINT),
    }
    return _prepared(o, o.a, preparing, **o.quantization, **packing)


def int16(o: Operands) -> Callable[[], Call]:
    return requantized(o, accum="int16")


def _prepared(
    o: Operands, a: Array, preparing: dict[str, Any], **packing: Any
) -> Callable[[], Call]:
    out: list[Array] = []  # shared by the copies of cold runs

    def make() -> Call:
        call = fbg.prepare(fbg.PackedB(o.b, **packing), rows=len(a), **preparing)
        out.append(call(a) if not out else out[0])
        return lambda: call(a, out[0])

    return make


@dataclass(frozen=True)
class Contest:
    """One comparison: see the list at the head of this file.

    tolerance: of `Operands.error`; 0 for integers. peak: the family of bench/peak.py, by way.
    sets: of shapes.SETS, if none are named. isa: the limit, if none is named.
    """

    operands: Callable[[Shape], Operands]
    tolerance: float
    ours: dict[str, Callable[[Operands], Callable[[], Call]]]
    peak: dict[str, str]
    peers: tuple[str, ...]
    sets: tuple[str, ...]
    weight_bytes: int = 1
    isa: str | None = None


BERT = ("bert_base", "bert_large")
CONTESTS = {
    "linear": Contest(
        with_bias,
        0.05,
        {"linear": linear},
        {"linear": "int8"},
        ("torch-int8", "torch-onednn-int8", "ort-int8", "litert-int8"),
        ("float_io", "square", *BERT),
    ),
    "fp32": Contest(
        floats,
        1e-5,
        {"fp32": fp32},
        {"fp32": "fp32"},
        ("numpy-fp32", "torch-fp32", "ort-fp32", "onednn-fp32", "litert-fp32"),
        BERT,
        weight_bytes=4,
    ),
    "bf16": Contest(
        floats,
        0.01,
        {"bf16": bf16},
        {"bf16": "bf16"},
        ("torch-bf16", "onednn-bf16"),
        BERT,
        weight_bytes=2,
    ),
    "int32": Contest(
        integers, 0.0, {"int32": int32}, {"int32": "int8"}, ("onednn-int32",), ("bert_blocks",)
    ),
    "narrow": Contest(
        narrow_integers,
        0.0,
        {"narrow": int32},
        {"narrow": "int8"},
        ("onednn-int32",),
        ("bert_blocks",),
    ),
    "acc16": Contest(
        small_weights,
        1e-3,
        {"int16": int16, "int32-requantized": requantized},
        {"int16": "int16", "int32-requantized": "int8"},
        (),
        ("acc16",),
        isa="avx2",
    ),
}
# How the names of our contestants begin that lead a contest.
LEADS = tuple(f"{next(iter(contest.ours))} " for contest in CONTESTS.values())
