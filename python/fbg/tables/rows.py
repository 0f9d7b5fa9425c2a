"""The rows of an embedding table as bytes: floats as they are, or fused rows of smaller values.

``fbg.quantization.rowwise`` draws those of integers; floats of 8 bits have a scale and no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import arrays
from fbg.arrays import Array, as_array, require_dtype, require_dtype_name, require_matrix
from fbg.quantization.rowwise import MOST_COLUMNS, RowwiseMatrix, fused_rows_of

FLOATS = ("float32", "float16", "bfloat16")
INTEGERS = ("int8", "int4", "int2")
FLOAT8 = "float8_e4m3fn"
FUSED = (*INTEGERS, FLOAT8)
DTYPES = (*FLOATS, *FUSED)  # in the order of RowFormat of C++
BITS = {"int8": 8, "int4": 4, "int2": 2, FLOAT8: 8}
PIECE = 1 << 20  # rows that are checked at a time, since a table may be larger than memory


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of `columns` values a row, which kernels read where they are.

    Attributes:
        data: uint8 (M, bytes of a row); the bytes of a row are contiguous.
        dtype: one of DTYPES.
        half: whether scales and biases are float16; they are float32 otherwise.
        columns: N.
    """

    data: npt.NDArray[np.uint8]
    dtype: str
    half: bool
    columns: int


def scale_of(dtype: str, given: Any, name: str) -> str:
    """Return the type of scales of rows of that dtype; None: as PyTorch has it."""
    if given is None:
        return "float32" if BITS[dtype] == 8 else "float16"
    return require_dtype_name(given, f"{name}: scale_dtype", "float32", "float16")


def make_rows(table: object, dtype: str | None, scale_dtype: Any, name: str) -> Rows:
    """Return the rows of a matrix: of its own dtype in place, of any other converted."""
    if isinstance(table, RowwiseMatrix):
        own = f"int{table.bits}"
        if dtype not in (None, own):
            raise ValueError(f"{name}: dtype must be None or {own!r} for this table, got {dtype!r}")
        _require_columns(table.columns, name)
        _require_no_scale(scale_dtype, name)
        return Rows(table.fused(), own, table.scale.dtype == np.float16, table.columns)
    array = as_array(table, f"{name}: table", refers=True)
    require_dtype(array, f"{name}: table", *FLOATS)
    require_matrix(array, f"{name}: table", "(rows, columns)")
    columns = _require_columns(array.shape[1], name)
    wanted = array.dtype.name if dtype is None else dtype
    if wanted in FUSED:
        floats = array.astype(np.float32, copy=False)
        scales = scale_of(wanted, scale_dtype, name)
        fused = fused_rows_of(floats, DTYPES.index(wanted), scales, f"{name}: table")
        return Rows(fused, wanted, scales == "float16", columns)
    _require_no_scale(scale_dtype, name)
    if wanted != array.dtype.name:
        array = _convert(array, wanted, name)
    if not arrays.has_dense_rows(array) or array.strides[1] != array.itemsize:
        array = np.ascontiguousarray(array)
    return Rows(array.view(np.uint8), wanted, False, columns)


def _require_no_scale(scale_dtype: object, name: str) -> None:
    if scale_dtype is not None:
        raise ValueError(
            f"{name}: scale_dtype goes with floats that are quantized, got a table "
            "that is kept, or a dtype without scales"
        )


def _convert(array: Array, dtype: str, name: str) -> Array:
    with np.errstate(over="ignore"):
        converted = arrays.empty_lines(array.shape, arrays.named_dtype(dtype))
        converted[...] = array
    lost = np.isinf(converted.astype(np.float32)) & np.isfinite(array.astype(np.float32))
    if lost.any():
        raise ValueError(f"{name}: table must fit {dtype}, got {arrays.first_of(array, lost)}")
    return converted


def fused_rows(
    fused: object, columns: int, dtype: str, scale_dtype: str, verify: bool, name: str
) -> Rows:
    """Return fused rows in place; such an array may be mapped from a file.

    verify: whether all scales and biases must be finite.
    """
    array = as_array(fused, f"{name}: fused", refers=True)
    require_dtype(array, f"{name}: fused", "uint8")
    values, size = -(-columns * BITS[dtype] // 8), np.dtype(scale_dtype).itemsize
    total = values + (size if dtype == FLOAT8 else 2 * size)
    require_matrix(array, f"{name}: fused", f"(rows, {total})")
    if array.shape[1] != total:
        raise ValueError(
            f"{name}: fused must have {total} bytes per row for {columns} columns of "
            f"{dtype} and {scale_dtype}, got {array.shape[1]}"
        )
    data: npt.NDArray[Any] = array if arrays.has_dense_rows(array) else array.copy()
    little = np.dtype(scale_dtype).newbyteorder("<")
    for first in range(0, len(data) if verify else 0, PIECE):
        ends = np.ascontiguousarray(data[first : first + PIECE, values:]).view(little)
        wrong = np.argwhere(~np.isfinite(ends))
        if wrong.size:
            row, part = map(int, wrong[0])
            raise ValueError(
                f"{name}: scale and bias of each row must be finite, "
                f"got {ends[row, part]} at ({first + row}, {part})"
            )
    return Rows(data, dtype, size == 2, columns)


def _require_columns(columns: int, name: str) -> int:
    if not 1 <= columns <= MOST_COLUMNS:
        raise ValueError(f"{name}: table must have 1 to {MOST_COLUMNS} columns, got {columns}")
    return columns
