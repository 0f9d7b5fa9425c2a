"""Reading the texts of a file, one after the other: lines, JSON lines or a column of Parquet.

Any error in a file is a ValueError that names it and the line or row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from fbg.errors import needed

TEXT_COLUMN = "text"
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


def count_texts(path: Path) -> int | None:
    """Return the number of texts in a file, or None if only parsing would tell."""
    kind = input_kind(path)
    if kind == "parquet":
        return int(_open_parquet(path).metadata.num_rows)
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

    file = _open_parquet(path)
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


def _open_parquet(path: Path) -> Any:
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
