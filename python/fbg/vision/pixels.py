"""Arithmetic of pixels and other measurements before a network: what NumPy has no one name for."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array, require_number
from fbg.quantization.affine import integer_range
from fbg.vision.arguments import finite_numbers

Axis: TypeAlias = "int | tuple[int, ...] | None"


def standardize(x: object, *, axis: Axis = None) -> npt.NDArray[np.float32]:
    """Return float32 values with mean 0 and standard deviation 1 along the axes.

    x: numbers of any shape. axis: over which axes; None: over all. Where all values are
    the same, the result is 0. Raises TypeError or ValueError for what are not finite numbers.

    >>> standardize(np.array([1, 2, 3]))
    array([-1.2247449,  0.       ,  1.2247449], dtype=float32)
    """
    values = _numbers(x, "standardize: x")
    same = _width(values, axis) == 0  # whose mean is rounded, so that the differences are not 0
    centred = np.where(same, 0, values - values.mean(axis, keepdims=True))
    return np.asarray(centred / np.where(same, 1, values.std(axis, keepdims=True)), np.float32)


def clip_outliers(x: object, percent: float = 1.0, *, axis: Axis = None) -> Array:
    """Return x with its smallest and its largest values moved to the percentiles.

    percent: how many at each end, at least 0 and below 50. axis: as in `standardize`. The
    result has the dtype of x if that is a float, else float64: percentiles lie between integers.

    >>> clip_outliers(np.array([0.0, 1, 2, 3, 100]), 25)
    array([1., 1., 2., 3., 3.])
    """
    values = _numbers(x, "clip_outliers: x")
    share = require_number(percent, "clip_outliers: percent")
    if not 0 <= share < 50:
        raise ValueError(f"clip_outliers: percent must be at least 0 and below 50, got {percent}")
    low, high = np.percentile(values, [share, 100 - share], axis=axis, keepdims=True)
    kind = np.asarray(x).dtype
    return np.clip(values, low, high).astype(kind if kind.kind == "f" else np.float64)


def widen_range(
    x: object, low: float = 0.0, high: float = 255.0, *, axis: Axis = None
) -> npt.NDArray[np.float32]:
    """Return float32 values that are stretched linearly so that they reach from low to high.

    axis: as in `standardize`. Where all values are the same, the result is low. Raises ValueError
    unless low is below high.

    >>> widen_range(np.array([10, 20, 30]))
    array([  0. , 127.5, 255. ], dtype=float32)
    """
    values = _numbers(x, "widen_range: x")
    low = require_number(low, "widen_range: low")
    high = require_number(high, "widen_range: high")
    if not low < high:
        raise ValueError(f"widen_range: low must be below high, got {low:g} and {high:g}")
    least = values.min(axis, keepdims=True)
    width = _width(values, axis)
    share = (values - least) / np.where(width == 0, 1, width)
    return np.asarray(low + share * (high - low), np.float32)


def round_to(x: object, dtype: npt.DTypeLike = np.uint8) -> npt.NDArray[Any]:
    """Return integers: rounded half to even, and cut off at the ends of the range of dtype.

    dtype: uint8 or int8. Raises TypeError or ValueError for another, or for NaN and infinity.

    >>> round_to(np.array([-3.0, 0.5, 1.5, 300.0]))
    array([  0,   0,   2, 255], dtype=uint8)
    """
    values = _numbers(x, "round_to: x")
    low, high = integer_range(dtype, "round_to")
    return np.clip(np.rint(values), low, high).astype(dtype)


def _width(values: npt.NDArray[np.float64], axis: Axis) -> npt.NDArray[np.float64]:
    return np.asarray(values.max(axis, keepdims=True) - values.min(axis, keepdims=True))


def _numbers(x: object, name: str) -> npt.NDArray[np.float64]:
    """Return finite numbers as float64; there must be some."""
    array = finite_numbers(x, name)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    return array
