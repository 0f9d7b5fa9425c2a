"""Packer x accumulator x pipeline x ISA: any combination against the portable kernel and NumPy."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg.matmul.pipeline import Stage
from helpers.formulas import Array, assert_same_bits, exact_gelu, quantize_rows

A_SCALE, A_ZERO_POINT = 0.03, 117


class Operand:
    """A packer, and the reals (M, K) float64 that it stands for."""

    def __init__(self, packer: fbg.PackA, real: Array) -> None:
        self.packer = packer
        self.real = real


def rows_of_bytes(rng: np.random.Generator, m: int, k: int) -> Array:
    x = rng.integers(0, 256, (m, k), dtype=np.uint8)
    return x if rng.integers(2) else np.asfortranarray(x)


def floats(rng: np.random.Generator, m: int, k: int) -> Array:
    return rng.standard_normal((m, k)).astype(np.float32)


def plain(rng: np.random.Generator, m: int, k: int) -> Operand:
    x = rows_of_bytes(rng, m, k)
    return Operand(fbg.PackA(x), x.astype(np.float64))


def row_offset(rng: np.random.Generator, m: int, k: int) -> Operand:
    x = rows_of_bytes(rng, m, k)
    packer = fbg.PackAWithRowOffset(x, scale=A_SCALE, zero_point=A_ZERO_POINT)
    return Operand(packer, np.float32(A_SCALE) * (x.astype(np.float64) - A_ZERO_POINT))


def shifted(rng: np.random.Generator, m: int, k: int) -> Operand:
    x = rows_of_bytes(rng, m, k).view(np.int8)
    packer = fbg.PackAWithRowOffset(x, scale=A_SCALE, zero_point=-11)
    return Operand(packer, np.float32(A_SCALE) * (x.astype(np.float64) + 11))


def quantized(rng: np.random.Generator, m: int, k: int) -> Operand:
    x = floats(rng, m, k)
    q, scale, zero_point = quantize_rows(x)
    real = scale[:, None].astype(np.float64) * (q.astype(np.float64) - zero_point[:, None])
    return Operand(fbg.PackAWithQuantRowOffset(x), real)


def float32(rng: np.random.Generator, m: int, k: int) -> Operand:
    x = floats(rng, m, k)
    return Operand(fbg.PackA(x), x.astype(np.float64))


def bfloat16(rng: np.random.Generator, m: int, k: int) -> Operand:
    x = floats(rng, m, k)
    return Operand(fbg.PackA(x, dtype="bfloat16"), x.astype(ml_dtypes.bfloat16).astype(np.float64))


def int8_weights(rng: np.random.Generator, k: int, n: int, **packing: Any) -> fbg.PackedB:
    w = rng.integers(-4, 5, (k, n)).astype(np.int8)
    large = rng.random((k, n)) < 0.01
    w[large] = rng.integers(-128, 128, int(large.sum()))
    scale = rng.uniform(0.01, 0.02, n).astype(np.float32)
    with fbg.isa.limit("generic"):  # where int16 is not redirected
        return fbg.PackedB(w, scale=scale, zero_point=int(rng.integers(-9, 10)), **packing)


def int16_weights(rng: np.random.Generator, k: int, n: int) -> fbg.PackedB:
    return int8_weights(rng, k, n, accum="int16", outlier_bits=5)


def float_weights(dtype: Any) -> Callable[[np.random.Generator, int, int], fbg.PackedB]:
    return lambda rng, k, n: fbg.PackedB(floats(rng, k, n), dtype=dtype)


INTEGER_A = [plain, row_offset, shifted, quantized]
FAMILIES = {
    "int32": (int8_weights, INTEGER_A),
    "int16": (int16_weights, INTEGER_A),
    "float32": (float_weights("float32"), [float32]),
    "float16": (float_weights("float16"), [float32]),
    "bfloat16": (float_weights("bfloat16"), [float32]),
    "bfloat16 dot": (float_weights("bfloat16"), [bfloat16]),
}

# Stages on float32, each with what it does to float64.
Step = tuple[Callable[[Array, Array], Stage], Callable[[Array, Array, Array], Array]]
STEPS: dict[str, Step] = {
    "bias": (lambda bias, _: fbg.Bias(bias), lambda y, bias, _: y + bias),
    "add": (lambda _, rest: fbg.Add(rest), lambda y, _, rest: y + rest),
    "relu": (lambda *_: fbg.ReLU(), lambda y, *_: np.maximum(y, 0)),
    "gelu": (lambda *_: fbg.GELU(), lambda y, *_: exact_gelu(y)),
    "tanh": (lambda *_: fbg.Tanh(), lambda y, *_: np.tanh(y)),
    "sigmoid": (lambda *_: fbg.Sigmoid(), lambda y, *_: 1 / (1 + np.exp(-y))),
    "clip": (lambda *_: fbg.Clip(-1.5, 2.0), lambda y, *_: np.clip(y, -1.5, 2.0)),
    "scale": (lambda *_: fbg.Scale(0.5), lambda y, *_: y * 0.5),
}


@settings(max_examples=60)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    packer=st.integers(0, 3),
    steps=st.lists(st.sampled_from(sorted(STEPS)), max_size=4),
    last=st.sampled_from(["float32", "uint8", "int8", "float16"]),
    m=st.integers(1, 40),
    n=st.integers(1, 150),
    k=st.integers(1, 200),
    threads=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_combination_is_that_of_the_portable_kernel_and_of_numpy(
    isa: str,
    family: str,
    packer: int,
    steps: list[str],
    last: str,
    m: int,
    n: int,
    k: int,
    threads: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    pack, packers = FAMILIES[family]
    w, a = pack(rng, k, n), packers[packer % len(packers)](rng, m, k)
    bias, residual = floats(rng, 1, n)[0], floats(rng, m, n)

    integer = w.dtype == np.int8
    if a.packer.dtype == np.uint8 and type(a.packer) is fbg.PackA:  # no scale: the integers
        want = a.real @ w.unpack().astype(np.float64)
        got = fbg.gemm(a.packer, w, num_threads=threads)
        np.testing.assert_array_equal(got, want)
        return

    stages: list[Stage] = [fbg.Dequantize()] if integer else []
    want = a.real @ (w.dequantize() if integer else w.unpack()).astype(np.float64)
    bound = np.abs(a.real) @ np.abs(w.dequantize()).astype(np.float64) * (k + 8) * 2.0**-24 + 1e-6
    for step in steps:
        make, formula = STEPS[step]
        stages.append(make(bias, residual))
        want = formula(want, bias, residual)
        bound = 1.2 * bound + 3e-6  # no slope exceeds 1.13, GELU's
    if last in ("uint8", "int8"):
        stages.append(fbg.Requantize(0.05, 7, last))
    elif last == "float16":
        stages.append(fbg.Cast("float16"))

    got = fbg.gemm(a.packer, w, stages or None, num_threads=threads)
    with fbg.isa.limit("generic"):
        portable = fbg.gemm(a.packer, w, stages or None)
    if family != "bfloat16 dot":  # an instruction that adds two products in an order of its own
        assert_same_bits(got, portable)
    if last in ("uint8", "int8"):
        info = np.iinfo(last)
        real = np.clip(want / np.float32(0.05) + 7, info.min, info.max)
        assert (np.abs(got - real) <= 0.5 + bound / 0.05 + 1e-3).all()
    else:
        rounding = 2.0**-11 * np.abs(want) + 2.0**-24 if last == "float16" else 1e-6 * np.abs(want)
        assert (np.abs(got.astype(np.float64) - want) <= bound + rounding).all()
