"""Affine quantization, formula first: ``real = scale * (q - zero_point)``, as ONNX defines it.

Sources: ONNX operators QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear; requantize is
the stage Requantize of include/fbg/kernels/output.h; preserve_sparsity is FBGEMM's.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from fbg import arrays
from fbg.arrays import (
    Floats,
    as_array,
    as_numbers,
    first_of,
    require_dtype,
    require_dtype_name,
    require_flag,
    require_integer,
    require_points,
    require_scales,
)

Integers = npt.NDArray[np.int32]


def integer_range(dtype: npt.DTypeLike, function: str = "quantization") -> tuple[int, int]:
    """Lowest and highest value of uint8 or int8; TypeError for any other dtype."""
    name = require_dtype_name(dtype, f"{function}: dtype", "uint8", "int8")
    limits = np.iinfo(name)
    return int(limits.min), int(limits.max)


def require_floats(x: object, name: str) -> Floats:
    """Return float32, float16 or bfloat16 data as float32, which holds all of them exactly."""
    array = as_array(x, name)
    require_dtype(array, name, "float32", "float16", "bfloat16")
    return array.astype(np.float32, copy=False)


def require_finite(x: object, name: str) -> Floats:
    """Return `x` as float32; ValueError where it holds a NaN or an infinity."""
    values = require_floats(x, name)
    arrays.require_finite(values, name)
    return values


def require_broadcast(
    shape: tuple[int, ...], function: str, **parameters: npt.NDArray[Any]
) -> None:
    """Raise ValueError unless each parameter broadcasts to `shape`, the shape of the data."""
    for name, values in parameters.items():
        try:
            fits = np.broadcast_shapes(shape, values.shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"{function}: {name} must broadcast to the data's shape {shape}, got {values.shape}"
            )


def _range_with_zero(minimum: Any, maximum: Any) -> tuple[Floats, Floats]:
    """Check the arguments of choose_qparams; return the ends of the ranges, widened to hold 0."""
    ends = []
    for name, value in (("minimum", minimum), ("maximum", maximum)):
        end = as_numbers(value, f"choose_qparams: {name}", "fiu", "a real number")
        ends.append(end.astype(np.float64))
    if ends[0].shape != ends[1].shape:
        raise ValueError(
            "choose_qparams: minimum and maximum must have the same shape, "
            f"got {ends[0].shape} and {ends[1].shape}"
        )
    with np.errstate(over="ignore"):
        lo = np.minimum(ends[0], 0).astype(np.float32)
        hi = np.maximum(ends[1], 0).astype(np.float32)
    good = np.isfinite(lo) & np.isfinite(hi) & (ends[0] <= ends[1])
    if not good.all():
        low, high = (first_of(end, ~good) for end in ends)
        raise ValueError(
            f"choose_qparams: minimum and maximum must be finite and in this order, got {low} "
            f"and {high}"
        )
    return lo, hi


@overload
def choose_qparams(
    minimum: float | np.float32,
    maximum: float | np.float32,
    dtype: npt.DTypeLike = np.uint8,
    symmetric: bool = False,
    preserve_sparsity: bool = False,
) -> tuple[np.float32, int]: ...
@overload
def choose_qparams(
    minimum: npt.NDArray[Any],
    maximum: npt.NDArray[Any],
    dtype: npt.DTypeLike = np.uint8,
    symmetric: bool = False,
    preserve_sparsity: bool = False,
) -> tuple[Floats, Integers]: ...
def choose_qparams(
    minimum: Any,
    maximum: Any,
    dtype: npt.DTypeLike = np.uint8,
    symmetric: bool = False,
    preserve_sparsity: bool = False,
) -> tuple[Any, Any]:
    """Return (scale, zero_point) for reals within [minimum, maximum], a range widened to hold 0.

    Asymmetric: ``scale = (max - min) / (qmax - qmin)``, ``zero_point = rint(qmin - min / scale)``,
    as ONNX DynamicQuantizeLinear does. Symmetric: ``scale = max(|min|, |max|) / 127``, and the
    middle of the range as zero_point (0 or 128), as in arXiv:2004.09602, 3.1. `preserve_sparsity`:
    a range with both signs gets ``scale = max(min / -128, max / 127)`` and the middle, as FBGEMM's
    ChooseQuantizationParams does; one with a single sign is treated as asymmetric.

    Args:
        minimum, maximum: numbers, or arrays of one shape: one range per channel.
        dtype: uint8 or int8.
        symmetric, preserve_sparsity: at most one of them.

    Returns float32 scale and int zero_point; for arrays, float32 and int32 of their shape. A range
    whose scale would be 0 in float32 has the scale 1, and 0 or the middle as zero_point. All steps
    are computed in float32; where ``max - min`` overflows, each end is divided by the number of
    steps first.

    Raises TypeError for another dtype, ValueError unless minimum <= maximum are finite in float32
    and of one shape.

    >>> choose_qparams(-1.0, 1.55)
    (np.float32(0.01), 100)
    >>> choose_qparams(-1.0, 1.27, np.int8, symmetric=True)
    (np.float32(0.01), 0)
    """
    qmin, qmax = integer_range(dtype, "choose_qparams")
    require_flag(symmetric, "choose_qparams: symmetric")
    require_flag(preserve_sparsity, "choose_qparams: preserve_sparsity")
    if symmetric and preserve_sparsity:
        raise ValueError("choose_qparams: symmetric cannot be combined with preserve_sparsity")
    lo, hi = _range_with_zero(minimum, maximum)
    middle, steps = (0 if qmin < 0 else 128), np.float32(qmax - qmin)
    if symmetric:
        scale = np.maximum(-lo, hi) / np.float32(127)
        centred = np.ones(lo.shape, bool)
    else:
        with np.errstate(over="ignore"):
            span = hi - lo
        scale = np.where(np.isinf(span), hi / steps - lo / steps, span / steps)
        centred = np.zeros(lo.shape, bool)
        if preserve_sparsity:
            centred = (lo < 0) & (hi > 0)
            balanced = np.maximum(lo / np.float32(-128), hi / np.float32(127))
            scale = np.where(centred, balanced, scale)
    usable = scale > 0
    scale = np.where(usable, scale, np.float32(1)).astype(np.float32)
    point = np.clip(np.rint(np.float32(qmin) - lo / scale), qmin, qmax)
    point = np.where(centred, middle, np.where(usable, point, 0)).astype(np.int32)
    return (scale, point) if scale.ndim else (np.float32(scale), int(point))


def saturate(rounded: Floats, points: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return ``rounded + points`` as `dtype`; clamped first, so that no conversion overflows."""
    qmin, qmax = integer_range(dtype)
    shifted = rounded + points.astype(np.float32)
    q: npt.NDArray[Any] = np.clip(shifted, qmin, qmax).astype(dtype)
    return q


