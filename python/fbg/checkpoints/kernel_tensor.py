"""Weights that are not a matrix in their file, or not the one that a network multiplies:
convolutions over a sequence, in the form of a linear layer that reads each token with its
neighbours, and over the patches of a picture; matrices with other scales; and zeros, which are in
no file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.tensor import QuantizedTensor


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
class Patches:
    """A weight of shape (outputs, channels, height, width), named without ".weight"."""

    name: str
    channels: int
    height: int
    width: int
    groups = 1

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return the shape in a file of a matrix (rows, columns)."""
        return rows, self.channels, self.height, self.width


@dataclass(frozen=True)
class Part:
    """Some rows of a weight, named without ".weight": the part `index` of `count` equal ones."""

    name: str
    index: int
    count: int

    @property
    def tensor(self) -> str:
        """The name of the weight in its file."""
        return f"{self.name}.weight"

    def shape(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the shape in a file of a weight of which this part is a matrix (rows, columns)."""
        return self.count * rows, columns

    def of(self, whole: StoredTensor, rows: int) -> StoredTensor:
        """Return the part of a weight, which has so many rows."""
        return whole.rows(self.index * rows, rows) if self.count > 1 else whole


@dataclass(frozen=True)
class HeadPart(Part):
    """The same of a weight whose rows are ordered by head, so that each head has a part.

    turned: rotations turn neighbouring rows of a head; they come out half a head apart, where
    rotations of other models have them.
    """

    heads: int
    turned: bool = False

    def of(self, whole: StoredTensor, rows: int) -> StoredTensor:
        inside = np.arange(rows // self.heads)
        if self.turned:
            inside = np.concatenate([inside[0::2], inside[1::2]])
        first = (np.arange(self.heads) * self.count + self.index) * inside.size
        order = (first[:, None] + inside).ravel()
        if isinstance(whole, QuantizedTensor):
            return whole.ordered(order)
        shape = (rows, whole.shape[1])
        return MovedTensor(
            whole.file, whole.name, whole.dtype, shape, whole.begin, stored=whole, order=order
        )


@dataclass(frozen=True)
class ExpertPart(Part):
    """The same of a tensor with a full name. transposed: its parts are transposed weights."""

    transposed: bool

    @property
    def tensor(self) -> str:
        return self.name

    def shape(self, rows: int, columns: int) -> tuple[int, int]:
        return super().shape(*((columns, rows) if self.transposed else (rows, columns)))

    def of(self, whole: StoredTensor, rows: int) -> StoredTensor:
        if not self.transposed:
            return super().of(whole, rows)
        size = whole.shape[0] // self.count
        part = whole.rows(self.index * size, size)
        return MovedTensor(part.file, part.name, part.dtype, (rows, size), part.begin, stored=part)


@dataclass(frozen=True)
class Scaled:
    """A layer with other scales than in its file.

    part: the layer, or a part of it. weight, bias: factors of both. by: the full name of a tensor
    with a factor for each output, which both have in addition; None: there is none.
    """

    part: str | Part
    weight: float = 1.0
    bias: float = 1.0
    by: str | None = None

    @property
    def name(self) -> str:
        return self.part if isinstance(self.part, str) else self.part.name


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
class MovedTensor(StoredTensor):
    """Some rows of a matrix, in another order; None: the transposed matrix."""

    stored: StoredTensor = field(kw_only=True)
    order: npt.NDArray[np.intp] | None = field(default=None, kw_only=True)

    def view(self) -> npt.NDArray[Any]:
        matrix = self.stored.view()
        return matrix.T if self.order is None else matrix[self.order]

    def release(self) -> None:
        self.stored.release()


@dataclass(frozen=True)
class ScaledTensor(StoredTensor):
    """A matrix whose rows are multiplied by factors: a number, or (rows, 1) of them."""

    stored: StoredTensor = field(kw_only=True)
    factor: npt.NDArray[np.float32] = field(kw_only=True)

    def view(self) -> npt.NDArray[Any]:
        return self.stored.view().astype(np.float32) * self.factor

    def release(self) -> None:
        self.stored.release()


@dataclass(frozen=True)
class ZeroTensor(StoredTensor):
    """Zeros, in addition to the tensors of a file."""

    def view(self) -> npt.NDArray[Any]:
        return np.zeros(self.shape, np.float32)

    def release(self) -> None:
        pass


def as_scaled(tensor: StoredTensor, factor: npt.NDArray[np.float32]) -> ScaledTensor:
    """Return a matrix whose rows are multiplied."""
    return ScaledTensor(
        tensor.file,
        tensor.name,
        "float32",
        tensor.shape,
        tensor.begin,
        stored=tensor,
        factor=factor,
    )


def as_matrix(tensor: StoredTensor, kernel: Kernel | Patches, columns: int) -> KernelTensor:
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
