"""Saved models: a directory with packed weights as they run, and the JSON files of the original.

Tensors have the names of the fields of Transformer: "embeddings.word", "layers.0.qkv.weight",
"pooler.bias". Layers that share weights are stored once, numbered as they first run. Writing walks
over the fields, so that a new one is written without more; `read` has a line for each.
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
from fbg.models import saved_file
from fbg.models.config import EncoderConfig
from fbg.models.saved_file import SavedFile
from fbg.models.sentence import sentence_files
from fbg.models.transformer import (
    Embeddings,
    Layer,
    LayerNorm,
    Linear,
    PackedWeight,
    Transformer,
)
from fbg.packed_file import dtype_name

__all__ = ["WEIGHTS", "Origin", "read", "tensors", "write"]

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
    return {
        **dict(_fields("embeddings", transformer.embeddings)),
        **dict(_fields("layers", tuple(distinct.values()))),
        **dict(_fields("pooler", transformer.pooler)),
    }


def _fields(name: str, value: object) -> Iterator[tuple[str, PackedWeight | Floats]]:
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _fields(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _fields(f"{name}.{number}", item)
    elif isinstance(value, (np.ndarray, PackedWeight)):
        yield name, value


def write(
    target: Path, origin: Origin, transformer: Transformer, dtype: str, overwrite: bool
) -> None:
    """Write a model directory, whole or not at all."""
    source = origin.directory
    target = Path(os.path.realpath(target))  # a symbolic link keeps pointing to what was written
    _require_free(target, overwrite)
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
        saved_file.write(temporary / WEIGHTS, stored, metadata)
        _replace(target, temporary)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _require_free(target: Path, overwrite: bool) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / WEIGHTS).is_file():
        raise FileExistsError(f"{target}: exists, and is not a saved model that could be replaced")
    if not overwrite:
        raise FileExistsError(f"{target}: exists; it is replaced only when asked to overwrite it")


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


def read(file: SavedFile, config: EncoderConfig, dtype: str) -> Transformer:
    """Map the weights of a model that was saved with `dtype`; raises ModelError."""
    names = config.architecture
    width, hidden = config.embedding_size, config.hidden_size

    def linear(name: str, inputs: int, outputs: int, kind: str = dtype) -> Linear:
        return Linear(
            weight=file.packed(f"{name}.weight", kind, inputs, outputs),
            bias=file.floats(f"{name}.bias", outputs),
            channel_scale=file.optional(f"{name}.channel_scale", inputs),
        )

    def norm(name: str, size: int = hidden) -> LayerNorm:
        weight, bias = (file.floats(f"{name}.{part}", size) for part in ("weight", "bias"))
        return LayerNorm(weight, bias, config.layer_norm_eps)

    def layer(name: str) -> Layer:
        return Layer(
            qkv=linear(f"{name}.qkv", hidden, 3 * hidden),
            attention_output=linear(f"{name}.attention_output", hidden, hidden),
            attention_norm=norm(f"{name}.attention_norm"),
            intermediate=linear(f"{name}.intermediate", hidden, config.intermediate_size),
            output=linear(f"{name}.output", config.intermediate_size, hidden),
            output_norm=norm(f"{name}.output_norm"),
        )

    projection, token_type, pooler = None, None, None
    if names.projection is not None and (width != hidden or names.projection_of_equals):
        projection = linear("embeddings.projection", width, hidden)
    if names.token_type is not None:
        token_type = file.floats("embeddings.token_type", config.type_vocab_size, width)
    if "pooler.weight" in file:
        pooler = linear("pooler", hidden, hidden, kind="float32")
    embeddings = Embeddings(
        word=file.floats("embeddings.word", config.vocab_size, width),
        position=file.floats("embeddings.position", config.max_position_embeddings, width),
        token_type=token_type,
        norm=norm("embeddings.norm", width),
        projection=projection,
    )
    order = dict.fromkeys(config.layer_names)  # as in `tensors`
    distinct = {name: layer(f"layers.{n}") for n, name in enumerate(order)}
    file.require_all_read()
    layers = tuple(distinct[name] for name in config.layer_names)
    return Transformer(config, dtype, embeddings, layers, pooler)
