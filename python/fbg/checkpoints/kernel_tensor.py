"""Weights that are not a matrix in their file: convolutions over a sequence, in the form of a
linear layer that reads each token with its neighbours; and zeros, which are in no file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.mapped_file import StoredTensor


@dataclass(frozen=True)
class Kernel:
    """A weight of shape (outputs, inputs / groups, width), named without ".weight".

    groups: each has outputs / groups outputs, which read the inputs of the group.
    """

    name: str
    width: int
    groups: int

    def shape(self, rows: int, columns: int) -> tuple[int, int, int]:
        """Return the shape in a file of a matrix (rows, columns)."""
        return rows, columns // self.width // self.groups, self.width


@dataclass(frozen=True)
class Ones:
    """Columns of a layer that give 1 for any input: zeros, with a bias of 1."""

    name: str = ""


@dataclass(frozen=True)
class KernelTensor(StoredTensor):
    """A (outputs, inputs * width) matrix with zeros where an output does not read an input."""

    stored: StoredTensor = field(kw_only=True)
    groups: int = field(kw_only=True)

    def view(self) -> npt.NDArray[Any]:
        """Return the matrix, made anew if there are several groups."""
        kernel = self.stored.view()
        rows, columns = len(kernel) // self.groups, kernel[0].size
        if self.groups == 1:
            return kernel.reshape(rows, columns)
        blocks = np.zeros((self.groups, rows, self.groups, columns), kernel.dtype)
        diagonal = np.arange(self.groups)
        blocks[diagonal, :, diagonal] = kernel.reshape(self.groups, rows, columns)
        return blocks.reshape(self.shape)

    def release(self) -> None:
        self.stored.release()


@dataclass(frozen=True)
class ZeroTensor(StoredTensor):
    """Zeros, in addition to the tensors of a file."""

    def view(self) -> npt.NDArray[Any]:
        return np.zeros(self.shape, np.float32)

    def release(self) -> None:
        pass


def as_matrix(tensor: StoredTensor, kernel: Kernel, columns: int) -> KernelTensor:
    """Return the weight of a convolution as a matrix of so many columns."""
    shape = tensor.shape[0], columns
    return KernelTensor(
        tensor.file,
        tensor.name,
        tensor.dtype,
        shape,
        tensor.begin,
        stored=tensor,
        groups=kernel.groups,
    )
