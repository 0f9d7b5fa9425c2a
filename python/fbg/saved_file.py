"""What fbg saves: one container for packed weights, tables, models and networks, mapped and not
copied when it is loaded; and the directory around the weights of a model or a network.

    u64 length of the JSON | JSON, padded with spaces up to a multiple of 64 | blocks | arrays

    {"__metadata__": {"format": "fbg.Model", "version": "4", "fbg": "0.3.0", "dtype": "int8", …},
     "layers.0.qkv.weight": {"dtype": "U8", "shape": [bytes], "data_offsets": [begin, end]},
     "embeddings.word": {"dtype": "F32", "shape": [V, H], "data_offsets": [begin, end]}, …}

It is a safetensors file (https://huggingface.co/docs/safetensors): all little-endian, offsets count
from the end of the JSON. A block is packed weights as kernels read them
(include/fbg/gemm/pack_b.h), with a header and a checksum of its own; it begins at a multiple of 64
bytes. Arrays follow all blocks, those with the largest elements first, so that all are aligned;
their checksums are in the metadata. Arrays of encoders are float32, or vocabularies of 8 bits
(matmul/vocabulary.py). The format "fbg.Net" is for networks from ONNX files, whose arrays have any
of the types below (importers/saved_net.py), "fbg.EmbeddingBag" for a table
(tables/saved_table.py), and "fbg.PackedB" for one block.

A directory is filled under a temporary name beside the one that it gets, and renamed when it is
complete; if one exists already, the two are exchanged. Only an empty directory or one that
holds a saved model is ever replaced.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeGuard, TypeVar

import numpy as np

from fbg import _fbg
from fbg.arrays import Array, Floats, require_flag
from fbg.errors import ModelError
from fbg.files import open_regular, parse_json, replace_file, stand_in

MODEL, NET, TABLE, PACKED = "fbg.Model", "fbg.Net", "fbg.EmbeddingBag", "fbg.PackedB"
# Version 1 of models had no heads, 2 had another name for a norm of BERT's layers
# (networks/source.py), and 3 had vocabularies in float32 only.
VERSIONS = {MODEL: 4, NET: 2, TABLE: 1, PACKED: 1}
KINDS = {TABLE: "table that fbg saved", PACKED: "file of PackedB"}
WEIGHTS = "fbg.safetensors"  # a directory that has it is a saved model
ALIGNMENT = 64
MAX_HEADER = 1 << 24  # BERT-base has 30 kB
PIECE = 1 << 20  # bytes that are checked at a time
MAX_DIMENSIONS = 16  # most axes of a tensor; NumPy has a limit of its own
MAX_SIZE = 1 << 48  # larger than any file
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # from <fcntl.h> and <stdio.h>

# Name and bytes of an element. Other types exist; their tensors are known, but cannot be read.
DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    **{f"I{8 * size}": (f"int{8 * size}", size) for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": (f"uint{8 * size}", size) for size in (1, 2, 4, 8)},
    "BOOL": ("bool", 1),
    "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1),
    "F8_E8M0": ("float8_e8m0fnu", 1),
}
# The types that NumPy has without ml_dtypes.
NAMES = {
    np.dtype(dtype): name for name, (dtype, _) in DTYPES.items() if name[:2] not in ("BF", "F8")
}

Sizes = TypeVar("Sizes", list[int], tuple[int, ...])


class Entry(NamedTuple):
    """A tensor; begin, end: in bytes from the beginning of the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def are_sizes(values: object, kind: type[Sizes]) -> TypeGuard[Sizes]:
    """Whether values are the sizes of the axes of a tensor, as far as a file can have them."""
    return (
        isinstance(values, kind)
        and len(values) <= MAX_DIMENSIONS
        and all(type(value) is int and 0 <= value < MAX_SIZE for value in values)
    )


def read_header(file: BinaryIO, most: int) -> tuple[dict[str, Any], int, int]:
    """Return the JSON of a safetensors file, where its tensors begin and where the file ends.

    most: bytes that the JSON may have. Raises ValueError.
    """
    total = os.fstat(file.fileno()).st_size
    first = file.read(64)
    if (what := stand_in(first)) is not None:
        raise ValueError(what)
    length = int.from_bytes(first[:8], "little")
    begin = 8 + length
    file.seek(8)
    if total < 8 or begin > total or length > most:
        raise ValueError("truncated, or not a safetensors file")
    try:
        header = parse_json(file.read(length))
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise ValueError("damaged, or not a safetensors file: its header is not a JSON object")
    return header, begin, total


