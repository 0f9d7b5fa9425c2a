"""Checks of arrays of numbers that users give."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import as_array


def finite_numbers(x: object, name: str) -> npt.NDArray[Any]:
    """Return real numbers as float64; else TypeError, or ValueError for a NaN or an infinity."""
    array = as_array(x, name)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be numbers, got {array.dtype}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    return array.astype(np.float64)
