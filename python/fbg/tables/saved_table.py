"""A table in a file: one of a safetensors file, or one that EmbeddingBag.save wrote.

The latter is a safetensors file, too (fbg/saved_file.py describes it), with the tensors

    rows    uint8 (M, bytes of a row)
    remap   int32 or int64, of a pruned table

and the options of `EmbeddingBag` as a JSON object in its metadata, under "table".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fbg import _fbg, arrays
from fbg.arrays import Array
from fbg.checkpoints.mapped_file import read_safetensors
from fbg.errors import ModelError
from fbg.files import require_free_file
from fbg.saved_file import TABLE, SavedFile, write
from fbg.tables.rows import FLOATS

ROWS, REMAP, OPTIONS = "rows", "remap", "table"


def write_table(
    path: Path, rows: Array, remap: Array | None, options: dict[str, Any], overwrite: bool
) -> None:
    """Write a table, completely or not at all."""
    require_free_file(path, overwrite)
    tensors = {ROWS: rows} if remap is None else {ROWS: rows, REMAP: remap}
    metadata = {"fbg": _fbg.__version__, OPTIONS: json.dumps(options)}
    write(path, tensors, metadata, TABLE)


def read_table(path: Path, verify: bool) -> tuple[Array, dict[str, Any]]:
    """Map what `write_table` wrote: floats or fused rows, and the options; raises ModelError."""
    with SavedFile(path, TABLE, verify=verify) as file:
        options = file.metadata_object(OPTIONS)
        table = file.array(ROWS)
        if REMAP in file:
            options[REMAP] = file.array(REMAP)
        file.require_all_read()
    dtype = options.get("dtype")
    if dtype in FLOATS:
        options.pop("scale_dtype", None)
        kind = arrays.named_dtype(dtype)
        columns = options.pop("columns", None)
        if table.ndim != 2 or (columns, 0) != divmod(table.shape[1], kind.itemsize):
            raise ModelError(f"{path}: damaged: {columns} columns of {dtype} in rows {table.shape}")
        table = table.view(kind)
    return table, options


def read_tensor(path: Path, tensor: str) -> Array:
    """Map a tensor of a safetensors file; raises ModelError."""
    tensors = read_safetensors(path)
    if tensor not in tensors:
        raise ModelError(f"{path}: tensor {tensor}: missing; it has {', '.join(tensors)[:200]}")
    found = tensors[tensor]
    if found.dtype not in (*FLOATS, "uint8") or len(found.shape) != 2:
        wanted = f"2-D of {arrays.listed((*FLOATS, 'uint8'))}"
        raise ModelError(
            f"{path}: tensor {tensor}: must be {wanted}, got {found.dtype} of shape {found.shape}"
        )
    array = found.view()
    return array if array.flags.aligned else array.copy()
