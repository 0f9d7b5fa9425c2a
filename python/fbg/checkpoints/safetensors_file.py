"""Tensors of a safetensors file, mapped."""

from __future__ import annotations

from pathlib import Path

from fbg.checkpoints.mapped_file import MappedFile, StoredTensor
from fbg.checkpoints.safetensors_header import DTYPES, entries_of
from fbg.errors import ModelError
from fbg.files import open_regular
from fbg.matmul.packed_file import read_header

MAX_HEADER = 100_000_000  # as in the reference implementation


def read_safetensors(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file by name; raises ModelError."""
    file = MappedFile(path)
    try:
        with open_regular(path) as stream:
            header, first, total = read_header(stream, MAX_HEADER)
        if not isinstance(header, dict):
            raise ValueError("its header is not an object")
        header.pop("__metadata__", None)
        entries, end = entries_of(header, first)
        last = first
        for name, each in sorted(entries.items(), key=lambda item: item[1][2:]):
            if each.begin < min(last, each.end):
                raise ValueError(f"tensor {name} overlaps another one")
            last = each.end
        if end != total or total != len(file):
            raise ValueError(f"it has {total} bytes, but its header describes {end}")
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: not a readable safetensors file: {error}") from None
    return {
        name: StoredTensor(file, name, DTYPES.get(dtype, (dtype, 0))[0], shape, begin)
        for name, (dtype, shape, begin, _) in entries.items()
    }
