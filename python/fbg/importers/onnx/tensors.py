"""Tensors of ONNX files as arrays: sizes are checked before anything is read or allocated.

Every tensor of a model passes through here, wherever it is stored: in initializers, attributes,
or subgraphs. External data is looked for only in the directory of the file, whatever
its location says and wherever links lead; it is mapped, not copied. No other library sees a
tensor that is in another file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import Message  # type: ignore[import-untyped]
from onnx import helper, numpy_helper

from fbg.arrays import Array
from fbg.checkpoints.mapped_file import MappedFile
from fbg.errors import ModelError
from fbg.importers.onnx.budget import Budget

MOST_BYTES = 2**40
MOST_AXES = 64

# Bits of elements that share bytes.
_PACKED_BITS = {
    onnx.TensorProto.INT4: 4,
    onnx.TensorProto.UINT4: 4,
    onnx.TensorProto.FLOAT4E2M1: 4,
    onnx.TensorProto.INT2: 2,
    onnx.TensorProto.UINT2: 2,
}


# The messages of the format that contain tensors at any depth.
_HOLDERS = {"TensorProto"}
_MESSAGES = onnx.ModelProto.DESCRIPTOR.file.message_types_by_name
while found := {
    name
    for name, message in _MESSAGES.items()
    if name not in _HOLDERS
    and any(f.message_type and f.message_type.name in _HOLDERS for f in message.fields)
}:
    _HOLDERS |= found


def require_few_axes(number: int, where: str) -> None:
    """Raise ModelError if a tensor has more axes than NumPy knows, before anything counts them."""
    if number > MOST_AXES:
        raise ModelError(f"{where} has {number} axes; at most {MOST_AXES} are possible")


class Tensors:
    """The tensors of a model. directory: where external data is, or None."""

    def __init__(self, directory: Path | None, budget: Budget) -> None:
        self._directory = directory
        self._budget = budget
        self._files: dict[Path, MappedFile] = {}

    def read(self, tensor: onnx.TensorProto, where: str) -> Array:
        """Return the values of a tensor; raises ModelError naming `where` and the tensor."""
        where = f"{where}: tensor '{tensor.name}'"
        size = self._checked_size(tensor, where)
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            return self._external(tensor, size, where)
        try:
            if tensor.data_type == onnx.TensorProto.STRING:
                texts = [text.decode() for text in tensor.string_data]
                return np.array(texts, object).reshape(tuple(tensor.dims))
            values: Array = numpy_helper.to_array(tensor)
            return values
        except (TypeError, ValueError) as error:
            raise ModelError(f"{where} cannot be read: {error}") from error

    def dense(self, sparse: onnx.SparseTensorProto, where: str) -> Array:
        """Return the values of a sparse tensor, with its zeros; raises ModelError as `read`."""
        where = f"{where}: sparse tensor '{sparse.values.name}'"
        values = self.read(sparse.values, where).reshape(-1)
        places = self.read(sparse.indices, where)
        shape = tuple(sparse.dims)
        if len(shape) > MOST_AXES or any(size < 0 for size in shape) or values.dtype.kind == "O":
            raise ModelError(
                f"{where} must have numbers, and at most {MOST_AXES} axes, none of negative size"
            )
        count = math.prod(shape)
        self._take(count * values.dtype.itemsize, where)
        each = {
            values.shape: np.array([count]),
            (len(values), len(shape)): np.array(shape, np.int64),
        }
        limits = each.get(places.shape)
        if places.dtype != np.int64 or limits is None:
            raise ModelError(
                f"{where} must have one int64 index for each of its {len(values)} values, or one "
                f"for each axis, got {places.dtype}{list(places.shape)}"
            )
        if (places < 0).any() or (places >= limits).any():
            raise ModelError(f"{where} has an index beyond its shape {list(shape)}")
        if places.ndim == 2:
            places = places @ np.array(
                [math.prod(shape[i + 1 :]) for i in range(len(shape))], np.int64
            )
        flat = np.zeros(count, values.dtype)
        flat[places] = values
        return flat.reshape(shape)

    def own(self, node: onnx.NodeProto, where: str) -> onnx.NodeProto:
        """Return a node that holds all of its tensors, including those from other files."""
        external = False
        for part in _parts(node):
            if isinstance(part, onnx.SparseTensorProto):
                name = f"{where}: sparse tensor '{part.values.name}'"
                require_few_axes(len(part.dims), name)
                self._take(math.prod(part.dims) * _dtype(part.values, where).itemsize, name)
            else:
                self._checked_size(part, f"{where}: tensor '{part.name}'")
                external = external or part.data_location == onnx.TensorProto.EXTERNAL
        if not external:
            return node
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        for part in _parts(copy):
            if isinstance(part, onnx.TensorProto) and part.data_location == part.EXTERNAL:
                values = self.read(part, where)
                self._take(values.nbytes, f"{where}: tensor '{part.name}'")
                part.raw_data = values.tobytes()
                part.ClearField("external_data")
                part.ClearField("data_location")
        return copy

    def _take(self, size: int, where: str) -> None:
        if not self._budget.take(size):
            raise ModelError(f"{where} of {size} bytes is too large for the size of the file")

    def _checked_size(self, tensor: onnx.TensorProto, where: str) -> int:
        """Return the bytes of a tensor, which exist unless they are in another file."""
        dtype = _dtype(tensor, where)
        require_few_axes(len(tensor.dims), where)
        if any(size < 0 for size in tensor.dims):
            raise ModelError(f"{where} has a negative size: {list(tensor.dims)}")
        count, is_text = math.prod(tensor.dims), tensor.data_type == tensor.STRING
        bits = _PACKED_BITS.get(tensor.data_type, 8 * dtype.itemsize)
        size: int = -(-count * bits // 8)
        if size > MOST_BYTES:
            raise ModelError(f"{where} of shape {list(tensor.dims)} would have {size} bytes")
        if tensor.data_location == tensor.EXTERNAL:
            if tensor.data_type in _PACKED_BITS or is_text:
                raise ModelError(f"{where}: external data of this type is not supported")
        elif tensor.HasField("raw_data"):
            if len(tensor.raw_data) != size:
                raise ModelError(
                    f"{where} has {len(tensor.raw_data)} bytes of data, expected {size}"
                )
        elif not _has_elements(tensor, count, bits):
            raise ModelError(f"{where} of shape {list(tensor.dims)} has another number of elements")
        if is_text:  # each string of NumPy is as long as the longest, with 4 bytes a character
            self._take(4 * count * max(map(len, tensor.string_data), default=0), where)
        return size

    def _external(self, tensor: onnx.TensorProto, size: int, where: str) -> Array:
        dtype, shape = _dtype(tensor, where), tuple(tensor.dims)
        entries = {entry.key: entry.value for entry in tensor.external_data}
        file = self._file(entries.get("location", ""), where)
        try:
            offset = int(entries.get("offset", 0))
            length = int(entries.get("length", size))
        except ValueError:
            raise ModelError(
                f"{where}: offset and length of external data must be integers"
            ) from None
        if offset < 0 or length != size or offset + size > len(file):
            raise ModelError(
                f"{where} needs {size} bytes, but its external data is {length} bytes at {offset} "
                f"of a file of {len(file)}"
            )
        self._take(size, where)
        values = np.frombuffer(file.bytes, np.uint8, size, offset)
        if offset % max(dtype.alignment, 1) != 0:
            values = values.copy()
        return values.view(dtype).reshape(shape)

    def _file(self, location: str, where: str) -> MappedFile:
        """Return the file of that name in the directory of the model."""
        directory = self._directory
        if directory is None:
            raise ModelError(f"{where} has external data, but the model does not come from a file")
        if Path(location).is_absolute() or ".." in Path(location).parts:
            raise ModelError(f"{where}: external data {location!r} lies outside of {directory}")
        try:
            base = directory.resolve()
            path = (base / location).resolve()
            inside = bool(location) and path.is_relative_to(base) and path.is_file()
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            raise ModelError(f"{where}: there is no external data {location!r} in {directory}")
        if path not in self._files:
            self._files[path] = file = MappedFile(path)
            self._budget.give(len(file))
        return self._files[path]


def _parts(message: Message) -> Iterator[onnx.TensorProto | onnx.SparseTensorProto]:
    """Yield the tensors, dense and sparse, that a message holds at any depth."""
    for field, value in message.ListFields():
        kind = field.message_type
        if kind is None or kind.name not in _HOLDERS:
            continue
        for part in (value,) if isinstance(value, Message) else value:
            if isinstance(part, (onnx.TensorProto, onnx.SparseTensorProto)):
                yield part
            if not isinstance(part, onnx.TensorProto):
                yield from _parts(part)


def _dtype(tensor: onnx.TensorProto, where: str) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = helper.tensor_dtype_to_np_dtype(tensor.data_type)
        return dtype
    except (KeyError, TypeError, ValueError):
        raise ModelError(f"{where} has unknown type {tensor.data_type}") from None


def _has_elements(tensor: onnx.TensorProto, count: int, bits: int) -> bool:
    """Whether the typed field for the elements holds enough elements."""
    field = helper.tensor_dtype_to_field(tensor.data_type)
    stored = len(getattr(tensor, field))
    if tensor.data_type in (onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128):
        return stored == 2 * count
    return stored == (-(-count * bits // 8) if bits < 8 else count)
