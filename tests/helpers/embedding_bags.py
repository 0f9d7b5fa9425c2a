"""Embedding bags by their definition, in NumPy: rows one after the other, each step rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

F32 = np.float32
Array = npt.NDArray[Any]
BITS = {"int8": 8, "int4": 4, "int2": 2}
FLOAT8 = "float8_e4m3fn"
Values = tuple[Array, Array, Array | None]


def fma(a, b, c):
    """a * b + c rounded once to float32, whose operands are float32.

    The product is exact in float64. The sum is rounded to odd there, so that rounding it once more
    gives what rounding the exact sum would.
    """
    product = a.astype(np.float64) * np.float64(b)
    addend = np.broadcast_to(c, product.shape).astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    even = (total.view(np.int64) & 1) == 0
    odd = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & even, odd, total).astype(F32)


def float8_values(codes):
    """Codes of e4m3fn as float32, by the definition of the format."""
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7).astype(np.float64)
    normal, tiny = (1 + mantissa / 8) * 2.0 ** (exponent - 7), mantissa / 8 * 2.0**-6
    magnitude = np.where(exponent > 0, normal, tiny)
    magnitude[codes & 127 == 127] = np.nan
    return np.copysign(magnitude, np.where(codes & 128, -1, 1)).astype(F32)


def quantized_to_float8(x, scale_dtype):
    """Fused rows of e4m3fn: the nearest of all codes, the even one of two."""
    codes = np.arange(127, dtype=np.uint8)
    values = float8_values(codes)
    scale = (np.abs(x).max(axis=1) / F32(448)).astype(scale_dtype)
    scale = np.where(scale == 0, scale_dtype(1), scale)
    with np.errstate(under="ignore"):
        steps = np.abs(x / scale[:, None].astype(F32)).astype(np.float64)
    above = np.minimum(np.searchsorted(values, steps), 126)
    below = np.maximum(above - 1, 0)
    up, down = values[above] - steps, steps - values[below]
    take_above = (up < down) | ((up == down) & (above % 2 == 0))
    q = codes[np.where(take_above, above, below)] | np.where(np.signbit(x), 128, 0).astype(np.uint8)
    return np.concatenate([q, scale[:, None].astype(scale_dtype).view(np.uint8)], axis=1)


def values_of(fused, columns, dtype):
    """The values of fused rows, their scales and their biases, as float32; of float8 no biases."""
    if dtype == FLOAT8:
        ends = np.ascontiguousarray(fused[:, columns:])
        scale = ends.view(F32 if ends.shape[1] == 4 else np.float16)[:, 0].astype(F32)
        return float8_values(fused[:, :columns]), scale, None
    bits = BITS[dtype]
    packed = -(-columns * bits // 8)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields = fused[:, :packed, None] >> shifts & np.uint8(2**bits - 1)
    values = fields.reshape(len(fused), packed * len(shifts))[:, :columns]
    half = fused.shape[1] - packed == 4
    ends = np.ascontiguousarray(fused[:, packed:]).view(np.float16 if half else F32)
    return values.astype(F32), ends[:, 0].astype(F32), ends[:, 1].astype(F32)


def quantized(x, dtype, scale_dtype):
    """Fused rows by FBGEMM's definition."""
    top, lo, hi = F32(2 ** BITS[dtype] - 1), x.min(axis=1) + F32(0), x.max(axis=1) + F32(0)
    if dtype == "int8" and scale_dtype == F32:
        bias, scale = lo, (hi - lo) / top
        inverse = top / (hi - lo + F32(1e-8))
    else:
        bias = lo.astype(scale_dtype).astype(F32)
        span = hi - bias
        scale = np.where(span == 0, F32(1), span / top).astype(scale_dtype).astype(F32)
        with np.errstate(divide="ignore", over="ignore"):
            scale = np.where((scale == 0) | np.isinf(F32(1) / scale), F32(1), scale)
        inverse = F32(1) / scale
    with np.errstate(invalid="ignore", over="ignore"):
        steps = (x - bias[:, None]) * inverse[:, None]
    q = np.rint(np.clip(steps, 0, top)).astype(np.uint8)
    per_byte = 8 // BITS[dtype]
    padded = np.zeros((len(x), -(-x.shape[1] // per_byte), per_byte), np.uint8)
    padded.reshape(len(x), -1)[:, : x.shape[1]] = q
    data = np.bitwise_or.reduce(padded << np.arange(0, 8, BITS[dtype], dtype=np.uint8), axis=2)
    ends = np.stack([scale, bias], axis=1).astype(scale_dtype).view(np.uint8)
    return np.concatenate([data, ends], axis=1)


def look_up(table, bags, mode="sum", weights=None, padding=None):
    """The result for bags of indices; the table is floats, or what `values_of` returns."""
    floats = None if isinstance(table, tuple) else table.astype(F32)
    columns = (table[0] if isinstance(table, tuple) else table).shape[1]
    results = []
    for b, bag in enumerate(bags):
        kept = [(i, r) for i, r in enumerate(bag) if r != padding]
        result = np.full(columns, -np.inf if mode == "max" else 0, F32)
        for i, r in kept:
            weight = None if weights is None else F32(weights[b][i])
            if floats is not None:
                x = floats[r]
                if mode == "max":
                    result = np.where(x > result, x, result)
                else:
                    result = result + x if weight is None else fma(x, weight, result)
                continue
            assert isinstance(table, tuple)
            q, scale = table[0][r], table[1][r]
            bias = None if table[2] is None else table[2][r]
            if weight is not None:
                scale, bias = scale * weight, None if bias is None else bias * weight
            if mode == "max":
                x = q * scale if bias is None else fma(q, scale, np.full(columns, bias))
                result = np.where(x > result, x, result)
            else:
                result = fma(q, scale, result if bias is None else result + bias)
        if mode == "mean" and kept:
            result = result / F32(len(kept))
        results.append(result if kept else np.zeros(columns, F32))
    return np.array(results, F32).reshape(len(bags), columns)
