"""Files of packed weights: saved in the form in which they run, mapped and not copied when loaded.

A file is a safetensors file of one uint8 tensor, ``packed_b``: the block that the kernels read,
with a header of its own (include/fbg/gemm/pack_b.h), the same for every instruction set.

    u64 length of the JSON | JSON, padded with spaces so that it ends at a multiple of 64 | block

    {"__metadata__": {"format": "fbg.PackedB", "version": "1", "dtype": "int8", "shape": "[K, N]"},
     "packed_b": {"dtype": "U8", "shape": [bytes], "data_offsets": [0, bytes]}}
"""

from __future__ import annotations

import json
import os
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.errors import ModelError
from fbg.files import open_regular, parse_json, replace_file, require_free_file, stand_in
from fbg.matmul.weights import PackedWeight

FORMAT = "fbg.PackedB"
VERSION = 1
TENSOR = "packed_b"
ALIGNMENT = 64
MAX_HEADER = 1 << 16  # ours has some 200 bytes


def write(path: str, native: PackedWeight, overwrite: bool) -> None:
    """Write a file, completely or not at all."""
    require_free_file(path, overwrite)
    block = native.block
    with replace_file(path) as file:
        file.write(_encode_header(native, block))
        file.write(block.data)


def read(path: str, verify: bool) -> PackedWeight:
    """Map a file; raises ModelError naming it and the error."""
    try:
        with open_regular(path) as file:
            offset, size, metadata = _decode_header(file)
            native = _fbg.map_packed_b(file.fileno(), offset, size, verify)
        if metadata != _metadata(native):
            raise ValueError(
                f"damaged: its header says {metadata}, but its block {_metadata(native)}"
            )
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or error}") from None
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from None
    return native


def is_packed(path: str) -> bool:
    """Whether a path is a file that says it was written by PackedB.save."""
    try:
        with open_regular(path) as file:
            header = read_header(file, MAX_HEADER)[0]
        return bool(_member(header, "__metadata__", dict).get("format") == FORMAT)
    except (OSError, ValueError):
        return False


def _metadata(native: PackedWeight) -> dict[str, str]:
    return {
        "format": FORMAT,
        "version": str(VERSION),
        "dtype": native.dtype,
        "shape": str(list(native.shape)),
    }


def _encode_header(native: PackedWeight, block: npt.NDArray[np.uint8]) -> bytes:
    header = {
        "__metadata__": _metadata(native),
        TENSOR: {"dtype": "U8", "shape": [block.size], "data_offsets": [0, block.size]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def read_header(file: BinaryIO, most: int) -> tuple[Any, int, int]:
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
        return parse_json(file.read(length)), begin, total
    except ValueError:
        raise ValueError("damaged, or not a safetensors file: its header is not JSON") from None


def _decode_header(file: BinaryIO) -> tuple[int, int, dict[str, Any]]:
    """Return the offset of the block, its size and the metadata; raises ValueError."""
    header, offset, total = read_header(file, MAX_HEADER)
    metadata = _member(header, "__metadata__", dict)
    if metadata.get("format") != FORMAT:
        raise ValueError(f"not a file of PackedB: its format is {metadata.get('format')!r}")
    version = _member(metadata, "version", str)
    if not (version.isascii() and version.isdigit() and 0 < len(version) < 10):
        raise ValueError(f"the header is damaged: version is {version!r}")
    if int(version) > VERSION:
        raise ValueError(
            f"format version {version} is newer than version {VERSION}, "
            "the newest that this version of fbg reads"
        )
    tensor = _member(header, TENSOR, dict)
    size = total - offset
    if tensor != {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}:
        raise ValueError(
            f"truncated or damaged: {size} bytes follow the header, which describes {tensor}"
        )
    if offset % ALIGNMENT:
        raise ValueError(
            f"the block begins at byte {offset}, which is not a multiple of {ALIGNMENT}"
        )
    return offset, size, metadata


def _member(values: Any, key: str, kind: type) -> Any:
    value = values.get(key) if isinstance(values, dict) else None
    if not isinstance(value, kind):
        raise ValueError(f"not a file of PackedB: its header has no {key}")
    return value
