"""Finds the directory of a model from its path or its id on the Hugging Face hub."""

from __future__ import annotations

import functools
import os.path
import re
from pathlib import Path
from typing import Any

from fbg.checkpoints.checkpoint import FORMATS, Format
from fbg.checkpoints.files import is_gguf
from fbg.errors import ModelError
from fbg.saved_file import PACKED, WEIGHTS, format_of

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")
SETTINGS = ("*.json", "*/config.json", "*/tokenizer.json", "*chat_template.jinja")
ADAPTERS = ("*/adapter_config.json", "*/adapter_model.safetensors")
HEADS = ("sparse_linear.pt", "colbert_linear.pt", "artifact.metadata")  # bge-m3 and ColBERT
# Modules with weights: static embeddings, encoders in a folder, and modules behind an encoder.
ENCODERS = ("StaticEmbedding", "Transformer", "MLMTransformer", "CLIPModel")
BESIDE = ("Dense", "SparseStaticEmbedding")


def find_directory(
    model: str,
    *,
    revision: str | None = None,
    cache_folder: str | None = None,
    local_files_only: bool = False,
    token: bool | str | None = None,
) -> Path:
    """Return the directory of a model; raises ModelError.

    A path that exists is taken as it is. What could be a hub id is looked up in the local cache,
    then downloaded, unless local_files_only. revision: the branch, tag or commit of a hub model.
    cache_folder: the cache. token: for models that not everybody may read.
    """
    path = Path(model)
    if os.path.isdir(path):  # unlike the methods of Path, no error for names that are too long
        return path
    if is_gguf(path):
        return path
    if os.path.exists(path):
        wanted = "wanted that of a model, or an ONNX file or a GGUF file"
        if format_of(model) == PACKED:
            wanted = "it is a file of packed weights, which fbg.PackedB.load reads"
        raise ModelError(f"{model}: not a directory: {wanted}")
    if path.is_absolute() or model.startswith((".", "~")) or not HUB_ID.fullmatch(model):
        raise ModelError(f"{model}: no such directory")
    return _hub_snapshot(
        model, local_files_only, revision=revision, cache_dir=cache_folder, token=token
    )


def _hub_snapshot(name: str, local: bool, **place: str | bool | None) -> Path:
    from huggingface_hub import snapshot_download as download

    given: dict[str, Any] = {key: value for key, value in place.items() if value is not None}
    snapshot_download = functools.partial(download, **given)

    preferred, *others = map(_patterns, FORMATS)
    wanted = [*SETTINGS, *ADAPTERS, *HEADS, WEIGHTS, *preferred]
    try:
        cached = Path(snapshot_download(name, allow_patterns=wanted, local_files_only=True))
        if _has_weights(cached):
            return cached
    except Exception:  # not in the cache, however this version of the library reports it
        pass
    if local:
        raise ModelError(
            f"{name}: no such directory, and not in the local cache of the hub, which alone is "
            "searched with local_files_only=True"
        )
    try:
        directory = Path(snapshot_download(name, allow_patterns=wanted))
        for patterns in others:
            # Only now: many models have their weights in both formats.
            if not _has_weights(directory):
                directory = Path(snapshot_download(name, allow_patterns=patterns))
    except Exception as error:
        raise ModelError(
            f"{name}: no such directory, not in the local cache of the hub, and not available from "
            f"the hub: {_reason(error)}"
        ) from None
    return directory


def _patterns(form: Format) -> list[str]:
    return [form.single, form.shards, *(f"*_{kind}/{form.single}" for kind in (*ENCODERS, *BESIDE))]


def _has_weights(directory: Path) -> bool:
    """Whether the encoder and the other modules have weights in some format."""
    if (directory / WEIGHTS).is_file():
        return True
    names = [name for form in FORMATS for name in (form.single, form.index)]
    encoders, beside = (
        [folder for kind in kinds for folder in directory.glob(f"*_{kind}")]
        for kinds in (ENCODERS, BESIDE)
    )
    folders = [*(encoders or [directory]), *beside]
    return all(any((folder / name).is_file() for name in names) for folder in folders)


def _reason(error: BaseException) -> str:
    """Return one line about the first cause of an error."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