def entries_of(
    header: dict[str, Any], first: int, verdict: str = ""
) -> tuple[dict[str, Entry], int]:
    """Return the tensors of a file by name, and where the last one ends; raises ValueError.

    header: without the metadata. first: where the JSON ends. verdict: name of the file in errors.
    """
    entries = {name: _entry(name, value, first, verdict) for name, value in header.items()}
    return entries, max((each.end for each in entries.values()), default=first)


def _entry(name: str, value: Any, first: int, verdict: str) -> Entry:
    fields: dict[str, Any] = value if isinstance(value, dict) else {}
    shape, offsets, dtype = fields.get("shape"), fields.get("data_offsets"), fields.get("dtype")
    if (
        not isinstance(dtype, str)
        or not dtype.isupper()  # "float32" is what this package calls F32
        or not are_sizes(shape, list)
        or not are_sizes(offsets, list)
        or len(offsets) != 2
        or offsets[0] > offsets[1]
        or (dtype in DTYPES and offsets[1] - offsets[0] != math.prod(shape) * DTYPES[dtype][1])
    ):
        raise ValueError(f"tensor {name}: {verdict}its header says {str(value)[:200]}")
    return Entry(dtype, tuple(shape), first + offsets[0], first + offsets[1])


def format_of(path: str) -> str | None:
    """Return the format that a file says it has; None for one that says nothing, or is none."""
    try:
        with open_regular(path) as file:
            metadata = read_header(file, MAX_HEADER)[0].get("__metadata__")
    except (OSError, ValueError):
        return None
    return metadata.get("format") if isinstance(metadata, dict) else None


