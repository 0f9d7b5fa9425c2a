"""A corpus in shards: for each file of texts, a file of embeddings is written.

A shard is the unit of work of a cluster (ray_encode.py). Paths are local, or URLs for fsspec.

    texts/a.parquet   ->  out/a.parquet, and out/.fbg/a.json: the job that made it

The second file is written last. A shard is done if both files exist and name the same job.
"""

from __future__ import annotations

import json
import posixpath
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fbg.errors import needed
from fbg.files import parse_json
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.model.save import fingerprint_model
from fbg.tasks.encode import EncodeOptions
from fbg.text.embedding_files import EmbeddingFile
from fbg.text.files import input_kind, read_texts

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["Done", "ShardEncoder", "ShardJob", "find_shards"]


@dataclass(frozen=True)
class ShardJob:
    """The job for every shard.

    model, dtype: as for `fbg.load`. output: a directory or URL. column: of the texts; None: "text".
    """

    model: str
    output: str
    dtype: str | None = None
    column: str | None = None
    options: EncodeOptions = field(default_factory=EncodeOptions)


@dataclass(frozen=True)
class Done:
    """A shard that is complete. rows: its texts. skipped: whether it was complete before."""

    shard: str
    rows: int
    skipped: bool


def find_shards(source: str, output: str) -> list[str]:
    """Return the files of a directory, of a pattern such as "texts/*.jsonl", or one file.

    Raises FileNotFoundError if there are none; ValueError if two would have the same output, if the
    output is where the input is, or for a file of another kind than .txt, .jsonl and .parquet.
    """
    fs, path = _place(source)
    if any(character in path for character in "*?["):
        found = [str(name) for name in fs.glob(path)]
    elif fs.isdir(path):
        found = [entry["name"] for entry in fs.ls(path, detail=True) if entry["type"] == "file"]
        found = [name for name in found if not posixpath.basename(name).startswith((".", "_"))]
    else:
        found = [path] if fs.exists(path) else []
    if not found:
        raise FileNotFoundError(f"{source}: no such files")
    target, outputs = _place(output)[1], dict[str, str]()
    for name in sorted(found):
        input_kind(Path(name))
        if posixpath.dirname(name) == target:
            raise ValueError(f"{output}: the output must not be the directory of the input")
        other = outputs.setdefault(Path(name).stem, name)
        if other != name:
            raise ValueError(f"{other} and {name} would have the same output")
    return [fs.unstrip_protocol(name) for name in sorted(found)]


class ShardEncoder:
    """Embeds shards, one after the other; the model is loaded with the first."""

    def __init__(self, job: ShardJob, num_threads: int = 1) -> None:
        self._job = job
        self._num_threads = num_threads
        self._model: Model | None = None

    def encode(self, shard: str) -> Done:
        """Write the embeddings of a shard, unless they are there; raises ValueError, OSError."""
        job = self._job
        if self._model is None:
            self._model = load_encoder(job.model, job.dtype, self._num_threads)
        (fs, path), (out_fs, target) = _place(shard), _place(job.output)
        stem = Path(path).stem
        output, record = f"{target}/{stem}.parquet", f"{target}/.fbg/{stem}.json"
        description = {
            "model": fingerprint_model(self._model.origin, self._model.dtype),
            "input": [shard, fs.ukey(path), job.column],
            "options": asdict(job.options),
        }
        rows = _rows_of_record(out_fs, output, record, description)
        if rows is not None:
            return Done(shard, rows, True)
        out_fs.makedirs(f"{target}/.fbg", exist_ok=True)
        if out_fs.exists(record):  # an output of another job is replaced
            out_fs.rm_file(record)
        with tempfile.TemporaryDirectory() as folder:
            texts = Path(path) if _is_local(fs) else Path(folder) / f"texts{Path(path).suffix}"
            made = Path(output) if _is_local(out_fs) else Path(folder) / "rows.parquet"
            if not _is_local(fs):
                fs.get_file(path, str(texts))
            rows = self._write(texts, made)
            if not _is_local(out_fs):
                out_fs.put_file(str(made), output)
        with out_fs.open(record, "w") as file:
            file.write(json.dumps({"rows": rows, "job": description}))
        return Done(shard, rows, False)

    def _write(self, texts: Path, output: Path) -> int:
        assert self._model is not None
        encoder = self._model.encoder(self._job.options)
        with EmbeddingFile(output, encoder.dimension, None) as file:
            for block in encoder.blocks(read_texts(texts, self._job.column)):
                file.append(block)
            file.finish()
            return file.rows


def _rows_of_record(
    fs: AbstractFileSystem, output: str, record: str, description: dict[str, Any]
) -> int | None:
    """Return the rows of an output that is complete and made by this job, else None."""
    if not (fs.exists(output) and fs.exists(record)):
        return None
    try:
        with fs.open(record) as file:
            found = parse_json(file.read())
        same = found["job"] == json.loads(json.dumps(description))
        return int(found["rows"]) if same else None
    except (ValueError, LookupError, TypeError):
        return None


def _place(url: str) -> tuple[AbstractFileSystem, str]:
    with needed("shards"):
        from fsspec.core import url_to_fs

    fs, path = url_to_fs(url)
    return fs, path.rstrip("/")


def _is_local(fs: AbstractFileSystem) -> bool:
    return "file" in ((fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol)
