"""Tensors of a file that torch.save wrote: a zip archive, none of it compressed.

    name/data.pkl     pickle of a dictionary of tensors, which refer to storages by a key
    name/data/KEY     bytes of a storage; several tensors may share one
    name/byteorder    "little"

Only tensors, storages and dictionaries of the pickle are understood, as by
torch.load(weights_only=True); storages are mapped. Each tensor is checked against its storage, and
each storage against its record of the archive, before anything is read.

The pickle module runs whatever function a pickle names. Here a name is looked up in a table, and
nothing else is ever called. The opcodes are those that torch.save writes (protocol 2,
https://docs.python.org/3/library/pickletools.html); any other one is an error. Memory is bounded
by the size of the pickle: an opcode makes at most one object.
"""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fbg.checkpoints.mapped_file import MappedFile, StoredTensor
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


PROTOCOL = 2


class Constructor:
    """A function that a pickle may call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def unpickle(
    data: bytes, names: Mapping[str, Any], persistent: Callable[[object], object]
) -> object:
    """Return the object that a pickle describes; raises ValueError for any other bytes.

    names: what "module.name" stands for. A Constructor is called by the pickle; a ValueError or
        TypeError that it raises is one of this function.
    persistent: gives the object for a persistent id.
    """
    machine = _Machine(data, names, persistent)
    try:
        return machine.run()
    except (IndexError, KeyError, struct.error):
        raise ValueError(f"damaged pickle, near byte {machine.position}") from None
    except TypeError as error:
        raise ValueError(f"damaged pickle, near byte {machine.position}: {error}") from None


class _Machine:
    """A pickle machine that can only build data: numbers, text, tuples, lists, dictionaries, and
    objects that its caller makes of the names and persistent ids in the pickle.

    It has a stack, the stacks below each mark, and a memo of objects that are referred to again.
    """

    def __init__(
        self, data: bytes, names: Mapping[str, Any], persistent: Callable[[object], object]
    ) -> None:
        self.position = 0
        self._data, self._names, self._persistent = data, names, persistent
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> object:
        while True:
            opcode = self._take(1)
            if opcode == b".":
                return self._stack.pop()
            step = STEPS.get(opcode)
            if step is None:
                raise ValueError(f"torch.save never writes the pickle opcode {opcode!r}")
            step(self)

    # --- Reading ------------------------------------------------------------------------------

    def _take(self, count: int) -> bytes:
        part = self._data[self.position : self.position + count]
        if len(part) != count:
            raise ValueError("truncated pickle")
        self.position += count
        return part

    def _number(self, layout: str) -> Any:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _line(self) -> str:
        end = self._data.find(b"\n", self.position)
        if end < 0:
            raise ValueError("truncated pickle")
        line = self._take(end - self.position)
        self.position += 1
        return line.decode()

    # --- Steps --------------------------------------------------------------------------------

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _pop_to_mark(self) -> list[Any]:
        items, self._stack = self._stack, self._below.pop()
        return items

    def protocol(self) -> None:
        version = self._number("<B")
        if version != PROTOCOL:
            raise ValueError(f"pickle protocol must be {PROTOCOL}, as torch writes it: {version}")

    def mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def unicode(self) -> None:
        self._push(self._take(self._number("<I")).decode())

    def long(self) -> None:
        self._push(int.from_bytes(self._take(self._number("<B")), "little", signed=True))

    def tuple_of(self, count: int) -> None:
        if len(self._stack) < count:
            raise IndexError
        items = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._push(items)

    def append(self, items: list[Any]) -> None:
        if type(self._stack[-1]) is not list:
            raise ValueError("the pickle appends to an object that is not a list")
        self._stack[-1].extend(items)

    def set_items(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise ValueError("the pickle sets items of an object that is not a dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Tuples of tuples could take for ever to hash.
            if type(key) not in (str, int):
                raise ValueError("a key in the pickle must be text or an integer")
            target[key] = value

    def get(self, layout: str) -> None:
        self._push(self._memo[self._number(layout)])

    def put(self, layout: str) -> None:
        self._memo[self._number(layout)] = self._stack[-1]

    def find(self) -> None:
        name = f"{self._line()}.{self._line()}"
        if name not in self._names:
            raise ValueError(
                f"it refers to {name[:200]}, which is neither a tensor nor a storage of one"
            )
        self._push(self._names[name])

    def call(self) -> None:
        arguments, constructor = self._stack.pop(), self._stack.pop()
        if not isinstance(constructor, Constructor) or type(arguments) is not tuple:
            raise ValueError("the pickle calls an object that is not a function")
        self._push(constructor.function(*arguments))

    def set_state(self) -> None:
        """Drop the attributes of an object: a dictionary has none that matter."""
        self._stack.pop()
        if type(self._stack[-1]) is not dict:
            raise ValueError("the pickle sets attributes of an object that is not a dictionary")

    def load_persistent(self) -> None:
        self._push(self._persistent(self._stack.pop()))


STEPS: dict[bytes, Callable[[_Machine], None]] = {
    b"\x80": _Machine.protocol,
    b"N": lambda m: m._push(None),
    b"\x88": lambda m: m._push(True),
    b"\x89": lambda m: m._push(False),
    b"J": lambda m: m._push(m._number("<i")),
    b"K": lambda m: m._push(m._number("<B")),
    b"M": lambda m: m._push(m._number("<H")),
    b"\x8a": _Machine.long,
    b"G": lambda m: m._push(m._number(">d")),
    b"X": _Machine.unicode,
    b"(": _Machine.mark,
    b")": lambda m: m._push(()),
    b"\x85": lambda m: m.tuple_of(1),
    b"\x86": lambda m: m.tuple_of(2),
    b"\x87": lambda m: m.tuple_of(3),
    b"t": lambda m: m._push(tuple(m._pop_to_mark())),
    b"]": lambda m: m._push([]),
    b"a": lambda m: m.append([m._stack.pop()]),
    b"e": lambda m: m.append(m._pop_to_mark()),
    b"}": lambda m: m._push({}),
    b"s": lambda m: m.set_items([m._stack.pop(-2), m._stack.pop()]),
    b"u": lambda m: m.set_items(m._pop_to_mark()),
    b"h": lambda m: m.get("<B"),
    b"j": lambda m: m.get("<I"),
    b"q": lambda m: m.put("<B"),
    b"r": lambda m: m.put("<I"),
    b"c": _Machine.find,
    b"R": _Machine.call,
    b"b": _Machine.set_state,
    b"Q": _Machine.load_persistent,
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


NAMES: dict[str, Any] = {
    "collections.OrderedDict": Constructor(dict),
    "torch._utils._rebuild_tensor": Constructor(_rebuild_tensor),
    "torch._utils._rebuild_tensor_v2": Constructor(_rebuild_tensor),
    "torch._utils._rebuild_parameter": Constructor(lambda tensor, *ignored: tensor),
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
