"""Tensors of a file that torch.save wrote: a zip archive, none of it compressed.

    name/data.pkl     pickle of a dictionary of tensors, which refer to storages by a key
    name/data/KEY     bytes of a storage; several tensors may share one
    name/byteorder    "little"

Only tensors, storages and dictionaries of the pickle are understood (unpickler.py), as by
torch.load(weights_only=True); storages are mapped. Each tensor is checked against its storage, and
each storage against its record of the archive, before anything is read.
"""

from __future__ import annotations

import math
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fbg.checkpoints.mapped_file import MappedFile, StoredTensor
from fbg.checkpoints.unpickler import Constructor, unpickle
from fbg.errors import ModelError
from fbg.files import open_regular
from fbg.saved_file import MAX_SIZE, are_sizes

MAX_PICKLE = 1 << 23  # bytes; a tensor takes some two hundred
# Before torch 1.6: a pickle of this number comes first.
LEGACY = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19"
LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
LOCAL_SIGNATURE, DESCRIPTOR_SIGNATURE = b"PK\x03\x04", b"PK\x07\x08"

# Storage classes of torch: name and bytes of an element. An untyped storage counts in bytes.
STORAGES = {
    "DoubleStorage": ("float64", 8),
    "FloatStorage": ("float32", 4),
    "HalfStorage": ("float16", 2),
    "BFloat16Storage": ("bfloat16", 2),
    "LongStorage": ("int64", 8),
    "IntStorage": ("int32", 4),
    "ShortStorage": ("int16", 2),
    "CharStorage": ("int8", 1),
    "ByteStorage": ("uint8", 1),
    "BoolStorage": ("bool", 1),
}


@dataclass(frozen=True)
class StorageType:
    dtype: str
    item_bytes: int


@dataclass(frozen=True)
class Storage:
    """`count` elements under a key of the archive."""

    type: StorageType
    key: str
    count: int


@dataclass(frozen=True)
class TensorRecord:
    """The description of a tensor in the pickle, unchecked. Offset and stride count elements."""

    storage: object
    offset: object
    size: object
    stride: object


def _rebuild_tensor(
    storage: object, offset: object, size: object, stride: object, *ignored: object
) -> TensorRecord:
    return TensorRecord(storage, offset, size, stride)  # ignored: requires_grad, hooks, metadata


def _rebuild_parameter(tensor: object, *ignored: object) -> object:
    return tensor


def _dictionary() -> dict[object, object]:
    return {}


NAMES: dict[str, Any] = {
    "collections.OrderedDict": Constructor(_dictionary),
    "torch._utils._rebuild_tensor": Constructor(_rebuild_tensor),
    "torch._utils._rebuild_tensor_v2": Constructor(_rebuild_tensor),
    "torch._utils._rebuild_parameter": Constructor(_rebuild_parameter),
    "torch.storage.UntypedStorage": StorageType("uint8", 1),
    **{f"torch.{name}": StorageType(*kind) for name, kind in STORAGES.items()},
}


