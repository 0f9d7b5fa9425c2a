"""The weights of a saved model: one safetensors file, mapped and not copied when it is loaded.

    u64 length of the JSON | JSON, padded with spaces up to a multiple of 64 | blocks | arrays

    {"__metadata__": {"format": "fbg.Model", "version": "4", "fbg": "0.3.0", "dtype": "int8", …},
     "layers.0.qkv.weight": {"dtype": "U8", "shape": [bytes], "data_offsets": [begin, end]},
     "embeddings.word": {"dtype": "F32", "shape": [V, H], "data_offsets": [begin, end]}, …}

A block is packed weights as kernels read them (include/fbg/gemm/pack_b.h), with a header and a
checksum of its own; it begins at a multiple of 64 bytes. Arrays follow all blocks, those with the
largest elements first, so that all are aligned; their checksums are in the metadata. Arrays of
encoders are float32, or vocabularies of 8 bits (matmul/vocabulary.py). The format "fbg.Net" is for
networks from ONNX files, whose arrays have any of the types below (fbg/importers/saved_net.py), and
"fbg.EmbeddingBag" for a table in a file of its own (fbg/tables/saved_table.py).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Array, Floats
from fbg.checkpoints.files import require_file
from fbg.checkpoints.safetensors_header import DTYPES, FOREIGN, Entry, entries_of
from fbg.errors import ModelError
from fbg.files import open_regular, parse_json
from fbg.matmul.packed_file import read_header
from fbg.matmul.vocabulary import BESIDE, Table
from fbg.matmul.weights import PackedWeight

FORMAT, NET_FORMAT, TABLE_FORMAT = "fbg.Model", "fbg.Net", "fbg.EmbeddingBag"
# Version 1 had no heads, 2 had another name for a norm of BERT's layers (networks/source.py), and
# 3 had vocabularies in float32 only.
VERSIONS = {FORMAT: 4, NET_FORMAT: 2, TABLE_FORMAT: 1}
ALIGNMENT = 64
MAX_HEADER = 1 << 24  # BERT-base has 30 kB
PIECE = 1 << 20  # bytes that are checked at a time
NAMES = {np.dtype(dtype): name for name, (dtype, _) in DTYPES.items() if name not in FOREIGN}


def write(
    path: Path,
    tensors: Mapping[str, PackedWeight | Array],
    metadata: Mapping[str, str],
    format: str = FORMAT,
) -> None:
    """Write packed weights and arrays under their names, with `metadata` about them."""
    with path.open("xb") as file:
        write_to(file, path, tensors, metadata, format)
        file.flush()
        os.fsync(file.fileno())


def write_to(
    file: BinaryIO,
    path: Path,
    tensors: Mapping[str, PackedWeight | Array],
    metadata: Mapping[str, str],
    format: str,
) -> None:
    """Write them to an open file; path: its name in errors."""
    blocks = {n: t.block for n, t in tensors.items() if not isinstance(t, np.ndarray)}
    arrays = {
        name: np.ascontiguousarray(tensor).reshape(tensor.shape)
        for name, tensor in tensors.items()
        if isinstance(tensor, np.ndarray)
    }
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    stored: dict[str, Array] = {**blocks, **dict(ordered)}
    header: dict[str, Any] = {
        "__metadata__": {
            "format": format,
            "version": str(VERSIONS[format]),
            **metadata,
            "checksums": json.dumps({name: _checksum(array) for name, array in arrays.items()}),
        }
    }
    end = 0
    for name, array in stored.items():
        begin, end = end, end + array.nbytes
        dtype = NAMES[array.dtype]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > MAX_HEADER:
        raise ValueError(f"{path}: {len(stored)} tensors have names that are too long to be saved")
    file.write(len(text).to_bytes(8, "little") + text)
    for array in stored.values():
        if array.size > 0:
            file.write(array.reshape(-1).view(np.uint8).data)


def _checksum(array: npt.NDArray[Any]) -> int:
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

    def __init__(self, path: Path, format: str = FORMAT, *, verify: bool = True) -> None:
        self.path, self._verify = require_file(path), verify
        self._asked: set[str] = set()
        try:
            # Open until every block is mapped; the mappings stay without it.
            self._file = open_regular(path)
        except OSError as error:
            raise ModelError(f"{path}: {error}") from None
        try:
            self._tensors, self._metadata = _decode_header(self._file, format)
            size = os.fstat(self._file.fileno()).st_size
            self._bytes = _fbg.map_bytes(self._file.fileno(), 0, size)
            self._checksums = _json_object(self._metadata, "checksums")
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

    def count(self, name: str) -> int | None:
        """Return how many rows a tensor has, None if there is none; `floats` checks it."""
        tensor = self._tensors.get(name)
        return None if tensor is None else math.prod(tensor.shape[:1])

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

    def packed(self, name: str, dtype: str, inputs: int, outputs: int) -> PackedWeight:
        """Return packed weights of shape (inputs, outputs), which read the file in place, unless
        they are copied.
        """
        tensor = self._tensor(name, "U8")
        try:
            if self.copies:
                native = _fbg.packed_b_from_bytes(self._bytes[tensor.begin : tensor.end])
            else:
                native = _fbg.map_packed_b(
                    self._file.fileno(), tensor.begin, tensor.end - tensor.begin, self._verify
                )
        except (OSError, RuntimeError, ValueError) as error:
            raise self._error(name, str(error)) from None
        # Networks use only weights that are packed for int32 sums.
        got = "int8 with int16 sums" if native.accum == "int16" else native.dtype
        if got != dtype:
            raise self._error(name, f"must be packed for {dtype}, got {got}")
        if native.shape != (inputs, outputs):
            raise self._error(name, f"must have shape {(inputs, outputs)}, got {native.shape}")
        return native

    def floats(self, name: str, *shape: int) -> Floats:
        """Return a view of a float32 tensor in the file."""
        return self._shaped(self._tensor(name, "F32"), name, *shape)

    def _shaped(self, tensor: Entry, name: str, *shape: int) -> Array:
        if tensor.shape != shape:
            raise self._error(name, f"must have shape {shape}, got {tensor.shape}")
        return self._view(name, tensor)

    def vocabulary(self, name: str, rows: int, columns: int) -> Table:
        """Return a view of a table of a vocabulary in the file."""
        if name not in self or self._tensors[name].dtype != "U8":
            return self.floats(name, rows, columns)
        return self._shaped(self._tensor(name), name, rows, columns + BESIDE)

    def array(self, name: str) -> Array:
        """Return a view of an array in the file, of any shape and type."""
        return self._view(name, self._tensor(name))

    def names(self) -> list[str]:
        """Return the names of all tensors."""
        return list(self._tensors)

    def _view(self, name: str, tensor: Entry) -> Array:
        wanted = self._checksums.get(name)
        if wanted is None or (self._verify and self._read_checksum(tensor) != wanted):
            raise self._error(name, "the checksum does not match")
        flat = self._bytes[tensor.begin : tensor.end].view(DTYPES[tensor.dtype][0])
        return flat.reshape(tensor.shape)

    def require_all_read(self) -> None:
        """Raise ModelError if the file has, or had when written, data that nobody read."""
        for name in sorted((self._tensors.keys() | self._checksums.keys()) - self._asked):
            raise self._error(name, "not part of this model" if name in self else "missing")

    def _tensor(self, name: str, dtype: str | None = None) -> Entry:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise self._error(name, "missing")
        if dtype is not None and tensor.dtype != dtype:
            raise self._error(name, f"must have dtype {dtype}, got {tensor.dtype}")
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

    def _error(self, name: str, reason: str) -> ModelError:
        return ModelError(f"{self.path}: tensor {name}: {reason}")


def _decode_header(file: BinaryIO, format: str) -> tuple[dict[str, Entry], dict[str, str]]:
    """Return the tensors and the metadata; raises ValueError."""
    header, first, total = read_header(file, MAX_HEADER)
    metadata = header.pop("__metadata__", None) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or metadata.get("format") != format:
        what = "table" if format == TABLE_FORMAT else "model"
        raise ValueError(f"not a {what} that fbg saved")
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("damaged: its metadata is not all text")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise ValueError(f"damaged: its version is {version!r}")
    if int(version) > VERSIONS[format]:
        raise ValueError(
            f"format version {version} is newer than version {VERSIONS[format]}, "
            "the newest that this version of fbg reads"
        )
    tensors, end = entries_of(header, first, "damaged: ")
    if end != total:
        raise ValueError(f"truncated or damaged: it has {total} bytes, its header describes {end}")
    kinds = ("U8", "F32") if format == FORMAT else tuple(NAMES.values())
    for name, tensor in tensors.items():
        block = format == FORMAT and tensor.dtype == "U8" and len(tensor.shape) < 2
        deep = format == FORMAT and len(tensor.shape) > 2
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
