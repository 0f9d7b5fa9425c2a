"""Operands from the raw bit stream of PCG64, which NumPy promises never to change."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from cases import Array


def words(shape: tuple[int, ...], seed: int) -> npt.NDArray[np.uint64]:
    return np.asarray(np.random.PCG64(seed).random_raw(int(np.prod(shape))), np.uint64)


def integers(shape: tuple[int, ...], low: int, high: int, dtype: Any, seed: int) -> Array:
    """Integers from `low` to `high`, both included."""
    values = (words(shape, seed) % np.uint64(high - low + 1)).astype(np.int64) + low
    return values.astype(dtype).reshape(shape)


def floats(shape: tuple[int, ...], seed: int) -> Array:
    """float32, about normal: the sum of the four 16-bit parts of a word, of deviation 1."""
    parts = words(shape, seed).view(np.uint16).reshape(-1, 4)
    sums = parts.sum(axis=1, dtype=np.int32) - 2 * 65535
    values: Array = (sums * (3.0**0.5 / 65536.0)).astype(np.float32)
    return values.reshape(shape)


def small_weights(shape: tuple[int, ...], seed: int) -> Array:
    """int8 such as int16 sums are for: within [-4, 4], but for one of two hundred."""
    outlier = integers(shape, 0, 199, np.int64, seed) == 0
    small = integers(shape, -4, 4, np.int8, seed + 1)
    return np.where(outlier, integers(shape, -128, 127, np.int8, seed + 2), small)
