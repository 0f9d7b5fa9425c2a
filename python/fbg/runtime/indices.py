"""Checks token ids and the arrays beside them. Errors name the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def index_array(where: str, value: object, shape: tuple[int, int] | None) -> npt.NDArray[Any]:
    """Return an integer or boolean array of the wanted shape; raises TypeError or ValueError."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where} must be a 2-D array: {error}") from None
    if array.size == 0 and array.dtype == np.float64 and not hasattr(value, "dtype"):
        array = array.astype(np.int64)  # an empty list has no dtype
    if array.dtype.kind not in "iub":
        raise TypeError(f"{where} must be integers, got {array.dtype}")
    if array.ndim != 2:
        raise ValueError(f"{where} must be 2-D (batch, sequence), got shape {array.shape}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{where} must have the shape of input_ids, {shape}, got {array.shape}")
    return array


def require_in_range(
    where: str, values: npt.NDArray[Any], limit: int, valid: npt.NDArray[np.bool_] | None = None
) -> None:
    """Raise ValueError for the first of `values` outside [0, limit), except for hidden tokens.

    valid: False where a token is hidden, in the shape of `values`; None: every token counts.
    """
    seen = values if valid is None else values[valid]
    if seen.size == 0 or (seen.min() >= 0 and seen.max() < limit):
        return
    wrong = (values < 0) | (values >= limit)
    if valid is not None:
        wrong &= valid
    place = np.argwhere(wrong)[0].tolist()
    got = int(values[tuple(place)])
    raise ValueError(f"{where} must be in [0, {limit}), got {got} at {place}")
