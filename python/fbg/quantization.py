"""Affine quantization, formula first: ``real = scale * (q - zero_point)``, as ONNX defines it.

Source: ONNX operators QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import require_scales

__all__ = ["choose_qparams", "dequantize", "quantize"]


def _integer_range(dtype: npt.DTypeLike) -> tuple[int, int]:
    name = np.dtype(dtype).name
    if name not in ("uint8", "int8"):
        raise TypeError(f"quantization: dtype must be uint8 or int8, got {name}")
    limits = np.iinfo(name)
    return int(limits.min), int(limits.max)


def choose_qparams(
    minimum: float, maximum: float, dtype: npt.DTypeLike = np.uint8, symmetric: bool = False
) -> tuple[np.float32, int]:
    """Return (scale, zero_point) for reals within [minimum, maximum], a range widened to hold 0.

    Asymmetric: ``scale = (max - min) / (qmax - qmin)``, ``zero_point = rint(qmin - min / scale)``.
    Symmetric: ``scale = max(|min|, |max|) / qmax``, zero_point the middle of the range (0 or 128).

    Raises ValueError unless minimum <= maximum are finite in float32, TypeError for another dtype.

    >>> choose_qparams(-1.0, 1.55)
    (np.float32(0.01), 100)
    """
    with np.errstate(over="ignore"):
        lo, hi = np.float32(min(minimum, 0.0)), np.float32(max(maximum, 0.0))
    if not (np.isfinite(lo) and np.isfinite(hi)) or minimum > maximum:
        raise ValueError(
            f"choose_qparams: want finite minimum <= maximum, got {minimum} and {maximum}"
        )
    qmin, qmax = _integer_range(dtype)
    if symmetric:
        middle = 0 if qmin < 0 else 128
        scale = np.float32(max(-lo, hi) / np.float32(qmax - middle))
        return (scale, middle) if scale > 0 else (np.float32(1), middle)
    steps = np.float32(qmax - qmin)
    with np.errstate(over="ignore"):
        scale = (hi - lo) / steps
    if np.isinf(scale):  # the range of finite floats may itself overflow
        scale = hi / steps - lo / steps
    if not scale > 0:
        return np.float32(1), 0
    return np.float32(scale), int(np.clip(np.rint(qmin - lo / scale), qmin, qmax))


def quantize(
    x: npt.NDArray[np.float32],
    scale: Any,
    zero_point: Any = 0,
    dtype: npt.DTypeLike = np.uint8,
) -> npt.NDArray[Any]:
    """Return ``saturate(rint(x / scale) + zero_point)``, half to even; parameters broadcast.

    Raises TypeError for parameters of other kinds, ValueError for a NaN in `x`, a scale that is not
    finite and positive, or a zero point beyond `dtype`.

    >>> quantize(np.array([-1.0, 0.25, 9.0], np.float32), 0.5, 1)
    array([  0,   1,  19], dtype=uint8)
    """
    qmin, qmax = _integer_range(dtype)
    scales = require_scales(scale, "quantize: scale")
    points = np.asarray(zero_point)
    if not np.issubdtype(points.dtype, np.integer):
        raise TypeError(f"quantize: zero_point must be integer, got {points.dtype}")
    if points.size and (points.min() < qmin or points.max() > qmax):
        raise ValueError(f"quantize: zero_point must be within [{qmin}, {qmax}], got {points}")
    values = np.asarray(x, np.float32)
    if np.isnan(values).any():
        raise ValueError("quantize: x must not hold NaN")
    with np.errstate(over="ignore"):  # too large for a float32 is too large for the range
        scaled = np.rint(values / scales)
    q: npt.NDArray[Any] = np.clip(scaled + points.astype(np.float32), qmin, qmax).astype(dtype)
    return q


def dequantize(q: npt.NDArray[Any], scale: Any, zero_point: Any = 0) -> npt.NDArray[np.float32]:
    """Return ``scale * (q - zero_point)`` in float32.

    >>> dequantize(np.array([0, 1, 19], np.uint8), 0.5, 1)
    array([-0.5,  0. ,  9. ], dtype=float32)
    """
    centred = q.astype(np.int32) - np.asarray(zero_point, np.int32)
    result: npt.NDArray[np.float32] = np.asarray(scale, np.float32) * centred.astype(np.float32)
    return result