def write(
    path: str | Path,
    tensors: Mapping[str, _fbg.PackedB | Array],
    metadata: Mapping[str, str],
    format: str = MODEL,
) -> None:
    """Write packed weights and arrays under their names, with `metadata` about them, to a file that
    is there completely or not at all.
    """
    blocks = {n: t.block for n, t in tensors.items() if not isinstance(t, np.ndarray)}
    arrays = {
        name: np.ascontiguousarray(tensor).reshape(tensor.shape)
        for name, tensor in tensors.items()
        if isinstance(tensor, np.ndarray)
    }
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    stored: dict[str, Array] = {**blocks, **dict(ordered)}
    about = {"format": format, "version": str(VERSIONS[format]), **metadata}
    if format != PACKED:
        sums = {name: _checksum(array) for name, array in arrays.items()}
        about["checksums"] = json.dumps(sums)
    header: dict[str, Any] = {"__metadata__": about}
    end = 0
    for name, array in stored.items():
        begin, end = end, end + array.nbytes
        dtype = NAMES[array.dtype]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > MAX_HEADER:
        raise ValueError(f"{path}: {len(stored)} tensors have names that are too long to be saved")
    with replace_file(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in stored.values():
            if array.size > 0:
                file.write(array.reshape(-1).view(np.uint8).data)


def _checksum(array: Array) -> int:
    checksum = _fbg.Checksum()
    checksum.add(array.reshape(-1).view(np.uint8))
    return checksum.value


class SavedFile:
    """A file that `write` wrote, mapped. Every tensor is checked on access.

    verify: whether checksums are, for which all bytes are read. copies: whether packed weights are
    copied, so that they are in the memory of the NUMA node that loads them.

    Raises ModelError naming the file, and the tensor if it is about one.
    """

    copies = False

    def __init__(self, path: Path, format: str = MODEL, *, verify: bool = True) -> None:
        self.path, self._verify = path, verify
        self._asked: set[str] = set()
        try:
            # Open until every block is mapped; the mappings stay without it.
            self._file = open_regular(path)
        except OSError as error:
            raise ModelError(f"{path}: {error.strerror or error}") from None
        try:
            self._tensors, self._metadata = _decode_header(self._file, format)
            size = os.fstat(self._file.fileno()).st_size
            self._bytes = _fbg.map_bytes(self._file.fileno(), 0, size)
            given = format != PACKED
            self._checksums = _json_object(self._metadata, "checksums") if given else {}
        except BaseException as error:
            self._file.close()
            if isinstance(error, OSError | RuntimeError | ValueError):
                raise ModelError(f"{path}: {error}") from None
            raise

    def __enter__(self) -> SavedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def entry(self, name: str) -> Entry | None:
        """Return the place of a tensor, None if there is none; other methods check it."""
        return self._tensors.get(name)

    def metadata(self, key: str) -> str:
        if key not in self._metadata:
            raise ModelError(f"{self.path}: damaged: its metadata has no {key}")
        return self._metadata[key]

    def metadata_object(self, key: str) -> dict[str, Any]:
        """Return the JSON object that the metadata have under a key, or an empty one."""
        if key not in self._metadata:
            return {}
        try:
            return _json_object(self._metadata, key)
        except ValueError as error:
            raise ModelError(f"{self.path}: {error}") from None

    def block(self, name: str) -> _fbg.PackedB:
        """Return packed weights, which read the file in place, unless they are copied."""
        tensor = self._tensor(name, "U8")
        try:
            if self.copies:
                return _fbg.packed_b_from_bytes(self._bytes[tensor.begin : tensor.end])
            return _fbg.map_packed_b(
                self._file.fileno(), tensor.begin, tensor.end - tensor.begin, self._verify
            )
        except (OSError, RuntimeError, ValueError) as error:
            raise self.error(name, str(error)) from None

    def packed(self, name: str, dtype: str, inputs: int, outputs: int) -> _fbg.PackedB:
        """Return packed weights of shape (inputs, outputs)."""
        native = self.block(name)
        # Networks use only weights that are packed for int32 sums.
        got = "int8 with int16 sums" if native.accum == "int16" else native.dtype
        if got != dtype:
            raise self.error(name, f"must be packed for {dtype}, got {got}")
        if native.shape != (inputs, outputs):
            raise self.error(name, f"must have shape {(inputs, outputs)}, got {native.shape}")
        return native

    def floats(self, name: str, *shape: int) -> Floats:
        """Return a view of a float32 tensor in the file."""
        return self.array(name, "F32", shape)

    def array(
        self, name: str, dtype: str | None = None, shape: tuple[int, ...] | None = None
    ) -> Array:
        """Return a view of an array in the file. None: of any type, or of any shape."""
        tensor = self._tensor(name, dtype)
        if shape is not None and tensor.shape != shape:
            raise self.error(name, f"must have shape {shape}, got {tensor.shape}")
        wanted = self._checksums.get(name)
        if wanted is None or (self._verify and self._read_checksum(tensor) != wanted):
            raise self.error(name, "the checksum does not match")
        flat = self._bytes[tensor.begin : tensor.end].view(DTYPES[tensor.dtype][0])
        return flat.reshape(tensor.shape)

    def names(self) -> list[str]:
        """Return the names of all tensors."""
        return list(self._tensors)

    def require_all_read(self) -> None:
        """Raise ModelError if the file has, or had when written, data that nobody read."""
        for name in sorted((self._tensors.keys() | self._checksums.keys()) - self._asked):
            raise self.error(name, "not part of this model" if name in self else "missing")

    def _tensor(self, name: str, dtype: str | None) -> Entry:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise self.error(name, "missing")
        if dtype is not None and tensor.dtype != dtype:
            raise self.error(name, f"must have dtype {dtype}, got {tensor.dtype}")
        self._asked.add(name)
        return tensor

    def _read_checksum(self, tensor: Entry) -> int:
        # This reads instead of mapping: a run touches a few rows of a table of embeddings,
        # and only their pages need to be in memory.
        checksum, piece = _fbg.Checksum(), bytearray(min(PIECE, tensor.end - tensor.begin))
        self._file.seek(tensor.begin)
        left = tensor.end - tensor.begin
        while left > 0:
            view = memoryview(piece)[:left]
            if self._file.readinto(view) != len(view):
                break  # the file was shortened meanwhile: the checksum will not match
            checksum.add(view)
            left -= len(view)
        return checksum.value

    def error(self, name: str, reason: str) -> ModelError:
        """Return the error that names the file and a tensor."""
        return ModelError(f"{self.path}: tensor {name}: {reason}")


def _decode_header(file: BinaryIO, format: str) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the tensors and the metadata; raises ValueError."""
    header, first, total = read_header(file, MAX_HEADER)
    metadata = header.pop("__metadata__", {})
    found = metadata.get("format") if isinstance(metadata, dict) else None
    if found != format:
        kind = KINDS.get(format, "model that fbg saved")
        raise ValueError(f"not a {kind}: its format is {str(found)[:80]!r}")
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("damaged: its metadata is not all text")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise ValueError(f"damaged: its version is {version[:80]!r}")
    if int(version) > VERSIONS[format]:
        raise ValueError(
            f"format version {version} is newer than version {VERSIONS[format]}, "
            "the newest that this version of fbg reads"
        )
    tensors, end = entries_of(header, first, "damaged: ")
    if end != total:
        raise ValueError(f"truncated or damaged: it has {total} bytes, its header describes {end}")
    of_blocks = format in (MODEL, PACKED)
    kinds = ("U8", "F32") if of_blocks else tuple(NAMES.values())
    for name, tensor in tensors.items():
        block = of_blocks and tensor.dtype == "U8" and len(tensor.shape) < 2
        deep = of_blocks and len(tensor.shape) > 2
        if (
            deep
            or tensor.dtype not in kinds
            or tensor.begin % (ALIGNMENT if block else DTYPES[tensor.dtype][1])
        ):
            raise ValueError(f"tensor {name}: damaged: its header says {tensor}")
    return tensors, metadata


def _json_object(metadata: dict[str, str], key: str) -> dict[str, Any]:
    try:
        value = parse_json(metadata.get(key, ""))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"damaged: its metadata has no {key}")
    return value


def save_arguments(directory: str | os.PathLike[str], overwrite: bool) -> tuple[Path, bool]:
    """Return the arguments of a method `save`; raises TypeError for those of other types."""
    try:
        target = Path(os.fspath(directory))
    except TypeError:
        got = type(directory).__name__
        raise TypeError(f"save: directory must be a str or PathLike, got {got}") from None
    return target, require_flag(overwrite, "save: overwrite")


@contextmanager
def replace_directory(target: Path, overwrite: bool) -> Iterator[Path]:
    """Make an empty directory that takes the place of `target` when the block ends.

    An exception leaves everything as it was. Raises the exceptions of `require_free`.
    """
    import shutil  # here, as kernels do without it

    target = require_free(target, overwrite)
    temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        shutil.rmtree(_replace(target, temporary), ignore_errors=True)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def require_free(target: Path, overwrite: bool) -> Path:
    """Return the directory that would be made: `target` with its symbolic links resolved.

    Raises FileExistsError if something exists there that must not be replaced, FileNotFoundError if
    the directory to make it in is missing.
    """
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no directory {target.parent}")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return target
    if not (target / WEIGHTS).is_file():
        raise FileExistsError(
            f"{target}: already exists and is not a saved model, so it is not replaced"
        )
    if not overwrite:
        raise FileExistsError(f"{target}: already exists; pass overwrite=True to replace it")
    return target


def _replace(target: Path, temporary: Path) -> Path:
    """Rename `temporary` to `target`, where the old one comes back if that fails; return where it
    is now.
    """
    if target.is_dir() and _exchange(temporary, target):
        return temporary
    old = target.with_name(f"{temporary.name}.old")
    if target.is_dir():
        target.rename(old)
    try:
        temporary.rename(target)
    except BaseException:
        if old.is_dir():
            old.rename(target)
        raise
    return old


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two names in one step; False if that is not possible.

    At every moment, also when the process is killed, both names exist.
    """
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2  # Linux
    except AttributeError:
        return False
    # It may be unknown to the kernel or to the file system, or forbidden by a filter.
    names = os.fsencode(a), AT_FDCWD, os.fsencode(b)
    return bool(exchange(AT_FDCWD, *names, RENAME_EXCHANGE) == 0)
