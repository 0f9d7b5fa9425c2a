"""Static embeddings: a table with a row for each token, and no layers behind it.

Two packages write them. A StaticEmbedding module of sentence-transformers is a table alone;
model2vec leaves unknown tokens out, and may have a weight for each token and rows that several
tokens share (`mapping`). Both become one table here, so that nothing else needs to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.checkpoint import weight_files
from fbg.checkpoints.files import folder_within, read_json, read_optional
from fbg.checkpoints.mapped_file import StoredTensor, read_safetensors
from fbg.errors import ModelError
from fbg.matmul.vocabulary import BESIDE
from fbg.networks.config import EncoderConfig, TaskConfig
from fbg.networks.source import Source
from fbg.networks.transformer import Embeddings, Transformer
from fbg.networks.unread import require_known_settings

TABLES = ("embedding.weight", "embeddings")  # for sentence-transformers, and for model2vec
MODEL2VEC = "model2vec"
MODULE = "StaticEmbedding"
LONGEST = 1 << 16  # tokens of a text, where the files set no limit
MAX_ELEMENTS = 1 << 31  # most bytes of a table with a row for each token


@dataclass(frozen=True, kw_only=True)
class StaticConfig(EncoderConfig):
    """The description of a table.

    folder: has its files, tokenizer.json among them.
    normalize: whether embeddings have length 1; None: modules.json says it.
    skips_unknown: whether unknown tokens are left out.
    """

    folder: Path
    normalize: bool | None
    skips_unknown: bool


def read_static_config(directory: Path, saved: str) -> StaticConfig | None:
    """Return the settings of a directory with static embeddings, None for any other.

    saved: the file with the weights of a model that fbg saved. Raises ModelError.
    """
    folder = _folder(directory)
    if folder is None:
        return None
    settings = read_optional(directory / "config.json")
    is_model2vec = settings.get("model_type") == MODEL2VEC
    longest, normalize = LONGEST, None
    if is_model2vec:
        if "max_length" not in settings or settings.get("max_length") is not None:
            longest = min(settings.size("max_length", 512), LONGEST)
        if "normalize" in settings:
            normalize = settings.flag("normalize")
        require_known_settings(settings, MODEL2VEC)
    tensors = _tensors(directory, folder, saved)
    if "embeddings.word" in tensors:
        table = tensors["embeddings.word"]
        columns = table.shape[-1] - (BESIDE if table.dtype == "uint8" else 0) if table.shape else 0
        if len(table.shape) != 2 or table.shape[0] == 0 or columns < 1:
            raise table.error(f"must be a table, got shape {table.shape}")
    else:
        table = _table(folder, tensors)
        columns = table.shape[1]
    rows = _rows(table, tensors.get("mapping"))
    return StaticConfig(
        model_type=MODEL2VEC if is_model2vec else MODULE,
        vocab_size=rows,
        hidden_size=columns,
        embedding_size=columns,
        num_layers=0,
        num_heads=1,
        kv_heads=1,
        head_dim=columns,
        intermediate_size=columns,
        max_positions=longest,
        num_token_types=1,
        activation="none",
        norm_eps=0.0,
        pad_token_id=None,
        tasks=TaskConfig(),
        folder=folder,
        normalize=normalize,
        skips_unknown=is_model2vec,
    )


def read_saved_static(source: Source, config: StaticConfig) -> Transformer:
    """Read the table of a saved model as a network without layers; raises ModelError."""
    shape = config.vocab_size, config.hidden_size
    return Transformer(
        config, Embeddings(source.vocabulary("embeddings.word", "embedding", *shape, scale=1.0))
    )


def read_static(
    config: StaticConfig, tensors: dict[str, StoredTensor], reads: bool = True
) -> Transformer:
    """Read a table, with the weights of tokens in it; raises ModelError.

    tensors: of its files. reads: whether values are read and checked; otherwise, all are 0.
    """
    stored = _require_floats(_table(config.folder, tensors))
    mapping, weights = tensors.get("mapping"), tensors.get("weights")
    shape = config.vocab_size, config.hidden_size
    if mapping is not None and (len(mapping.shape) != 1 or mapping.view().dtype.kind not in "iu"):
        raise mapping.error("must be a vector of integers")
    if weights is not None and _require_floats(weights).shape != shape[:1]:
        raise weights.error(f"must have shape {shape[:1]}, got {weights.shape}")
    if not reads:
        return Transformer(config, Embeddings(np.broadcast_to(np.float32(0), shape)))
    table = _floats(stored)
    if mapping is not None:
        rows = mapping.view()
        if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < len(table):
            raise mapping.error(f"must name the {len(table)} rows of the table")
        table = table[rows]
    if weights is not None:
        table = table * _floats(weights)[:, None]
    return Transformer(config, Embeddings(np.ascontiguousarray(table)))


def _folder(directory: Path) -> Path | None:
    """Return the folder of the first module if it is a static one, or that of a model2vec model."""
    path = directory / "modules.json"
    modules = read_json(path) if path.is_file() else []
    first = modules[0] if isinstance(modules, list) and modules else None
    if isinstance(first, dict) and str(first.get("type")).rpartition(".")[2] == MODULE:
        name = first.get("path")
        if not isinstance(name, str):
            raise ModelError(f"{path}: {name!r} is not a folder in the directory of the model")
        return directory / folder_within(path, directory, name)
    settings = read_optional(directory / "config.json")
    return directory if settings.get("model_type") == MODEL2VEC else None


def _tensors(directory: Path, folder: Path, saved: str) -> dict[str, StoredTensor]:
    if saved and (directory / saved).is_file():
        return read_safetensors(directory / saved)
    _, files, form = weight_files(folder)
    return {name: tensor for file in files for name, tensor in form.read(file).items()}


def _table(folder: Path, tensors: dict[str, StoredTensor]) -> StoredTensor:
    found = [tensors[name] for name in TABLES if name in tensors]
    if len(found) != 1 or len(found[0].shape) != 2 or 0 in found[0].shape:
        got = ", ".join(f"{name} {tensor.shape}" for name, tensor in tensors.items()) or "nothing"
        raise ModelError(f"{folder}: must have one table of {' or '.join(TABLES)}, got {got}")
    for name, tensor in tensors.items():
        if name not in (*TABLES, "mapping", "weights"):
            raise tensor.error("has no place in static embeddings")
    return found[0]


def _rows(table: StoredTensor, mapping: StoredTensor | None) -> int:
    """Return the tokens that have a row of the table; raises ModelError for a damaged mapping."""
    if mapping is None:
        return table.shape[0]
    if len(mapping.shape) != 1 or mapping.shape[0] == 0:
        raise mapping.error(f"must be a vector, got shape {mapping.shape}")
    if mapping.shape[0] * table.shape[1] > MAX_ELEMENTS:
        raise mapping.error(f"makes a table of {mapping.shape[0]} rows x {table.shape[1]}")
    return mapping.shape[0]


def _require_floats(tensor: StoredTensor) -> StoredTensor:
    """Require floats, or the int8 that model2vec quantizes to without a scale."""
    if tensor.dtype not in ("float64", "float32", "float16", "bfloat16", "int8"):
        raise tensor.error(f"must have floats or int8, got {tensor.dtype}")
    return tensor


def _floats(tensor: StoredTensor) -> npt.NDArray[np.float32]:
    values: npt.NDArray[Any] = tensor.view().astype(np.float32)
    if not np.isfinite(values).all():
        raise tensor.error("holds NaN or infinite values")
    return values
