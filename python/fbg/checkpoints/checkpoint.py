"""Checkpoints in safetensors: every tensor is checked for presence, dtype, shape and finite values.

A checkpoint is model.safetensors, or the files (shards) that model.safetensors.index.json names.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.files import read_settings, require_file
from fbg.errors import ModelError

__all__ = ["Checkpoint"]

Floats = npt.NDArray[np.float32]

DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}

# Checkpoints converted from the first BERT release.
OLD_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")


class Checkpoint:
    """The open files of a checkpoint; tensors come out as float32 whatever they are stored as.

    anchor: a tensor that every checkpoint has. What is stored before its name is the prefix of all
        names: models with a head put one before those of the encoder ("bert.", "roberta.").
    """

    def __init__(self, directory: Path, anchor: str) -> None:
        self.path, shards = _find_files(directory)
        self._places: dict[str, tuple[Path, Any]] = {}  # the file that holds each tensor, open
        for path in shards:
            file = _open(path)
            self._places.update(dict.fromkeys(file.keys(), (path, file)))
        self._prefix = self._find_prefix(anchor)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._places.clear()

    def _find_prefix(self, anchor: str) -> str:
        if anchor in self._places:
            return ""
        found = sorted(name for name in self._places if name.endswith(f".{anchor}"))
        if len(found) > 1:
            raise ModelError(f"{self.path}: more than one encoder: {', '.join(found)}")
        return found[0].removesuffix(anchor) if found else ""

    def _stored_name(self, name: str) -> str:
        stored = self._prefix + name
        if stored not in self._places:
            for new, old in OLD_NAMES.items():
                if stored.endswith(new) and stored.removesuffix(new) + old in self._places:
                    return stored.removesuffix(new) + old
        return stored

    def __contains__(self, name: str) -> bool:
        return self._stored_name(name) in self._places

    def without_prefix(self) -> Checkpoint:
        """Return the same files, whose tensors go by their full names: those of a head do."""
        other = copy(self)
        other._prefix = ""
        return other

    def count(self, name: str) -> int | None:
        """Return how many rows a tensor has, None if there is none; `tensor` checks it."""
        if name not in self:
            return None
        _, file = self._places[self._stored_name(name)]
        shape = file.get_slice(self._stored_name(name)).get_shape()
        return int(shape[0]) if shape else None

    def tensor(self, name: str, *shape: int, limit: float = np.inf) -> Floats:
        """Return a tensor, C-contiguous float32; raises ModelError naming file and tensor.

        limit: the largest magnitude that the caller has use for.
        """
        stored = self._stored_name(name)
        if stored not in self._places:
            raise ModelError(f"{self.path}: tensor {stored} is missing")
        path, file = self._places[stored]
        try:
            part = file.get_slice(stored)
            dtype, got = str(part.get_dtype()), tuple(part.get_shape())
            if dtype not in DTYPES:
                supported = ", ".join(DTYPES.values())
                raise ModelError(
                    f"{path}: tensor {stored} must have dtype {supported}, got {dtype}"
                )
            if got != shape:
                raise ModelError(f"{path}: tensor {stored} must have shape {shape}, got {got}")
            values = np.ascontiguousarray(file.get_tensor(stored), dtype=np.float32)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"{path}: tensor {stored} is not readable: {error}") from None
        # The extremes of an array that holds a NaN are NaN.
        low, high = float(values.min()), float(values.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ModelError(f"{path}: tensor {stored} holds NaN or infinite values")
        if max(-low, high) > limit:
            raise ModelError(
                f"{path}: tensor {stored} must be within ±{limit:g} for this dtype, "
                f"got {low:g} to {high:g}"
            )
        return values


def _find_files(directory: Path) -> tuple[Path, list[Path]]:
    """Return the file that stands for the checkpoint in errors, and those that hold its tensors."""
    single, index = directory / SINGLE, directory / INDEX
    if single.is_file():
        return single, [single]
    if not index.is_file():
        for name in PICKLED:
            if (directory / name).is_file():
                raise ModelError(
                    f"{single}: no such file; {name} is not read, since unpickling could run any "
                    "code. Convert it once, with torch and transformers: "
                    f"AutoModel.from_pretrained({str(directory)!r})"
                    f".save_pretrained({str(directory)!r})"
                )
        require_file(single)
    settings = read_settings(index)
    names = settings.get("weight_map")
    if not isinstance(names, dict) or not names:
        raise settings.error("weight_map", "an object that names the file of each tensor")
    for tensor, name in names.items():
        # Files of the directory itself, never elsewhere.
        if not isinstance(name, str) or Path(name).name != name:
            raise ModelError(
                f"{index}: the weight_map of {tensor} must be a file name, got {name!r}"
            )
    return index, [require_file(directory / name) for name in sorted(set(names.values()))]


def _open(path: Path) -> Any:
    # Here, so that the kernels import with NumPy alone; ml_dtypes teaches NumPy bfloat16.
    import ml_dtypes  # noqa: F401
    from safetensors import safe_open

    try:
        file: Any = safe_open(path, framework="numpy")
        file.keys()
    except Exception as error:  # SafetensorError, OSError, …: all mean that it cannot be read
        raise ModelError(f"{path}: not a readable safetensors file: {error}") from None
    return file
