"""Reading the texts of a file, one after the other: lines, JSON lines or a column of Parquet.

Any error in a file is a ValueError that names it and the line or row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from fbg.errors import needed

TEXT_COLUMN, ID_COLUMN = "text", "id"
KINDS = {".txt": "lines", "": "lines", ".jsonl": "json", ".parquet": "parquet"}


def input_kind(path: Path) -> str:
    """Return "lines", "json" or "parquet" by the suffix of a file; raises ValueError."""
    try:
        return KINDS[path.suffix.lower()]
    except KeyError:
        supported = ", ".join(suffix for suffix in KINDS if suffix)
        raise ValueError(f"{path}: the suffix of the input must be one of {supported}") from None


def read_texts(path: Path, column: str | None = None) -> Iterator[str]:
    """Yield the texts of a file; memory does not depend on their number.

    column: of a .parquet file, or the key of the objects of a .jsonl file; default "text".
    """
    kind = input_kind(path)
    if kind == "lines":
        if column is not None:
            raise ValueError(f"{path}: a text file has no columns, got column {column!r}")
        with path.open("rb") as file:
            yield from decode_lines(file, str(path))
    elif kind == "json":
        key = column or TEXT_COLUMN
        yield from (require_text(value, key, where) for where, value in json_objects(path))
    else:
        yield from _parquet_texts(path, column or TEXT_COLUMN)


class TextRows:
    """The texts of a source that can be read again, and their ids, for a file of Parquet.

    source: a file, or the texts themselves. column: as for `read_texts`. Ids are what the column,
    or the key of the objects, "id" has: integers or, if any of them is something else, strings.
    """

    def __init__(self, source: Path | Sequence[str], column: str | None = None) -> None:
        self._source = source
        self.column = column or TEXT_COLUMN

    def fields(self) -> list[tuple[str, Any]]:
        """Return the names and Arrow types of the columns."""
        import pyarrow as pa

        text = (self.column, pa.string())
        if not isinstance(self._source, Path) or self.column == ID_COLUMN:
            return [text]
        kind = input_kind(self._source)
        if kind == "parquet":
            schema = open_parquet(self._source).schema_arrow
            at = schema.get_field_index(ID_COLUMN)
            return [text] if at < 0 else [(ID_COLUMN, schema.field(at).type), text]
        if kind == "lines":
            return [text]
        ids = [True, True]  # whether there are none, and whether they are integers
        for _, value in json_objects(self._source):
            given = value.get(ID_COLUMN)
            ids[0] &= given is None
            ids[1] &= given is None or (type(given) is int and -(2**63) <= given < 2**63)
        return [text] if ids[0] else [(ID_COLUMN, pa.int64() if ids[1] else pa.string()), text]

    def columns(self) -> list[Iterator[Any]]:
        """Return the values of each of `fields`, as Arrow takes them."""
        if not isinstance(self._source, Path):
            return [iter(self._source)]
        return [self._values(name, kind) for name, kind in self.fields()]

    def _values(self, name: str, kind: Any) -> Iterator[Any]:
        assert isinstance(self._source, Path)
        if name == self.column:
            column = None if input_kind(self._source) == "lines" else name
            yield from read_texts(self._source, column)
        elif input_kind(self._source) == "parquet":
            for batch in open_parquet(self._source).iter_batches(1024, columns=[name]):
                yield from batch.column(0).to_pylist()
        else:
            for _, value in json_objects(self._source):
                given = value.get(name)
                is_text = isinstance(given, str) or given is None or str(kind) == "int64"
                yield given if is_text else json.dumps(given)


def count_texts(path: Path) -> int | None:
    """Return the number of texts in a file, or None if only parsing would tell."""
    kind = input_kind(path)
    if kind == "parquet":
        return int(open_parquet(path).metadata.num_rows)
    if kind == "json":
        return None
    lines, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            lines, last = lines + block.count(b"\n"), block
    return lines + (not last.endswith(b"\n"))


def decode_lines(file: IO[bytes], name: str) -> Iterator[str]:
    """Yield lines of UTF-8 without their ends."""
    for number, line in enumerate(file, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name}, line {number}: not UTF-8: {error}") from None
        yield text.removesuffix("\n").removesuffix("\r")


def json_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the object on each line that is not blank, after where it is, in words."""
    with path.open("rb") as file:
        for number, line in enumerate(decode_lines(file, str(path)), 1):
            where = f"{path}, line {number}"
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{where}: not JSON: {error}") from None
            if not isinstance(value, dict):
                raise ValueError(f"{where}: must be an object, got {type(value).__name__}")
            yield where, value


def require_text(value: dict[str, Any], key: str, where: str) -> str:
    """Return the text of a key of an object; raises ValueError."""
    if key not in value:
        has = ", ".join(map(repr, value)) or "nothing"
        raise ValueError(f"{where}: has no {key!r}, only {has}")
    return _checked(value[key], f"{where}: {key!r}")


def _checked(text: object, where: str) -> str:
    if not isinstance(text, str):
        raise ValueError(f"{where} must be a string, got {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:  # JSON can spell lone surrogates
        raise ValueError(f"{where} is not valid Unicode: {error}") from None
    return text


def _parquet_texts(path: Path, column: str) -> Iterator[str]:
    import pyarrow

    file = open_parquet(path)
    names = file.schema_arrow.names
    if column not in names:
        raise ValueError(f"{path}: has no column {column!r}, only {', '.join(map(repr, names))}")
    row = 0
    try:
        for batch in file.iter_batches(batch_size=1024, columns=[column]):
            for text in batch.column(0).to_pylist():
                row += 1
                yield _checked(text, f"{path}, row {row}: {column!r}")
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not readable after row {row}: {error}") from None


def open_parquet(path: Path) -> Any:
    """Return a pyarrow.parquet.ParquetFile; raises ValueError for a damaged one."""
    require_pyarrow(path)
    import pyarrow.parquet

    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        return pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a readable Parquet file: {error}") from None


def require_pyarrow(path: Path) -> None:
    with needed(f"{path}: Parquet files"):
        import pyarrow  # noqa: F401