def quantize(
    x: object,
    scale: object,
    zero_point: object = 0,
    dtype: npt.DTypeLike = np.uint8,
) -> npt.NDArray[Any]:
    """Return ``saturate(rint(x / scale) + zero_point)``, half to even (ONNX QuantizeLinear).

    Args:
        x: float32, float16 or bfloat16 of any shape. Infinities saturate.
        scale: finite and positive; of any shape that broadcasts to x's, such as () per tensor,
            (N,) per column of (M, N) or (M, 1) per row.
        zero_point: integers within `dtype`; broadcasts likewise.
        dtype: uint8 or int8.

    Raises TypeError for other kinds of argument, ValueError for a NaN in `x`, a scale that is not
    finite and positive, a zero point beyond `dtype` or a shape that does not broadcast.

    >>> quantize(np.array([-1.0, 0.25, 9.0], np.float32), 0.5, 1)
    array([ 0,  1, 19], dtype=uint8)
    """
    qmin, qmax = integer_range(dtype, "quantize")
    scales = require_scales(scale, "quantize: scale")
    points = require_points(zero_point, "quantize: zero_point", qmin, qmax)
    values = require_floats(x, "quantize: x")
    require_broadcast(values.shape, "quantize", scale=scales, zero_point=points)
    missing = np.isnan(values)
    if missing.any():
        raise ValueError(f"quantize: x must not hold NaN, got {first_of(values, missing)}")
    with np.errstate(over="ignore"):  # too large for a float32 is too large for the range
        return saturate(np.rint(values / scales), points, dtype)


