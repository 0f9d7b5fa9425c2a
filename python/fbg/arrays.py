"""Arguments of kernels: anything array-like as a NumPy array, and checks of arrays and values.

Each check takes the name of the argument, such as "gemm: out", with which its message begins.
"""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

# Arrays by the type of their elements.
Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]


def as_array(x: object, name: str, *, refers: bool = False) -> Array:
    """Return `x` as an array: NumPy, ``__dlpack__`` or ``__array__``. Lists are refused.

    A list has no dtype of its own, and guessing one would hide a float64 from its owner. Elements
    that are not aligned are copied; with `refers`, for who reads the array later, that is a
    ValueError.
    """
    if isinstance(x, np.ndarray):
        array: Array = x
    elif hasattr(x, "__array__"):
        array = np.asarray(x)
    elif hasattr(x, "__dlpack__"):
        array = np.from_dlpack(x)
    else:
        raise TypeError(f"{name} must be an array, got {type(x).__name__}")
    if refers and not array.flags.aligned:
        raise ValueError(f"{name} must be aligned to its elements; pass a copy of it")
    return array if array.flags.aligned else array.copy()


def no_array(x: object, name: str) -> TypeError:
    """Return the error for what is no NumPy array where only such are taken, as by prepared calls,
    which convert nothing.
    """
    hint = "; pass np.asarray of it" if hasattr(x, "__array__") else ""
    return TypeError(f"{name} must be a NumPy array, got {type(x).__name__}{hint}")


def empty_lines(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return memory that begins with a line of the cache, if it is large.

    NumPy's large arrays begin 16 bytes after one, so that vectors of 64 bytes are in two lines.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size < 1 << 16:
        return np.empty(shape, dtype)
    room = np.empty(size + 63, np.uint8)
    first = -room.ctypes.data % 64
    lines: Array = room[first : first + size].view(dtype)
    return lines.reshape(shape)


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
            f"{where}: must be embeddings, such as the arrays that Model.encode returns, got texts"
        )


_DTYPES = {name: np.dtype(name) for name in ("float32", "float16", "int32", "uint8", "int8")}


def require_dtype(array: Array, name: str, *wanted: str) -> None:
    """Raise TypeError unless the dtype of `array` is one of `wanted`, in native byte order."""
    dtype = array.dtype
    for want in wanted:
        # Not dtype == _DTYPES.get(want): a float64 equals None.
        if is_bfloat16(array) if want == "bfloat16" else dtype == _DTYPES[want]:
            return
    hint = ""
    if not dtype.isnative:
        hint = f" ({dtype.name} in the other byte order)"
    if dtype.name in ("float64", *wanted) and "float32" in wanted:
        hint += "; convert it with astype(np.float32)"
    raise TypeError(f"{name} must be {listed(wanted)}, got {dtype}{hint}")


def require_dtype_name(value: object, name: str, *wanted: str) -> str:
    """Return the name of a dtype that must be one of `wanted`, given by name or as in NumPy."""
    try:
        # NumPy takes None for float64, and knows bfloat16 only where ml_dtypes is imported.
        named = value is None or (isinstance(value, str) and value == "bfloat16")
        dtype = None if named else np.dtype(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):
        dtype = None
    found = value if dtype is None else dtype.name if dtype.isnative else str(dtype)
    if not isinstance(found, str) or found not in wanted:
        got = shown(value) if dtype is None else found
        raise TypeError(f"{name} must be {listed(wanted)}, got {got}")
    return found


def bfloat16() -> np.dtype[Any]:
    """Return ``ml_dtypes.bfloat16``; only callers of this need the library that defines it."""
    import ml_dtypes

    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def named_dtype(name: str) -> np.dtype[Any]:
    """Return the dtype of that name, also bfloat16."""
    return bfloat16() if name == "bfloat16" else np.dtype(name)


def int4() -> np.dtype[Any]:
    """Return ``ml_dtypes.int4``, whose arrays take a byte for each value."""
    import ml_dtypes

    dtype: np.dtype[Any] = np.dtype(ml_dtypes.int4)
    return dtype


