"""Files of tensors, safetensors among them, mapped into memory: a tensor is a view of the file, and
nothing is read until it is accessed.
"""

from __future__ import annotations

import errno
import mmap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError
from fbg.files import open_regular, stand_in
from fbg.saved_file import DTYPES, entries_of, read_header

FLOATS = ("float32", "float16", "bfloat16")  # types of weights that are not quantized
MAX_HEADER = 100_000_000  # of safetensors, as in the reference implementation


class MappedFile:
    """A file mapped for reading. The mapping lives as long as the file or a view of it.

    Raises ModelError naming a file that cannot be read, or MemoryError if only memory is lacking.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open_regular(path) as file:
                self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError means an empty file
            if isinstance(error, OSError) and error.errno == errno.ENOMEM:
                raise MemoryError(f"{path}: {error.strerror}") from None
            raise ModelError(f"{path}: {error}") from None
        if (what := stand_in(self.bytes[:64])) is not None:
            raise ModelError(f"{path}: {what}")

    def __len__(self) -> int:
        return len(self.bytes)

    def release(self, begin: int, end: int) -> None:
        """Release the memory of whole pages; they are read again on access."""
        page = mmap.PAGESIZE
        first, last = -(-begin // page) * page, end // page * page
        if first < last:
            self.bytes.madvise(mmap.MADV_DONTNEED, first, last - first)


@dataclass(frozen=True)
class StoredTensor:
    """The place of a tensor in a file. Its maker has checked that it is inside the file.

    dtype: as NumPy names it ("float32", "bfloat16", "int64"), or the file's name of a type that
        NumPy does not have.
    begin: the byte of the first element. strides: in bytes; None for a C-contiguous tensor.
    """

    file: MappedFile
    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int
    strides: tuple[int, ...] | None = None

    @property
    def path(self) -> Path:
        return self.file.path

    def error(self, what: str) -> ModelError:
        """Return the error that names the file and the tensor."""
        return ModelError(f"{self.path}: tensor {self.name} {what}")

    def view(self) -> npt.NDArray[Any]:
        """Return the tensor as a read-only view of the file; perhaps unaligned."""
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            # Imported here, so that kernels need only NumPy; it teaches NumPy bfloat16.
            import ml_dtypes  # noqa: F401

            dtype = np.dtype(self.dtype)
        return np.ndarray(self.shape, dtype, self.file.bytes, self.begin, self.strides)

    def rows(self, first: int, count: int) -> StoredTensor:
        """Return `count` rows of a tensor of two dimensions."""
        begin = self.begin + first * self.view().strides[0]
        return replace(self, shape=(count, self.shape[1]), begin=begin)

    def release(self) -> None:
        """Release the memory of a contiguous tensor that is not needed any more."""
        self.file.release(self.begin, self.begin + self.view().nbytes)


def read_safetensors(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file by name; raises ModelError."""
    file = MappedFile(path)
    try:
        with open_regular(path) as stream:
            header, first, total = read_header(stream, MAX_HEADER)
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