def dequantize(q: object, scale: object, zero_point: object = 0) -> Floats:
    """Return ``scale * (q - zero_point)`` (ONNX DequantizeLinear); parameters broadcast.

    Args:
        q: uint8, int8 or int32 of any shape.
        scale: finite and positive.
        zero_point: integers within the dtype of `q`.

    Returns float32 of q's shape: the difference is exact and rounded to float32, then multiplied.
    A product beyond float32 is an infinity.

    Raises TypeError for other kinds of argument, ValueError for a scale that is not finite and
    positive, a zero point beyond the dtype or a shape that does not broadcast.

    >>> dequantize(np.array([0, 1, 19], np.uint8), 0.5, 1)
    array([-0.5,  0. ,  9. ], dtype=float32)
    """
    values = as_array(q, "dequantize: q")
    require_dtype(values, "dequantize: q", "uint8", "int8", "int32")
    scales = require_scales(scale, "dequantize: scale")
    limits = np.iinfo(values.dtype)
    points = require_points(zero_point, "dequantize: zero_point", int(limits.min), int(limits.max))
    require_broadcast(values.shape, "dequantize", scale=scales, zero_point=points)
    wide = np.int64 if values.dtype == np.int32 else np.int32
    centred = values.astype(wide) - points.astype(wide)
    with np.errstate(over="ignore"):
        real: Floats = scales * centred.astype(np.float32)
    return real


def requantize(
    acc: object,
    multiplier: object,
    zero_point: object = 0,
    dtype: npt.DTypeLike = np.uint8,
) -> npt.NDArray[Any]:
    """Return ``saturate(rint(float32(acc) * multiplier) + zero_point)``: int32 to 8 bits.

    For a product of operands with the scales sA and sB and an output with the scale s, the
    multiplier is ``float32(sA * sB) / s``; `acc` is corrected for the zero points of the operands.

    Args:
        acc: int32 of any shape, in units of sA * sB.
        multiplier: finite and positive; broadcasts to acc's shape, such as (N,) per column.
        zero_point: of the output: integers within `dtype`; broadcasts likewise.
        dtype: uint8 or int8.

    Returns the bits that the pipeline stage ``fbg.Requantize`` gives.

    Raises TypeError for other kinds of argument, ValueError for a multiplier that is not finite and
    positive, a zero point beyond `dtype` or a shape that does not broadcast.

    >>> requantize(np.array([-1000, 50, 150, 2**30], np.int32), 0.01, 3)
    array([  0,   3,   5, 255], dtype=uint8)
    """
    qmin, qmax = integer_range(dtype, "requantize")
    values = as_array(acc, "requantize: acc")
    require_dtype(values, "requantize: acc", "int32")
    factors = require_scales(multiplier, "requantize: multiplier")
    points = require_points(zero_point, "requantize: zero_point", qmin, qmax)
    require_broadcast(values.shape, "requantize", multiplier=factors, zero_point=points)
    with np.errstate(over="ignore"):
        return saturate(np.rint(values.astype(np.float32) * factors), points, dtype)