def read_torch_file(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file by name; raises ModelError. Other objects are left out."""
    file = MappedFile(path)
    try:
        archive = _Archive(file)
        content = unpickle(archive.pickle, NAMES, _storage)
        if not isinstance(content, dict):
            raise ValueError("it does not hold a dictionary of tensors")
    except ValueError as error:
        raise ModelError(f"{path}: not a readable file of torch.save: {error}") from None
    tensors = {}
    for name, record in content.items():
        if isinstance(record, TensorRecord) and isinstance(name, str):
            try:
                tensors[name] = _tensor(archive, name, record)
            except ValueError as error:
                raise ModelError(f"{path}: tensor {name}: {error}") from None
    return tensors


class _Archive:
    """The records of a file, found by the directory of the zip archive. Raises ValueError."""

    def __init__(self, file: MappedFile) -> None:
        self.file = file
        if LEGACY in file.bytes[:32]:
            raise ValueError(
                "it has the format from before torch 1.6; torch.save(torch.load(file, "
                "weights_only=True), file) converts it"
            )
        try:
            with open_regular(file.path) as opened, zipfile.ZipFile(opened) as archive:
                records, directory = archive.infolist(), archive.start_dir
                self._records = {record.filename: record for record in records}
                pickles = [name for name in self._records if name.count("/") == 1]
                pickles = [name for name in pickles if name.endswith("/data.pkl")]
                if len(self._records) != len(records) or len(pickles) != 1:
                    raise ValueError("the archive must hold one data.pkl, and each record once")
                self._prefix = pickles[0].removesuffix("data.pkl")
                order = self._small(archive, "byteorder", 16) if self._has("byteorder") else b""
                self.pickle = self._small(archive, "data.pkl", MAX_PICKLE)
        except Exception as error:  # zipfile raises nearly anything for damaged archives
            raise ValueError(str(error) or type(error).__name__) from None
        if order not in (b"", b"little"):
            raise ValueError(f"its byte order must be little, got {order!r}")
        # Where the next record begins; after the last one, the directory.
        starts = sorted(record.header_offset for record in records)
        self._ends = dict(zip(starts, [*starts[1:], directory], strict=True))

    def _has(self, name: str) -> bool:
        return self._prefix + name in self._records

    def _small(self, archive: zipfile.ZipFile, name: str, most: int) -> bytes:
        record = self._stored(name)
        if record.file_size > most:
            raise ValueError(f"record {name} has {record.file_size} bytes, more than {most}")
        return archive.read(record)  # and its checksum is compared

    def _stored(self, name: str) -> zipfile.ZipInfo:
        if not self._has(name):
            raise ValueError(f"record {name} is missing")
        record = self._records[self._prefix + name]
        if record.compress_type != zipfile.ZIP_STORED or record.flag_bits & 1:
            raise ValueError(f"record {name} is compressed or encrypted")
        return record

    def begin(self, storage: Storage) -> int:
        """Return the byte at which a storage begins; its record has exactly the bytes it needs."""
        name = f"data/{storage.key}"
        record, size = self._stored(name), storage.count * storage.type.item_bytes
        if not record.file_size == record.compress_size == size:
            raise ValueError(
                f"record {name} has {record.file_size} bytes, but its storage has "
                f"{storage.count} elements of {storage.type.dtype}"
            )
        start = record.header_offset
        header = self.file.bytes[start : start + LOCAL_HEADER.size]
        if len(header) < LOCAL_HEADER.size:
            raise ValueError(f"record {name} lies outside the file")
        signature, *_, name_bytes, extra_bytes = LOCAL_HEADER.unpack(header)
        name_end = start + LOCAL_HEADER.size + name_bytes
        stored_name = self.file.bytes[start + LOCAL_HEADER.size : name_end]
        begin: int = name_end + extra_bytes
        # Between two records there may be a descriptor: a signature, a checksum and the sizes.
        end = begin + size
        rest = self.file.bytes[end : min(self._ends[start], end + 25)]
        if (
            signature != LOCAL_SIGNATURE
            or stored_name != record.orig_filename.encode()
            or end > self._ends[start]
            or (rest and not (len(rest) in (16, 24) and rest.startswith(DESCRIPTOR_SIGNATURE)))
        ):
            raise ValueError(f"record {name} is not where the archive says")
        return begin


def _storage(reference: object) -> Storage:
    """Return the storage of a persistent id: ("storage", class, key, device, elements)."""
    fields = reference if type(reference) is tuple and len(reference) == 5 else (None,) * 5
    word, kind, key, _, count = fields
    if (
        word != "storage"
        or not isinstance(kind, StorageType)
        or type(key) is not str
        or type(count) is not int
        or not 0 <= count < MAX_SIZE
    ):
        raise ValueError("a storage is not described the way torch.save does")
    return Storage(kind, key, count)


def _tensor(archive: _Archive, name: str, record: TensorRecord) -> StoredTensor:
    """Check a tensor against its storage; raises ValueError."""
    storage, offset, size, stride = record.storage, record.offset, record.size, record.stride
    if not isinstance(storage, Storage):
        raise ValueError("it has no storage")
    if not (are_sizes((offset,), tuple) and are_sizes(size, tuple) and are_sizes(stride, tuple)):
        raise ValueError("its offset, size and stride are not all integers of at least 0")
    assert isinstance(offset, int)
    if len(size) != len(stride):
        raise ValueError(f"it has {len(size)} sizes, but {len(stride)} strides")
    elements = math.prod(size)
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    # More elements than the storage has would repeat the same ones.
    if elements > storage.count or (last >= storage.count if elements else offset > storage.count):
        raise ValueError(
            f"size {size}, stride {stride} and offset {offset} are beyond its storage of "
            f"{storage.count} elements"
        )
    item = storage.type.item_bytes
    begin = archive.begin(storage) + offset * item
    strides = tuple(step * item for step in stride)
    return StoredTensor(archive.file, name, storage.type.dtype, size, begin, strides)
