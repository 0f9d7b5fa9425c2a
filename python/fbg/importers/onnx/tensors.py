"""Tensors of ONNX files as arrays: sizes are checked before anything is read or allocated.

External data is looked for in the directory of the file and nowhere else, whatever its location
says and wherever links lead; it is mapped, not copied.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from fbg.errors import ModelError

__all__ = ["read_tensor"]

Array = npt.NDArray[Any]
MOST_BYTES = 2**40

# Bits of elements that share bytes.
_PACKED_BITS = {
    onnx.TensorProto.INT4: 4,
    onnx.TensorProto.UINT4: 4,
    onnx.TensorProto.FLOAT4E2M1: 4,
    onnx.TensorProto.INT2: 2,
    onnx.TensorProto.UINT2: 2,
}


def read_tensor(tensor: onnx.TensorProto, origin: str, directory: Path | None) -> Array:
    """Return the values of a tensor; raises ModelError naming `origin` and the tensor."""
    where = f"{origin}: tensor '{tensor.name}'"
    if tensor.data_type == onnx.TensorProto.STRING:
        texts: Array = numpy_helper.to_array(tensor)
        return texts
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, TypeError, ValueError):
        raise ModelError(f"{where} has unknown type {tensor.data_type}") from None
    if any(size < 0 for size in tensor.dims):
        raise ModelError(f"{where} has a negative size: {list(tensor.dims)}")
    count = math.prod(tensor.dims)
    bits = _PACKED_BITS.get(tensor.data_type, 8 * dtype.itemsize)
    size = -(-count * bits // 8)
    if size > MOST_BYTES:
        raise ModelError(f"{where} of shape {list(tensor.dims)} would have {size} bytes")
    if tensor.data_location == onnx.TensorProto.EXTERNAL:
        if tensor.data_type in _PACKED_BITS:
            raise ModelError(f"{where}: external data of this type is not supported")
        return _external(tensor, dtype, size, where, directory)
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != size:
            raise ModelError(f"{where} has {len(tensor.raw_data)} bytes of data, wanted {size}")
    elif not _has_elements(tensor, count, bits):
        raise ModelError(f"{where} of shape {list(tensor.dims)} has another number of elements")
    try:
        values: Array = numpy_helper.to_array(tensor)
        return values
    except (TypeError, ValueError) as error:
        raise ModelError(f"{where} cannot be read: {error}") from error


def _has_elements(tensor: onnx.TensorProto, count: int, bits: int) -> bool:
    """Whether the typed field that holds the elements has enough of them."""
    field = helper.tensor_dtype_to_field(tensor.data_type)
    stored = len(getattr(tensor, field))
    if tensor.data_type in (onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128):
        return stored == 2 * count
    return stored == (-(-count * bits // 8) if bits < 8 else count)


def _external(
    tensor: onnx.TensorProto,
    dtype: np.dtype[Any],
    size: int,
    where: str,
    directory: Path | None,
) -> Array:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    if directory is None:
        raise ModelError(f"{where} has external data, but the model does not come from a file")
    try:
        base = directory.resolve()
        path = (base / location).resolve()
        inside = bool(location) and path.is_relative_to(base) and path.is_file()
        available = path.stat().st_size if inside else 0
    except (OSError, ValueError, RuntimeError):
        inside, available = False, 0
    if (location and Path(location).is_absolute()) or ".." in Path(location).parts:
        raise ModelError(f"{where}: external data {location!r} lies outside of {directory}")
    if not inside:
        raise ModelError(f"{where}: there is no external data {location!r} in {directory}")
    try:
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", size))
    except ValueError:
        raise ModelError(f"{where}: offset and length of external data must be integers") from None
    if offset < 0 or length != size or offset + size > available:
        raise ModelError(
            f"{where} needs {size} bytes, but its external data is {length} bytes at {offset} of a "
            f"file of {available}"
        )
    if size == 0:
        return np.empty(tuple(tensor.dims), dtype)
    mapped = np.memmap(path, np.uint8, "r", offset, (size,))
    values = np.frombuffer(mapped, np.uint8)
    if offset % max(dtype.alignment, 1) != 0:
        values = values.copy()
    return values.view(dtype).reshape(tuple(tensor.dims))