def is_bfloat16(array: Array) -> bool:
    """Whether `array` holds ``ml_dtypes.bfloat16``; asks by name, so that nothing is imported."""
    return array.dtype.name == "bfloat16" and array.dtype.isnative


def require_matrix(array: Array, name: str, axes: str) -> None:
    """Raise ValueError unless `array` is 2-D."""
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-D {axes}, got shape {array.shape}")


def require_finite(array: Array, name: str) -> None:
    """Raise ValueError where `array` holds a NaN or an infinity; says which and where."""
    finite = np.isfinite(array)
    if not finite.all():
        raise ValueError(f"{name} must be finite, got {first_of(array, ~finite)}")


def require_within(array: Array, name: str, limit: float, condition: str) -> None:
    """Raise ValueError where a magnitude exceeds `limit`, or is a NaN; says which and where.

    condition: when the limit holds, such as "for dtype='int4'".
    """
    if not np.abs(array).max(initial=0) <= limit:
        got = first_of(array, ~(np.abs(array) <= limit))
        raise ValueError(f"{name} must be within ±{limit:g} {condition}, got {got}")


def first_of(array: Array, chosen: Array) -> str:
    """Return the first of the chosen elements and where it is, such as "nan at (1, 2)"."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(chosen)), chosen.shape))
    return f"{array[index]} at {index}" if index else f"{array[()]}"


def as_numbers(value: object, name: str, kinds: str, wanted: str) -> Array:
    """Return a number or anything array-like of numbers as an array; else TypeError."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # for example rows of different lengths
        raise TypeError(f"{name} must be {wanted}, got {type(value).__name__}") from None
    if ("f" if is_bfloat16(array) else array.dtype.kind) not in kinds:
        raise TypeError(f"{name} must be {wanted}, got {array.dtype}")
    return array


def require_scales(scale: object, name: str) -> Array:
    """Return finite, positive scales as float32; else TypeError or ValueError."""
    array = as_numbers(scale, name, "fiu", "float")
    with np.errstate(over="ignore"):
        scales = array.astype(np.float32)
    good = np.isfinite(scales) & (scales > 0)
    if not good.all():
        given, rounded = first_of(array, ~good), first_of(scales, ~good)
        lost = np.isfinite(array) & (array > 0)
        inexact = f", which is {rounded.split(' ')[0]} in float32" if lost[~good].flat[0] else ""
        raise ValueError(f"{name} must be finite and positive, got {given}{inexact}")
    return scales


def require_points(zero_point: object, name: str, lowest: int, highest: int) -> Array:
    """Return integer zero points within [lowest, highest]; else TypeError or ValueError."""
    points = as_numbers(zero_point, name, "iu", "integer")
    outside = (points < lowest) | (points > highest)
    if outside.any():
        got = first_of(points, outside)
        raise ValueError(f"{name} must be within [{lowest}, {highest}], got {got}")
    return points


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


def require_number(value: object, name: str) -> float:
    """Return a real number as a float; else TypeError."""
    if isinstance(value, str) or not hasattr(value, "__float__") or np.ndim(value):  # type: ignore[arg-type]
        raise TypeError(f"{name} must be a number, got {shown(value)}")
    return float(value)


def require_flag(value: object, name: str) -> bool:
    """Return True or False; else TypeError, because a text such as "no" counts as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def require_choice(value: object, name: str, *choices: str | None) -> None:
    """Raise ValueError unless `value` is one of the choices."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        hint = _meant(value, choices) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be {listed(map(repr, choices))}, got {shown(value)}{hint}")


def _meant(value: str, choices: Iterable[str | None]) -> str:
    """Say which choice may have been meant."""
    known = [choice for choice in choices if choice is not None]
    if value.lower() in known:
        return f"; did you mean {value.lower()}?"
    from difflib import get_close_matches

    close = get_close_matches(value, known, 1)
    return f"; did you mean {close[0]}?" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return "a", "a or b", or "a, b or c"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def shown(value: object) -> str:
    """Return a value as messages show it: itself if it is short, else its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    short = value is None or isinstance(value, (str, int, float))
    return reprlib.repr(value) if short else type(value).__name__
