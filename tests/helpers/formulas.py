"""The formulas of the kernel layer in plain NumPy: what the kernels must give, bit for bit.

Sums are int64, float steps are float32 one operation at a time, as include/fbg/kernels/output.h
states them. GELU alone has no formula in NumPy: `exact_gelu` is its definition in float64, and
`Output` takes the float32 values of the portable kernel, which test_stage_values.py holds against
it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import fbg

Array = npt.NDArray[Any]

# The kernel that serves each ISA: not every one has a generator of its own.
KERNEL_ISA = {
    "int32": {
        "generic": "generic",
        "avx2": "avx2",
        "avx2_vnni": "avx2_vnni",
        "avx512": "avx512",
        "avx512_vnni": "avx512_vnni",
        "avx512_bf16": "avx512_vnni",
        "avx512_fp16": "avx512_vnni",
        "avx512_amx": "avx512_amx",
        "neon": "neon",
        "neon_dot": "neon_dot",
        "neon_i8mm": "neon_i8mm",
        "neon_bf16": "neon_i8mm",
    },
    "float32": {
        "generic": "generic",
        "avx2": "avx2",
        "avx2_vnni": "avx2",
        "avx512": "avx512",
        "avx512_vnni": "avx512",
        "avx512_bf16": "avx512",
        "avx512_fp16": "avx512",
        "avx512_amx": "avx512",
        "neon": "neon",
        "neon_dot": "neon",
        "neon_i8mm": "neon",
        "neon_bf16": "neon",
    },
}
KERNEL_ISA["int16"] = KERNEL_ISA["int32"] | {"avx512_amx": "avx512_vnni"}


def product(a, b):
    """A @ B as mathematical integers."""
    return a.astype(np.int64) @ b.astype(np.int64)


class RowQuant(NamedTuple):
    """A matrix quantized row by row: real = scale * (q - zero_point)."""

    q: Array
    scale: Array
    zero_point: Array


def quantize_rows(x, granularity="row"):
    """ONNX DynamicQuantizeLinear for each row (or all), with a reciprocal instead of a division."""
    rows = x if granularity == "row" else x.reshape(1, -1)
    finite = np.isfinite(rows).all(axis=1) if rows.size else np.ones(len(rows), bool)
    clean = np.where(finite[:, None], rows, np.float32(0))
    lo = clean.min(axis=1, initial=0).astype(np.float32)
    hi = clean.max(axis=1, initial=0).astype(np.float32)
    with np.errstate(over="ignore"):
        span = hi - lo
    scale = np.where(
        np.isinf(span), hi / np.float32(255) - lo / np.float32(255), span / np.float32(255)
    )
    small = scale < np.finfo(np.float32).tiny
    scale = np.where(small, np.float32(1), scale).astype(np.float32)
    point = np.where(small, np.float32(0), np.minimum(np.rint(-lo / scale), 255)).astype(np.int32)
    if granularity == "tensor":
        scale, point, finite = (np.repeat(v, len(x)) for v in (scale, point, finite))
    clean = np.where(finite[:, None], x, np.float32(0))
    q = np.clip(np.rint(clean * (np.float32(1) / scale)[:, None]) + point[:, None], 0, 255)
    q = np.where(finite[:, None], q, 0).astype(np.uint8)
    return RowQuant(q, np.where(finite, scale, np.float32(np.nan)), np.where(finite, point, 0))


def exact_gelu(x):
    """x * Phi(x) in float64."""
    erf = np.frompyfunc(math.erf, 1, 1)
    wide = x.astype(np.float64)
    return 0.5 * wide * (1.0 + erf(wide / math.sqrt(2.0)).astype(np.float64))


def portable_gelu(x):
    """GELU in float32 as the portable kernel computes it."""
    if x.size == 0:
        return x
    one = fbg.PackedB(np.ones((1, 1), np.float32), dtype="float32")
    with fbg.isa.limit("generic"):
        return fbg.gemm(fbg.PackA(x.reshape(-1, 1)), one, fbg.GELU()).reshape(x.shape)


class Output:
    """A pipeline applied step by step to the sum of products of quantized operands, or floats."""

    def __init__(self, value, scale=None, correction=None):
        """`value`: int64 sums or float32; `scale`: sA_i * sB_j in float32; `correction`: int64."""
        self.value = value
        self.type = "float32" if value.dtype == np.float32 else "acc"
        self._scale, self._correction = scale, correction

    def _correct(self):
        if self.type == "acc":
            assert self._correction is not None
            self.value, self.type = self.value + self._correction, "int32"

    def correct_zero_points(self):
        self._correct()

    def dequantize(self):
        self._correct()
        self.value, self.type = self.value.astype(np.float32) * self._scale, "float32"

    def bias(self, values):
        self.value = self.value + values

    def relu(self):
        self.value = np.where(self.value < 0, self.value.dtype.type(0), self.value)

    def gelu(self):
        self.value = portable_gelu(self.value)

    def add(self, residual):
        """`residual`: float32, or 16-bit floats, which convert exactly."""
        self.value = self.value + residual.astype(np.float32)

    def add_quantized(self, residual, scale, zero_point):
        real = np.float32(scale) * (residual.astype(np.float32) - np.float32(zero_point))
        self.value = self.value + real

    def requantize(self, scale, zero_point, dtype):
        with np.errstate(over="ignore"):
            if self.type == "float32":
                real = self.value / np.float32(scale)
            else:
                self._correct()
                real = self.value.astype(np.float32) * (self._scale / np.float32(scale))
        limits = np.iinfo(dtype)
        # float64 holds rint + zero_point exactly; NaN gives the lowest.
        q = np.rint(np.nan_to_num(real.astype(np.float64), nan=-np.inf)) + zero_point
        self.value, self.type = np.clip(q, limits.min, limits.max).astype(dtype), dtype

    @property
    def result(self):
        return self.value.astype(np.int32) if self.type in ("acc", "int32") else self.value


def integer_output(a, a_scale, a_zero_point, b, b_scale, b_zero_point):
    """Sums of quantized operands (parameters broadcast), before any stage."""
    raw = product(a, b)
    za = np.broadcast_to(np.asarray(a_zero_point, np.int64), (len(a),))
    zb = np.broadcast_to(np.asarray(b_zero_point, np.int64), (b.shape[1],))
    exact = (a.astype(np.int64) - za[:, None]) @ (b.astype(np.int64) - zb)
    sa = np.broadcast_to(np.asarray(a_scale, np.float32), (len(a),))
    sb = np.broadcast_to(np.asarray(b_scale, np.float32), (b.shape[1],))
    return Output(raw, sa[:, None] * sb, exact - raw)


def assert_same_bits(got, wanted):
    """Equal dtype, shape and bits; a NaN equals any NaN."""
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if got.dtype == np.float32:
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(got), ~numbers)
        got, wanted = (v[numbers].view(np.uint32) for v in (got, wanted))
    np.testing.assert_array_equal(got, wanted)


def cosines(a, b):
    """The cosine of the angle between each vector of `a` and that of `b`; vectors are last axes."""
    return (a * b).sum(axis=-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
