"""A GGUF file as the directory of a model: the files that would be there beside the weights."""

from __future__ import annotations

import functools
import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fbg.checkpoints.gguf.architectures import dense_layers, make_config, named_tensors
from fbg.checkpoints.gguf.header import Header, read_header
from fbg.checkpoints.gguf.tokenizer import make_tokenizer
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.gguf import read
from fbg.checkpoints.quantized.module import Module
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.files import open_regular
from fbg.reading import FileState

DENSE_WEIGHT, SAVED = "linear.weight", "model.safetensors"
POOLINGS = ("none", "mean", "cls", "lasttoken")  # by their numbers in the file


def read_gguf(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file under the names of its family, or that of a layer behind the
    pooling for its folder "in" the file; raises ModelError.
    """
    if path.is_file():
        return named_tensors(read_header(path))
    return {DENSE_WEIGHT: _dense(read_header(path.parent))[path.name]}


def _dense(header: Header) -> dict[str, StoredTensor]:
    """Return the layers behind the pooling by folder; raises ModelError."""
    found = dense_layers(header)
    for folder, tensor in found.items():
        module = Module("linear", {"weight": tensor})
        if len(tensor.shape) != 2:
            raise ModelError(f"{header.path}: tensor {tensor.name} must be a matrix")
        if tensor.dtype.isupper():
            found[folder] = read(Settings(header.path, {}))(module)
    return found


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
    dense = _dense(header)
    if number > 0:
        # Whoever reads such files normalizes vectors unless told otherwise.
        behind = [*((folder, "Dense") for folder in dense), ("9_Normalize", "Normalize")]
        kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), *behind]
        files["modules.json"] = [{"path": folder, "type": kind} for folder, kind in kinds]
        files["1_Pooling/config.json"] = {"pooling_mode": POOLINGS[number]}
    elif dense:
        raise settings.error(f"{name}.pooling_type", "given, for the layers behind the pooling")
    for folder, tensor in dense.items():
        outputs, inputs = tensor.shape
        files[f"{folder}/config.json"] = {
            **{"in_features": inputs, "out_features": outputs, "bias": False},
            "activation_function": "torch.nn.Identity",
        }
    found = {file: json.dumps(values).encode() for file, values in files.items()}
    return found | {f"{folder}/{SAVED}": _saved(tensor) for folder, tensor in dense.items()}


def _saved(tensor: StoredTensor) -> bytes:
    """Return the file of safetensors of a layer behind the pooling, for whoever saves the model."""
    data = np.asarray(tensor.view(), np.float32).tobytes()
    place = {"dtype": "F32", "shape": tensor.shape, "data_offsets": (0, len(data))}
    header = json.dumps({DENSE_WEIGHT: place}).encode()
    return struct.pack("<Q", len(header)) + header + data
