"""What a look-up is given: indices, offsets, weights and where the result goes, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fbg import _fbg
from fbg.arrays import (
    Array,
    Floats,
    as_array,
    first_of,
    no_array,
    require_dtype,
    require_integer,
)

INDEX_DTYPES = (np.dtype(np.int64), np.dtype(np.int32))


class BagArguments(NamedTuple):
    """The arguments of one table, contiguous, offsets being of the dtype of the indices.

    counts: by which the sum of each bag is divided, where the look-up does not count itself.
    """

    indices: Array
    offsets: Array | None
    weights: Floats | None
    bags: int
    counts: Array | None = None


def check_bags(
    name: str,
    indices: object,
    offsets: object,
    weights: object,
    lengths: object,
    *,
    mode: str,
    ends: bool,
    at: str = "",
) -> BagArguments:
    """Return the arguments of a call of a bag of that mode, whose offsets may have an end.

    at: follows their names in messages, such as "[1]".
    """
    where = f"{name}: indices{at}"
    array = as_array(indices, where)
    require_index_dtype(array, where)
    if array.ndim not in (1, 2):
        raise ValueError(f"{where} must be 1-D or 2-D (bags, length), got shape {array.shape}")
    flat = contiguous(array)
    begins, bags = None, len(flat)
    for what, given in (("offsets", offsets), ("lengths", lengths)):
        if given is not None and flat.ndim == 2:
            raise ValueError(f"{name}: {what}{at} go with 1-D indices, got shape {flat.shape}")
    if lengths is not None:
        if offsets is not None:
            raise ValueError(f"{name}: lengths{at} must be None with offsets{at}, got both")
        begins = _summed(flat, lengths, f"{name}: lengths{at}")
        bags, begins = len(begins) - 1, begins if ends else begins[:-1]
    elif offsets is not None:
        begins = _offsets(flat, offsets, f"{name}: offsets{at}")
        bags = len(begins) - ends
        if bags < 0:
            raise ValueError(f"{name}: offsets{at} must end with the last offset, got none")
    elif flat.ndim == 1:
        raise ValueError(
            f"{name}: 1-D indices{at} need offsets, where each bag begins, or lengths; "
            "2-D indices are one bag a row"
        )
    factors = _weights(f"{name}: per_sample_weights{at}", weights, flat, mode)
    return BagArguments(flat, begins, factors, bags)


def contiguous(array: Array) -> Array:
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def require_index_dtype(array: Array, name: str) -> None:
    if array.dtype not in INDEX_DTYPES:
        raise TypeError(f"{name} must be int32 or int64, got {array.dtype}")


def _offsets(indices: Array, offsets: object, name: str) -> Array:
    array = as_array(offsets, name)
    require_index_dtype(array, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    if array.dtype == indices.dtype:
        return contiguous(array)
    converted = np.ascontiguousarray(array, indices.dtype)
    wrong = np.flatnonzero(converted != array)
    if wrong.size:
        raise ValueError(_bad_offset(name, array, int(wrong[0]), len(indices)))
    return converted


def _summed(indices: Array, lengths: object, name: str) -> Array:
    """Return where each bag begins, and the end of the last one."""
    array, most = as_array(lengths, name), len(indices)
    require_index_dtype(array, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    wrong = (array < 0) | (array > most)
    if wrong.any():
        raise ValueError(f"{name} must be within [0, {most}], got {first_of(array, wrong)}")
    if most > np.iinfo(indices.dtype).max:
        raise ValueError(f"{name} of so many indices need int64, got {most} of {indices.dtype}")
    ends = np.cumsum(array, dtype=np.int64)
    if ends[-1:].sum() != most:
        raise ValueError(f"{name} must add up to {most}, the number of indices, got {array.sum()}")
    return np.concatenate([[0], ends]).astype(indices.dtype)


def _bad_offset(name: str, offsets: Array, at: int, count: int) -> str:
    if at == 0:
        return f"{name} must begin with 0, got {offsets[0]}"
    if offsets[at] > count:
        return f"{name} must be at most {count}, the number of indices, got {offsets[at]} at {at}"
    return f"{name} must not fall, got {offsets[at - 1]}, {offsets[at]} at {at - 1}"


def _weights(name: str, weights: object, indices: Array, mode: str) -> Floats | None:
    if weights is None:
        return None
    if mode == "max":
        raise ValueError(f"{name} go with the modes sum and mean, got mode 'max'")
    array = as_array(weights, name)
    require_dtype(array, name, "float32")
    if array.shape != indices.shape:
        raise ValueError(
            f"{name} must have the shape of indices, {indices.shape}, got {array.shape}"
        )
    return contiguous(array)


def check_out(out: object, dtype: str, shape: tuple[int, int], name: str, *inputs: Any) -> Array:
    """Return `out`, which may have a row stride and shares no memory with the inputs."""
    if not isinstance(out, np.ndarray):
        raise no_array(out, f"{name}: out")
    require_dtype(out, f"{name}: out", dtype)
    if out.shape != shape:
        raise ValueError(f"{name}: out must have shape {shape}, got {out.shape}")
    if not (out.flags.writeable and out.flags.aligned):
        raise ValueError(f"{name}: out must be writable and aligned")
    if out.size and shape[1] > 1 and out.strides[1] != out.itemsize:
        raise ValueError(f"{name}: out must have contiguous rows")
    if out.size and shape[0] > 1 and abs(out.strides[0]) < shape[1] * out.itemsize:
        raise ValueError(f"{name}: out must have rows that do not overlap")
    for given in inputs:
        if given is not None and np.may_share_memory(out, given):
            raise ValueError(f"{name}: out must not overlap the table or another argument")
    return out


def sums_for(out: Array, part: BagArguments) -> Array:
    """Return where a look-up writes: `out`, unless it is to be rounded after sums are divided."""
    if part.counts is None or out.dtype == np.float32:
        return out
    return np.empty(out.shape, np.float32)


def divide(sums: Array, part: BagArguments, out: Array) -> None:
    """Divide sums by the counts of their bags, if there are any, and round them to `out`."""
    if part.counts is not None:
        sums /= np.maximum(part.counts, 1).astype(np.float32)[:, None]
        if sums is not out:
            with np.errstate(over="ignore"):
                out[...] = sums


def threads(num_threads: int | None, name: str) -> int:
    """Return a number of threads, the default one for None."""
    if num_threads is None:
        return _fbg.num_threads()
    return require_integer(num_threads, f"{name}: num_threads", 1, _fbg.MAX_THREADS)


def refuse(bad: tuple[int, str, int], part: BagArguments, rows: int, name: str) -> None:
    """Raise ValueError for what the native look-up has found: (table, what, position).

    name: of the argument, in the message.
    """
    _, what, position = bad
    if what == "offsets":
        assert part.offsets is not None
        raise ValueError(_bad_offset(name, part.offsets, position, len(part.indices)))
    place = tuple(int(i) for i in np.unravel_index(position, part.indices.shape))
    raise ValueError(
        f"{name} must be within [0, {rows}), "
        f"got {part.indices[place]} at {place[0] if len(place) == 1 else place}"
    )
