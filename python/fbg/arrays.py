"""Anything array-like on the CPU as a NumPy array, without a copy and without a change of dtype."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "as_array",
    "has_dense_rows",
    "refuse_texts",
    "require_dtype",
    "require_integer",
    "require_matrix",
    "require_scale",
    "require_scales",
]

Array = npt.NDArray[Any]


def as_array(x: object, name: str) -> Array:
    """Return `x` as an array: NumPy, ``__dlpack__`` or ``__array__``. Lists are refused.

    A list has no dtype of its own, and guessing one would hide a float64 from its owner.
    """
    if isinstance(x, np.ndarray):
        array: Array = x
    elif hasattr(x, "__array__"):
        array = np.asarray(x)
    elif hasattr(x, "__dlpack__"):
        array = np.from_dlpack(x)
    else:
        raise TypeError(f"{name} must be an array, got {type(x).__name__}")
    return array if array.flags.aligned else array.copy()


def has_dense_rows(array: Array) -> bool:
    """Whether kernels read `array` where it is: aligned, the last axis contiguous, none backwards.

    A stride counts only where it leads to a neighbour; along an axis of one element, and in an
    empty array, NumPy keeps any number.
    """
    flags = array.flags
    if flags.c_contiguous or not flags.aligned:
        return flags.aligned
    steps = [s for size, s in zip(array.shape, array.strides, strict=True) if size > 1]
    return min(steps) >= 0 and (array.shape[-1] == 1 or array.strides[-1] == array.itemsize)


def refuse_texts(where: str, array: Array) -> None:
    """Raise TypeError for texts in place of their embeddings."""
    if array.dtype.kind in "USO":
        raise TypeError(
            f"{where}: must be embeddings, arrays such as Model.encode returns, got texts"
        )


_DTYPES = {name: np.dtype(name) for name in ("float32", "float16", "int32", "uint8", "int8")}


def require_dtype(array: Array, name: str, *wanted: str) -> None:
    """Raise TypeError unless the dtype of `array` is one of `wanted`, in native byte order."""
    dtype = array.dtype
    for want in wanted:
        # Not dtype == _DTYPES.get(want): a float64 equals None.
        if is_bfloat16(array) if want == "bfloat16" else dtype == _DTYPES[want]:
            return
    converts = dtype == np.float64 and "float32" in wanted
    hint = "; convert it with astype(np.float32)" if converts else ""
    raise TypeError(f"{name} must be {' or '.join(wanted)}, got {dtype}{hint}")


def bfloat16() -> np.dtype[Any]:
    """Return ``ml_dtypes.bfloat16``; only who asks for it needs the library that defines it."""
    import ml_dtypes

    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def int4() -> np.dtype[Any]:
    """Return ``ml_dtypes.int4``, whose arrays take a byte for each value."""
    import ml_dtypes

    dtype: np.dtype[Any] = np.dtype(ml_dtypes.int4)
    return dtype


def is_bfloat16(array: Array) -> bool:
    """Whether `array` holds ``ml_dtypes.bfloat16``; asks by name, so that nothing is imported."""
    return array.dtype.name == "bfloat16"


def require_matrix(array: Array, name: str, axes: str) -> None:
    """Raise ValueError unless `array` is 2-D."""
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-D {axes}, got shape {array.shape}")


def require_scales(scale: object, name: str) -> Array:
    """Return finite, positive scales as float32; else TypeError or ValueError."""
    array = np.asarray(scale)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must be float, got {array.dtype}")
    with np.errstate(over="ignore"):
        scales = array.astype(np.float32)
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise ValueError(f"{name} must be finite and positive, got {scale}")
    return scales


def require_scale(scale: object, name: str) -> float:
    """Return one scale, checked as `require_scales` does."""
    scales = require_scales(scale, name)
    if scales.ndim != 0:
        raise TypeError(f"{name} must be one float, got shape {scales.shape}")
    return float(scales)


def require_integer(value: object, name: str, lowest: int, highest: int) -> int:
    """Return an integer within [lowest, highest]; else TypeError or ValueError."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None
    if not lowest <= number <= highest:
        raise ValueError(f"{name} must be within [{lowest}, {highest}], got {number}")
    return number
