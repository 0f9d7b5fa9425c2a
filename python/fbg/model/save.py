"""Saved models: a directory with packed weights as they run, and the JSON files of the original.

Tensors have the names of the fields of Transformer: "embeddings.word", "layers.0.qkv.weight",
"pooler.bias", "head.output.weight". Layers that share weights are stored once, numbered as they
first run. Writing walks over the fields; reading is up to the network, as from a checkpoint.
"""

from __future__ import annotations

import dataclasses
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints import saved_file
from fbg.matmul.weights import PackedWeight, dtype_name
from fbg.networks.transformer import Transformer, linears
from fbg.text.sentence import sentence_files

__all__ = ["WEIGHTS", "Origin", "require_free", "tensors", "write"]

Floats = npt.NDArray[np.float32]

WEIGHTS = "fbg.safetensors"  # a directory that has it is a saved model


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a model came from.

    directory: has its JSON files.
    method: how its weights were quantized, for people to read.
    mapped: its weights lie in a file that `write` wrote.
    """

    directory: Path
    method: str
    mapped: bool


def tensors(transformer: Transformer) -> dict[str, PackedWeight | Floats]:
    """Return every tensor of a model under its name in a saved file."""
    distinct = {id(layer): layer for layer in transformer.layers}
    parts = {f.name: getattr(transformer, f.name) for f in dataclasses.fields(transformer)}
    parts["layers"] = tuple(distinct.values())
    return {name: tensor for part in parts for name, tensor in _fields(part, parts[part])}


def _fields(name: str, value: object) -> Iterator[tuple[str, PackedWeight | Floats]]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _fields(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _fields(f"{name}.{number}", item)
    elif isinstance(value, (np.ndarray, PackedWeight)):
        yield name, value


def write(target: Path, origin: Origin, transformer: Transformer, overwrite: bool) -> None:
    """Write a model directory, whole or not at all."""
    source, dtype = origin.directory, transformer.dtype
    target = require_free(target, overwrite)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    temporary.mkdir()
    try:
        names = ["config.json", *sentence_files(source)]
        names += [name for name in ("tokenizer.json",) if (source / name).is_file()]
        for name in names:
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, temporary / name)
        stored = tensors(transformer)
        packed = {n: dtype_name(t) for n, t in stored.items() if not isinstance(t, np.ndarray)}
        metadata = {
            "fbg": _fbg.__version__,
            "dtype": dtype,
            "method": origin.method,
            "packed": json.dumps(packed),
        }
        dtypes = {name: dtype_name(linear.packed) for name, linear in linears(transformer).items()}
        mixed = {name: kind for name, kind in dtypes.items() if kind != dtype}
        if mixed:
            metadata["higher_precision"] = json.dumps(mixed)
        saved_file.write(temporary / WEIGHTS, stored, metadata)
        _replace(target, temporary)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def require_free(target: Path, overwrite: bool) -> Path:
    """Return the directory that `write` would make: `target` with its symbolic links resolved.

    Raises FileExistsError if something is there that is not to be replaced, FileNotFoundError if
    the directory to make it in is missing.
    """
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no directory {target.parent}")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return target
    if not (target / WEIGHTS).is_file():
        raise FileExistsError(
            f"{target}: exists already and is not a saved model, so it is not replaced"
        )
    if not overwrite:
        raise FileExistsError(
            f"{target}: exists already; pass overwrite=True (--overwrite) to replace it"
        )
    return target


def _replace(target: Path, temporary: Path) -> None:
    """Rename `temporary` to `target`; what was there before comes back if that fails."""
    old = target.with_name(f"{temporary.name}.old")
    if target.is_dir():
        target.rename(old)
    try:
        temporary.rename(target)
    except BaseException:
        if old.is_dir():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