def channels(x: Floats, axis: int | None, function: str) -> Floats:
    """Return `x` as (C, n): a row per index along `axis`, or one row of everything."""
    if axis is None:
        return x.reshape(1, -1)
    number = require_integer(axis, f"{function}: axis", -x.ndim, x.ndim - 1)
    moved = np.moveaxis(x, number, 0)
    return moved.reshape(len(moved), x.size // len(moved) if len(moved) else 0)


def round_trip(
    x: npt.NDArray[Any], scale: npt.NDArray[Any], zero_point: npt.NDArray[Any], qmin: int, qmax: int
) -> npt.NDArray[Any]:
    """Return the reals that (C, n) values become, in their dtype; parameters are (C,)."""
    step, point = (v.astype(x.dtype)[:, None] for v in (scale, zero_point))
    with np.errstate(over="ignore"):
        real: npt.NDArray[Any] = (np.clip(np.rint(x / step) + point, qmin, qmax) - point) * step
    return real


def choose_qparams_mse(
    x: object,
    dtype: npt.DTypeLike = np.uint8,
    symmetric: bool = False,
    *,
    axis: int | None = None,
    steps: int = 100,
) -> tuple[Any, Any]:
    """Return (scale, zero_point) of least mean squared error on `x`, by a search over ranges.

    A narrower range clips the extremes and rounds the rest more finely. With [lo, hi] the range of
    the data, widened to hold 0, and t in {1, (steps-1)/steps, ..., 1/steps}:

        1. [t lo, t hi]; the best is [lo', hi']
        2. asymmetric only: [t lo', hi']; the best is [lo'', hi']
        3. asymmetric only: [lo'', t hi']

    with ``choose_qparams`` for each range. Never worse than the whole range, which wins ties.
    Source: M. Nagel et al., "A White Paper on Neural Network Quantization" (arXiv:2106.08295), 3.1,
    which sets ranges by such a search over the squared error.

    Args:
        x: float32, float16 or bfloat16 of any shape; an empty one counts as a range of zeros.
        dtype: uint8 or int8.
        axis: a scale and zero point for each index along it; None: for the tensor.
        steps: ranges tried in each pass; the time is proportional to it.

    Returns float32 scale and int zero_point, or with `axis` float32 (C,) and int32 (C,).

    Raises TypeError for other dtypes, ValueError for a NaN or an infinity in `x`, or an `axis` or
    number of `steps` out of range.

    >>> x = np.random.default_rng(0).standard_normal(10_000, np.float32)
    >>> scale, zero_point = choose_qparams_mse(x, np.int8, symmetric=True)
    >>> bool(scale < choose_qparams(x.min(), x.max(), np.int8, symmetric=True)[0]), zero_point
    (True, 0)
    """
    qmin, qmax = integer_range(dtype, "choose_qparams_mse")
    require_flag(symmetric, "choose_qparams_mse: symmetric")
    count = require_integer(steps, "choose_qparams_mse: steps", 1, 1 << 20)
    rows = channels(require_finite(x, "choose_qparams_mse: x"), axis, "choose_qparams_mse")
    lo, hi = rows.min(axis=1, initial=0), rows.max(axis=1, initial=0)
    least = np.full(lo.shape, np.inf)
    passes = [(True, True)] if symmetric else [(True, True), (True, False), (False, True)]
    for shrink_lo, shrink_hi in passes:
        start_lo, start_hi = lo, hi
        for k in range(count, 0, -1):
            t = np.float32(k / count)
            try_lo = start_lo * t if shrink_lo else start_lo
            try_hi = start_hi * t if shrink_hi else start_hi
            scale, point = choose_qparams(try_lo, try_hi, dtype, symmetric)
            difference = (round_trip(rows, scale, point, qmin, qmax) - rows).astype(np.float64)
            error = np.einsum("ij,ij->i", difference, difference)
            better = error < least
            least = np.where(better, error, least)
            lo, hi = np.where(better, try_lo, lo), np.where(better, try_hi, hi)
    scale, point = choose_qparams(lo, hi, dtype, symmetric)
    return (scale[0], int(point[0])) if axis is None else (scale, point)
