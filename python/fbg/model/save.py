"""Saved models: a directory with packed weights as they run, and the JSON files of the original.

Tensors have the names of the fields of Transformer: "embeddings.word", "layers.0.qkv.weight",
"pooler.bias", "head.output.weight". Layers that share weights are stored once, numbered as they
first run. Writing walks over the fields; reading is up to the network, as from a checkpoint.

Fingerprints of input, model, options and machine: if they agree, so do embeddings.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fbg import _fbg, isa, saved_file
from fbg.arrays import Floats
from fbg.files import open_regular
from fbg.matmul.weights import PackedWeight
from fbg.networks.transformer import Transformer, linears
from fbg.reading import FileState
from fbg.saved_file import WEIGHTS, replace_directory


@dataclasses.dataclass(frozen=True)
class Origin:
    """The origin of a model.

    directory: from which it was loaded. files: all that it read there except weights, by the names
        that they get in a saved model.
    reads: the state of every file that it read, weights included.
    method: how its weights were quantized, for people to read.
    mapped: whether its weights are mapped from a file that `write` wrote.
    """

    directory: Path
    files: Mapping[str, bytes]
    reads: Mapping[str, FileState]
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
    """Write a model directory, completely or not at all."""
    dtype = transformer.dtype
    with replace_directory(target, overwrite) as directory:
        for name, content in origin.files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
        stored = tensors(transformer)
        packed = {n: t.dtype for n, t in stored.items() if not isinstance(t, np.ndarray)}
        metadata = {
            "fbg": _fbg.__version__,
            "dtype": dtype,
            "method": origin.method,
            "packed": json.dumps(packed),
        }
        dtypes = {name: linear.packed.dtype for name, linear in linears(transformer).items()}
        mixed = {name: kind for name, kind in dtypes.items() if kind != dtype}
        if mixed:
            metadata["higher_precision"] = json.dumps(mixed)
        saved_file.write(directory / WEIGHTS, stored, metadata)


def fingerprint_file(path: Path) -> str:
    """Return a hash of the content of a file."""
    digest = hashlib.blake2b(digest_size=16)
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fingerprint_model(origin: Origin, dtype: str) -> dict[str, Any]:
    """Return JSON values that differ for models whose embeddings may differ in a bit.

    The files that were read to load it count by size and times of change at that moment;
    weights are too large to read again.
    """
    files = {
        os.path.relpath(path, origin.directory): list(dataclasses.astuple(state))
        for path, state in sorted(origin.reads.items())
    }
    return {
        "fbg": _fbg.__version__,
        "isa": [isa.active(), *isa.supported()],
        "directory": str(origin.directory.resolve()),
        "dtype": dtype,
        "files": files,
    }
