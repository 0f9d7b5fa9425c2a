"""Checkpoints: every tensor is checked for presence, dtype, shape and finite values.

A checkpoint is one file or several (shards, which an index names), in safetensors or as torch.save
writes them; safetensors are preferred where both are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.files import is_gguf, read_settings, require_file
from fbg.checkpoints.gguf.architectures import read_gguf
from fbg.checkpoints.mapped_file import FLOATS, StoredTensor, read_safetensors
from fbg.checkpoints.torch_file import read_torch_file
from fbg.checkpoints.weights import Named, UnpackedWeight, as_part, copy_floats
from fbg.errors import ModelError

# Other ends of names: of checkpoints converted from the first BERT release, of the module of torch
# for attention, and of T5's table where it is saved under the name of the encoder only.
OTHER_NAMES = {
    "shared.weight": "encoder.embed_tokens.weight",
    **{"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"},
    **{"in_proj.weight": "in_proj_weight", "in_proj.bias": "in_proj_bias"},
}


@dataclass(frozen=True)
class Format:
    """A way to store a checkpoint.

    single: the one file. index: the file that names the shards, of the pattern `shards`.
    """

    single: str
    index: str
    shards: str
    read: Callable[[Path], dict[str, StoredTensor]]


FORMATS = (
    Format(
        "model.safetensors",
        "model.safetensors.index.json",
        "model-*.safetensors",
        read_safetensors,
    ),
    Format(
        "pytorch_model.bin",
        "pytorch_model.bin.index.json",
        "pytorch_model-*.bin",
        read_torch_file,
    ),
)

# The directory of such a model is its checkpoint as well.
GGUF = Format("", "", "", read_gguf)


class Checkpoint:
    """The files of a checkpoint, mapped; tensors are float32 whatever they are stored as.

    anchor: a tensor that every checkpoint has. The text before its name is the prefix of all
        names: models with a head put one before the names of the encoder ("bert.", "roberta.").
    change: applied to the tensors of the files before anything is looked up.
    reads: whether values are read; without, all of them are 0, and only the rest is checked.

    tensors: those of the files, by name. dtypes: how many the files have of each dtype.
    left_out: those that `require_all_read` has let pass, with the reason.
    """

    def __init__(
        self,
        directory: Path,
        anchor: str,
        change: Callable[[dict[str, StoredTensor]], dict[str, StoredTensor]] | None = None,
        *,
        reads: bool = True,
    ) -> None:
        self.reads = reads
        self.path, shards, form = weight_files(directory)
        self.tensors: dict[str, StoredTensor] = {}
        for path in shards:
            for name, tensor in form.read(path).items():
                other = self.tensors.setdefault(name, tensor)
                if other is not tensor:
                    raise ModelError(f"{path}: tensor {name} is in {other.path.name} as well")
        self.dtypes = Counter(tensor.dtype for tensor in self.tensors.values())
        if change is not None:
            self.tensors = change(self.tensors)
        self.left_out: dict[str, str] = {}
        self._prefix = self._find_prefix(anchor)
        self._read: set[str] = set()

    def _find_prefix(self, anchor: str) -> str:
        for own in _names(anchor):
            if own in self.tensors:
                return ""
            found = sorted(name for name in self.tensors if name.endswith(f".{own}"))
            if len(found) > 1:
                raise ModelError(f"{self.path}: more than one encoder: {', '.join(found)}")
            if found:
                return found[0].removesuffix(own)
        return ""

    def _stored_name(self, name: str) -> str:
        stored = self._prefix + name
        return next((other for other in _names(stored) if other in self.tensors), stored)

    def __contains__(self, name: str) -> bool:
        return self._stored_name(name) in self.tensors

    def without_prefix(self) -> Checkpoint:
        """Return the same files with full names of tensors, as for those of a head."""
        other = copy(self)
        other._prefix = ""
        return other

    def count(self, name: str) -> int | None:
        """Return how many rows a tensor has, None if there is none; `tensor` checks it."""
        if name not in self:
            return None
        shape = self.tensors[self._stored_name(name)].shape
        return shape[0] if shape else None

    def is_zero(self, name: str) -> bool:
        """Whether there is a tensor of floats that holds zeros only."""
        tensor = self.tensors.get(self._stored_name(name))
        return tensor is not None and tensor.dtype in FLOATS and not tensor.view().any()

    def require_all_read(self, reason: Callable[[str], str | None] = lambda name: None) -> None:
        """Raise ModelError for a tensor that was not read. reason: says of its name, without the
        prefix, why that is right; None if it is not.
        """
        for stored, tensor in self.tensors.items():
            if stored in self._read:
                continue
            why = reason(stored.removeprefix(self._prefix))
            if why is None:
                raise ModelError(
                    f"{tensor.path}: tensor {stored} has no place in the network that the settings "
                    "beside it describe; without it, results would be wrong"
                )
            self.left_out[stored] = why

    def require_copy(self, name: str, copy: str) -> None:
        """Raise ModelError if a tensor that shares its values with another one has others.

        copy: its name without a prefix, or with that of the encoder.
        """
        one = self.tensors[self._stored_name(name)]
        other = self.tensors.get(copy) or self.tensors.get(self._prefix + copy)
        same = other is None or (other.path, other.begin) == (one.path, one.begin)
        if other is None or same or not self.reads:
            return
        if not np.array_equal(one.view(), other.view()):
            raise other.error(
                f"must be a copy of {one.name}, because the settings say that they are one table"
            )

    def tensor(self, name: str, *shape: int, num_threads: int = 1) -> Floats:
        """Return a copy of a tensor, C-contiguous float32; raises ModelError."""
        stored = self._require(name, shape)
        if not self.reads:
            return np.broadcast_to(np.float32(0), shape)
        return copy_floats(stored, num_threads)

    def weight(self, names: Sequence[Named], outputs: Sequence[int], inputs: int) -> UnpackedWeight:
        """Return the weights of a linear layer, a part for each name; raises ModelError for shapes
        and dtypes. Values are checked when they are read.

        outputs: columns of each part.
        """
        return UnpackedWeight(
            tuple(
                as_part(name).matrix(self._require, self.tensor, rows, inputs)
                for name, rows in zip(names, outputs, strict=True)
            )
        )

    def _require(self, name: str, shape: tuple[int, ...]) -> StoredTensor:
        """Return a tensor that must exist; raises ModelError naming file and tensor."""
        stored = self._stored_name(name)
        if stored not in self.tensors:
            raise ModelError(f"{self.path}: tensor {stored} is missing")
        self._read.add(stored)
        tensor = self.tensors[stored]
        where = f"{tensor.path}: tensor {stored}"
        if tensor.dtype not in FLOATS:
            raise ModelError(f"{where} must have dtype {', '.join(FLOATS)}, got {tensor.dtype}")
        if tensor.shape != shape:
            raise ModelError(f"{where} must have shape {shape}, got {tensor.shape}")
        return tensor


def _names(name: str) -> Iterator[str]:
    """Yield the names that a tensor may have, the usual one first."""
    yield name
    for usual, other in OTHER_NAMES.items():
        if name.endswith(usual):
            yield name.removesuffix(usual) + other


def weight_files(directory: Path) -> tuple[Path, list[Path], Format]:
    """Return the file that stands for the checkpoint in errors, those with its tensors, and their
    format; raises ModelError where there is none.
    """
    if is_gguf(directory) or is_gguf(directory.parent):
        return directory, [directory], GGUF
    for form in FORMATS:
        single, index = directory / form.single, directory / form.index
        if single.is_file():
            return single, [single], form
        if index.is_file():
            return index, _shards(index), form
    others = ", ".join(form.single for form in FORMATS[1:])
    raise ModelError(f"{directory / FORMATS[0].single}: no such file, and no {others} either")


def _shards(index: Path) -> list[Path]:
    settings = read_settings(index)
    names = settings.get("weight_map")
    if not isinstance(names, dict) or not names:
        raise settings.error("weight_map", "an object that names the file of each tensor")
    for tensor, name in names.items():
        # Shards are files of the directory itself, never elsewhere.
        if not isinstance(name, str) or name in ("", "..") or Path(name).name != name:
            raise ModelError(
                f"{index}: the weight_map of {tensor} must be a file name, got {name!r}"
            )
    return [require_file(index.parent / name) for name in sorted(set(names.values()))]
