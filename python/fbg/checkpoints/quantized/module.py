"""The tensors of which a checkpoint makes the weight of one linear layer, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.tensor import Codes, QuantizedTensor, Scales, Words
from fbg.errors import ModelError

LARGEST = 1 << 40  # more rows or columns than any weight has
FLOATS = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Module:
    """A layer by its name in the file, which its tensors have before theirs: {name}.{part}."""

    name: str
    parts: Mapping[str, StoredTensor]

    def __contains__(self, part: str) -> bool:
        return part in self.parts

    def get(self, part: str, dtypes: Sequence[str], *shapes: tuple[int, ...]) -> StoredTensor:
        """Return a tensor that must have one of the types and one of the shapes, any shape if
        none is given; raises ModelError.
        """
        if part not in self.parts:
            path = next(iter(self.parts.values())).path
            raise ModelError(f"{path}: tensor {self.name}.{part} is missing")
        tensor = self.parts[part]
        if tensor.dtype not in dtypes:
            raise refusal(tensor, f"must have dtype {', '.join(dtypes)}, got {tensor.dtype}")
        if shapes and tensor.shape not in shapes:
            wanted = " or ".join(map(str, dict.fromkeys(shapes)))
            raise refusal(tensor, f"must have shape {wanted}, got {tensor.shape}")
        return tensor

    def matrix(self, part: str, dtypes: Sequence[str]) -> StoredTensor:
        """Return a tensor that must have two axes, neither of them empty."""
        tensor = self.get(part, dtypes)
        if len(tensor.shape) != 2 or 0 in tensor.shape:
            raise refusal(tensor, f"must be a matrix, got shape {tensor.shape}")
        return tensor

    def weight(
        self,
        main: StoredTensor,
        shape: tuple[int, int],
        bits: int,
        codes: Callable[[], Codes],
        scales: Callable[[], Scales],
        words: Callable[[], Words] | None = None,
    ) -> QuantizedTensor:
        """Return the weight, of shape (outputs, inputs). main: the tensor of its codes."""
        return QuantizedTensor(
            main.file,
            f"{self.name}.weight",
            "float32",
            shape,
            main.begin,
            parts=tuple(self.parts.values()),
            bits=bits,
            codes=codes,
            words=words,
            scales=scales,
        )


def refusal(tensor: StoredTensor, what: str) -> ModelError:
    """Return the error that names the file and a tensor."""
    return ModelError(f"{tensor.path}: tensor {tensor.name} {what}")


def group_count(tensor: StoredTensor, inputs: int, size: int) -> int:
    """Return how many groups the inputs have; raises ModelError if one would be shorter."""
    if size < 1 or inputs % size:
        raise refusal(tensor, f"has {inputs} inputs, which groups of {size} do not divide")
    return inputs // size


def read_scale(tensor: StoredTensor) -> Floats:
    """Return scales as float32; raises ModelError for those that are not finite."""
    scale = np.asarray(tensor.view(), np.float32)
    if not np.isfinite(scale).all():
        raise refusal(tensor, "holds NaN or infinite values")
    return scale


def read_groups(tensor: StoredTensor, count: int, size: int) -> npt.NDArray[np.int32] | None:
    """Return the group of each input, None if those of a group are neighbours, in order.

    Raises ModelError unless each input belongs to one of `count` groups of `size` inputs at most.
    """
    groups = tensor.view()
    if groups.min() < 0 or groups.max() >= count:
        raise refusal(
            tensor,
            f"must name one of {count} groups for each input, got {groups.min()} to {groups.max()}",
        )
    members = np.bincount(groups, minlength=count)
    if members.max() > size:
        raise refusal(
            tensor,
            f"must be a permutation of groups of {size} inputs, got {members.max()} inputs in "
            f"group {members.argmax()}",
        )
    in_order = np.array_equal(groups, np.arange(groups.size) // size)
    return None if in_order else groups.astype(np.int32)


def points_or_none(points: npt.NDArray[np.int32]) -> npt.NDArray[np.int32] | None:
    """Return zero points; None if all of them are 0."""
    return points if points.any() else None
