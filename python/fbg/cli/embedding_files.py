"""Writing embeddings to a file that appears whole or not at all, and can be gone on with.

    emb.npy.partial        room for the header of a .npy file, then rows of float32 as they come
    emb.npy.partial.json   what they are embeddings of (the job), and how many are safe on disk

`append` writes rows, then the number of them; `finish` writes the header, or converts to Parquet,
and renames. After an interruption the rows that were counted are kept, if the job is the same.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.text.files import require_pyarrow

__all__ = ["EmbeddingFile", "output_kind"]

Floats = npt.NDArray[np.float32]

HEADER_BYTES = 128
KINDS = {".npy": "npy", "": "npy", ".parquet": "parquet"}
PARQUET_ROWS = 4096  # of a row group
COLUMN = "embedding"


def output_kind(path: Path) -> str:
    """Return "npy" or "parquet" by the suffix of a file; raises ValueError."""
    try:
        return KINDS[path.suffix.lower()]
    except KeyError:
        supported = ", ".join(suffix for suffix in KINDS if suffix)
        raise ValueError(f"{path}: the output must be one of {supported}") from None


class EmbeddingFile:
    """A file of embeddings in the making, for `with`; one process at a time.

    path: .npy (or no suffix), float32 (rows, dimension); or .parquet, one column "embedding".
    job: JSON values that decide what is written; rows of another job are not gone on with.

    `rows` are there already. Raises OSError where the directory cannot be written, BlockingIOError
    if another process is writing this file.
    """

    def __init__(self, path: Path, dimension: int, job: Mapping[str, Any]) -> None:
        self.path = path
        self._kind = output_kind(path)
        if self._kind == "parquet":
            require_pyarrow(path)
        self._row_bytes = 4 * dimension
        self._dimension = dimension
        self._job = json.loads(json.dumps({"dimension": dimension, **job}))
        self._partial = path.with_name(f"{path.name}.partial")
        self._state = path.with_name(f"{path.name}.partial.json")
        self._file = open(os.open(self._partial, os.O_RDWR | os.O_CREAT, 0o666), "r+b")  # noqa: SIM115
        try:
            self._lock()
            self.rows = self._rows_to_keep()
            self._file.truncate(HEADER_BYTES + self.rows * self._row_bytes)
            self._file.seek(0, io.SEEK_END)
            self._record()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> EmbeddingFile:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.rows == 0:  # nothing to go on with
            self._partial.unlink(missing_ok=True)
            self._state.unlink(missing_ok=True)
        self._file.close()

    def append(self, rows: Floats) -> None:
        """Write (n, dimension) rows; they are safe when this returns."""
        self._file.write(np.ascontiguousarray(rows, np.dtype("<f4")).tobytes())
        self.rows += len(rows)
        self._record()

    def finish(self) -> None:
        """Put the file where it belongs."""
        if self._kind == "npy":
            self._file.seek(0)
            self._file.write(_npy_header(self.rows, self._dimension))
            _sync(self._file)
            self._partial.replace(self.path)
        else:
            converted = self._partial.with_name(f"{self._partial.name}.parquet")
            self._write_parquet(converted)
            converted.replace(self.path)
            self._partial.unlink()
        self._state.unlink(missing_ok=True)

    def _lock(self) -> None:
        message = f"{self.path}: another process is writing it"
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(message) from None
        opened, there = os.fstat(self._file.fileno()), self._partial
        if not there.exists() or there.stat().st_ino != opened.st_ino:
            raise BlockingIOError(message)  # it was finished just now, and is not ours to change

    def _rows_to_keep(self) -> int:
        try:
            state = json.loads(self._state.read_bytes())
            rows = state["rows"] if state["job"] == self._job else 0
        except (OSError, ValueError, LookupError, TypeError):
            return 0  # none, or not one that we wrote: from the beginning
        size = os.fstat(self._file.fileno()).st_size - HEADER_BYTES
        return rows if type(rows) is int and 0 <= rows * self._row_bytes <= size else 0

    def _record(self) -> None:
        """Count rows only when they are on disk; the state is always a whole file."""
        _sync(self._file)
        new = self._state.with_name(f"{self._state.name}.new")
        with new.open("w") as file:
            json.dump({"rows": self.rows, "job": self._job}, file)
            _sync(file)
        new.replace(self._state)

    def _write_parquet(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pa.schema([(COLUMN, pa.list_(pa.float32(), self._dimension))])
        self._file.seek(HEADER_BYTES)
        with path.open("wb") as file:
            with pq.ParquetWriter(file, schema) as writer:
                while block := self._file.read(PARQUET_ROWS * self._row_bytes):
                    values = pa.array(np.frombuffer(block, np.dtype("<f4")))
                    column = pa.FixedSizeListArray.from_arrays(values, self._dimension)
                    writer.write_table(pa.table([column], schema=schema))
            _sync(file)


def _npy_header(rows: int, columns: int) -> bytes:
    """Version 1.0 of the .npy format, filled up with spaces: of one size for any number of rows."""
    magic = np.lib.format.magic(1, 0)
    values = {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)}
    length = HEADER_BYTES - len(magic) - 2
    return magic + length.to_bytes(2, "little") + f"{values!r}".ljust(length - 1).encode() + b"\n"


def _sync(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
