"""A GGUF file as the directory of a model: the files that would be there beside the weights."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fbg.checkpoints.gguf.architectures import make_config, named_tensors
from fbg.checkpoints.gguf.header import read_header
from fbg.checkpoints.gguf.tokenizer import make_tokenizer
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.files import open_regular
from fbg.reading import FileState

POOLINGS = ("none", "mean", "cls", "lasttoken")  # by their numbers in the file


def read_gguf(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file under the names of its family; raises ModelError."""
    return named_tensors(read_header(path))


def files_of(path: Path) -> Mapping[str, bytes]:
    """Return the files of a model directory by name; raises ModelError."""
    try:
        with open_regular(path) as file:  # which notes that this load reads it
            state = FileState.of(os.fstat(file.fileno()))
    except OSError as error:
        raise ModelError(f"{path}: {error}") from None
    return _files_of(path, state)


@functools.lru_cache(maxsize=1)  # a load asks for them one by one
def _files_of(path: Path, state: FileState) -> Mapping[str, bytes]:
    header = read_header(path)
    files: dict[str, Any] = {"config.json": make_config(header)}
    tokenizer = make_tokenizer(header)
    if tokenizer is not None:
        files["tokenizer.json"] = tokenizer
    name = header.metadata["general.architecture"]
    settings = Settings(path, dict(header.metadata))
    number = settings.size(f"{name}.pooling_type", default=0, at_least=0)
    if number >= len(POOLINGS):
        known = ", ".join(f"{n} ({pooling})" for n, pooling in enumerate(POOLINGS))
        raise settings.error(f"{name}.pooling_type", f"one of {known}")
    if number > 0:
        # Whoever reads such files normalizes vectors unless told otherwise.
        kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
        files["modules.json"] = [{"path": folder, "type": kind} for folder, kind in kinds]
        files["1_Pooling/config.json"] = {"pooling_mode": POOLINGS[number]}
    return {file: json.dumps(values).encode() for file, values in files.items()}
