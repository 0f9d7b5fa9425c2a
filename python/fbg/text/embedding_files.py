"""A file of embeddings that appears when it is complete, and that an interrupted job can resume.

    emb.npy.partial        room for the header of a .npy file, then rows of float32 as they come
    emb.npy.partial.json   what they are embeddings of (the job), how many are safe on disk, and
                           those that `keep` found of the block that comes next

`append` writes rows, then the number of them; `finish` writes the header, or converts to Parquet,
and renames. After an interruption the rows that were counted are kept if the job is the same.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fbg.arrays import Floats
from fbg.files import (
    open_in_place,
    open_regular,
    parse_json,
    rename_over,
    replace_file,
    require_replaceable,
)
from fbg.text.files import TextRows, open_parquet, require_pyarrow

HEADER_BYTES = 128
KINDS = {".npy": "npy", "": "npy", ".parquet": "parquet"}
PARQUET_ROWS = 4096  # rows of a row group
COLUMN = "embedding"

# The difference of jobs that differ in one of these keys; the first one counts.
JOBS = {
    "input": "other texts",
    "model": "another model or dtype",
    "options": "other options",
    "dimension": "another dimension",
}


def output_kind(path: Path) -> str:
    """Return "npy" or "parquet" by the suffix of a file; raises ValueError."""
    try:
        return KINDS[path.suffix.lower()]
    except KeyError:
        supported = ", ".join(suffix for suffix in KINDS if suffix)
        raise ValueError(f"{path}: the suffix of the output must be one of {supported}") from None


def read_embeddings(path: Path) -> Floats:
    """Return the embeddings that a file holds, (rows, dimension); a .npy file is mapped.

    Raises ValueError for a file that holds something else, OSError for one that cannot be read.
    """
    found: Any
    if path.suffix.lower() not in KINDS:
        raise ValueError(f"{path}: embeddings are read from .npy and .parquet files")
    if output_kind(path) == "parquet":
        found = _of_parquet(path)
    else:
        open_regular(path).close()
        try:
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"{path}: not a readable .npy file: {error}") from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype != np.float32:
        is_array = isinstance(found, np.ndarray)
        got = f"{found.dtype} {found.shape}" if is_array else "several arrays"
        raise ValueError(f"{path}: must hold float32 embeddings (rows, dimension), got {got}")
    return found


def _of_parquet(path: Path) -> Floats:
    table = open_parquet(path)
    if COLUMN not in table.schema_arrow.names:
        raise ValueError(f"{path}: has no column {COLUMN!r}, which fbg encode writes")
    column = table.read([COLUMN]).column(0)
    size = getattr(column.type, "list_size", None)
    if size is None or column.null_count:
        raise ValueError(f"{path}: {COLUMN!r} must be lists of one size, got {column.type}")
    flat = column.combine_chunks().flatten()
    found: Floats = flat.to_numpy(zero_copy_only=False).reshape(-1, size)
    return found


class EmbeddingFile:
    """A file of embeddings in the making, for `with`; one process at a time.

    path: .npy (or no suffix), float32 (rows, dimension); or .parquet, a column "embedding" behind
        those that `finish` is given.
        A symbolic link stays, and what it points to is written.
    job: JSON values that decide what is written; the rows of another job are discarded. None for
        one that cannot be resumed: its rows are kept only when they are complete.

    `rows` is how many are there already; `done`, what has been computed of those that follow, by
    number. An interrupted job has left both, if it called `keep`. `discarded` says in which way
    the job differed whose rows were discarded; "" if there were none. Raises OSError where the file
    cannot be written or is not a regular file, BlockingIOError if another process is writing it.
    """

    def __init__(self, path: Path, dimension: int, job: Mapping[str, Any] | None) -> None:
        self.path = require_replaceable(path)
        self._kind = output_kind(path)
        if self._kind == "parquet":
            require_pyarrow(path)
        self._row_bytes = 4 * dimension
        self._dimension = dimension
        self._job = None
        if job is not None:
            self._job = json.loads(json.dumps({"dimension": dimension, **job}))
        self.partial = self.path.with_name(f"{self.path.name}.partial")
        self._state = self.partial.with_name(f"{self.partial.name}.json")
        self.done: dict[int, Floats] = {}
        self.discarded = ""
        self._file = open_in_place(self.partial)
        try:
            self._lock()
            try:
                self.rows = self._rows_to_keep()
                self._file.truncate(HEADER_BYTES + self.rows * self._row_bytes)
                self._file.seek(0, io.SEEK_END)
                self.keep()
            except BaseException:
                if self._job is None:
                    self._remove()
                raise
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> EmbeddingFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._job is None or self.rows + self._kept == 0:  # nothing to resume
            self._remove()
        self._file.close()

    def append(self, rows: Floats) -> None:
        """Write (n, dimension) rows; they are safe when this returns."""
        self._file.write(_bytes(rows))
        self._record(self.rows + len(rows))

    def keep(self) -> int:
        """Write what is done of the rows that follow, too; return how many are safe in all."""
        done = {n: row for n, row in self.done.items() if n >= self.rows}
        self._record(self.rows, done)
        return self.rows + len(done)

    def finish(self, texts: TextRows | None = None) -> None:
        """Move the file to its path. texts: those of the rows, for Parquet."""
        if self._kind == "npy":
            self._file.seek(0)
            self._file.write(_npy_header(self.rows, self._dimension))
            rename_over(self._file, self.partial, self.path)
        else:
            self._write_parquet(texts)
            self.partial.unlink()
        self._state.unlink(missing_ok=True)

    def _remove(self) -> None:
        self.partial.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)

    def _lock(self) -> None:
        message = f"{self.path}: another process is writing it"
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(message) from None
        opened, there = os.fstat(self._file.fileno()), self.partial
        if not there.exists() or there.stat().st_ino != opened.st_ino:
            raise BlockingIOError(message)  # another process has just finished it: leave it

    def _rows_to_keep(self) -> int:
        """Return the number of rows of the same job, and read results of the next rows."""
        try:
            with open_regular(self._state) as file:
                state = parse_json(file.read())
            rows, done = state["rows"], state.get("done", {})
            if self._job is None or state["job"] != self._job:
                self.discarded = _difference(state["job"], self._job) if rows or done else ""
                return 0
            done = {int(n): self._read_row(text) for n, text in done.items()}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return 0  # no file, or not ours: start from the beginning
        size = os.fstat(self._file.fileno()).st_size - HEADER_BYTES
        if type(rows) is not int or not 0 <= rows * self._row_bytes <= size:
            return 0
        self.done = done
        return rows

    def _read_row(self, text: str) -> Floats:
        return np.frombuffer(b64decode(text), np.dtype("<f4"), self._dimension).astype(np.float32)

    def _record(self, rows: int, done: Mapping[int, Floats] | None = None) -> None:
        """Count rows only when they are on disk; the state is always a whole file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        encoded = {n: b64encode(_bytes(row)).decode() for n, row in (done or {}).items()}
        with replace_file(self._state) as file:
            file.write(json.dumps({"rows": rows, "job": self._job, "done": encoded}).encode())
        self.rows, self._kept = rows, len(encoded)

    def _write_parquet(self, texts: TextRows | None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if texts is not None and texts.column == COLUMN:
            texts = None
        fields = [] if texts is None else texts.fields()
        schema = pa.schema([*fields, (COLUMN, pa.list_(pa.float32(), self._dimension))])
        columns = [] if texts is None else texts.columns()
        self._file.seek(HEADER_BYTES)
        with replace_file(self.path) as file, pq.ParquetWriter(file, schema) as writer:
            while block := self._file.read(PARQUET_ROWS * self._row_bytes):
                values = pa.array(np.frombuffer(block, np.dtype("<f4")))
                column = pa.FixedSizeListArray.from_arrays(values, self._dimension)
                kept = [
                    pa.array(islice(values, len(column)), kind)
                    for values, (_, kind) in zip(columns, fields, strict=True)
                ]
                writer.write_table(pa.table([*kept, column], schema=schema))


def _difference(old: Any, new: Mapping[str, Any] | None) -> str:
    """Say in which way two jobs differ, of which a new one is None that cannot be resumed."""
    if new is None or not isinstance(old, dict):
        return "other texts"
    return next((words for key, words in JOBS.items() if old.get(key) != new.get(key)), "")


def _bytes(rows: Floats) -> bytes:
    return np.ascontiguousarray(rows, np.dtype("<f4")).tobytes()


def _npy_header(rows: int, columns: int) -> bytes:
    """Version 1.0 of the .npy format, filled up with spaces: of one size for any number of rows."""
    magic = np.lib.format.magic(1, 0)
    values = {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)}
    length = HEADER_BYTES - len(magic) - 2
    return magic + length.to_bytes(2, "little") + f"{values!r}".ljust(length - 1).encode() + b"\n"
