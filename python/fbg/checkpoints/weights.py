"""Weights of linear layers as a checkpoint has them: read in place until they are packed.

torch stores a layer as (outputs, inputs) = (N, K). Layers that read the same input, such as query,
key and value, are one product: their parts are the columns of one (K, N) matrix, side by side. Some
parts are not a matrix in their file, or not the one that a network multiplies: convolutions, some
rows of a larger matrix, matrices with other scales, and zeros, which are in no file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.tensor import QuantizedTensor, common_dtype, pack_stored
from fbg.locks import cached_property
from fbg.matmul.weights import QUANTIZED, WEIGHT_LIMITS, PackedWeight


def read_floats(tensor: StoredTensor, *, limit: float = np.inf) -> Floats:
    """Return a tensor as C-contiguous float32, a view of its file if that has this form.

    limit: the largest magnitude that the caller can use. Raises ModelError.
    """
    values = _floats(tensor)
    # The extremes of an array that holds a NaN are NaN.
    low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise tensor.error("holds NaN or infinite values")
    if max(-low, high) > limit:
        raise tensor.error(f"must be within ±{limit:g} for this dtype, got {low:g} to {high:g}")
    return values


def copy_floats(tensor: StoredTensor, num_threads: int) -> Floats:
    """Return a copy of a tensor, C-contiguous float32; raises ModelError."""
    stored = tensor.view()
    if stored.dtype.name in ("float16", "bfloat16"):
        stored = stored.view(np.uint16)
    else:
        stored = stored.astype(np.float32, copy=False)
    stored = np.require(stored, None, ["C_CONTIGUOUS", "ALIGNED"])
    is_bfloat16 = tensor.dtype == "bfloat16"
    values, largest = _fbg.copy_floats(stored, is_bfloat16, num_threads)
    if not np.isfinite(largest):
        read_floats(tensor)  # explains the error
    tensor.release()
    return values


def _floats(tensor: StoredTensor) -> Floats:
    """Return a tensor as C-contiguous float32 without looking at its values."""
    return np.require(tensor.view(), np.float32, ["C_CONTIGUOUS", "ALIGNED"])


@dataclass(frozen=True, eq=False)
class UnpackedWeight:
    """A (K, N) matrix whose columns are the rows of some (N_i, K) tensors, scaled.

    divisor: (N,) or None: each column is first divided by its element. factors: (K,) or None: each
    row is then multiplied by its element, which needs int8 or int4.

    Methods leave no page of the file in memory, as weights may be far larger than the result
    of packing. num_threads never changes a result.
    """

    parts: tuple[StoredTensor, ...]
    divisor: Floats | None = None
    factors: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[0].shape[1], sum(part.shape[0] for part in self.parts)

    @property
    def is_quantized(self) -> bool:
        """Whether the checkpoint has some of it as codes."""
        return any(isinstance(part, QuantizedTensor) for part in self.parts)

    @cached_property
    def stored_dtype(self) -> str | None:
        """The dtype that holds the codes of the checkpoint; None without codes, or if none does."""
        return common_dtype(self.parts) if self.is_quantized else None

    def read(self) -> Floats:
        """Return the matrix as float32; raises ModelError for values that are not finite."""
        matrix: Floats = np.concatenate([read_floats(part) for part in self.parts]).T
        self._release()
        if self.divisor is not None:
            matrix = matrix / self.divisor
        return matrix if self.factors is None else matrix * self.factors[:, None]

    def largest(self, num_threads: int) -> Floats:
        """Return (K,): the largest magnitude in each row before it is multiplied; NaN where a row
        holds one.
        """
        largest = _fbg.largest_weights([_floats(p) for p in self.parts], self.divisor, num_threads)
        self._release()
        return largest

    def pack(self, dtype: str, num_threads: int, stored: bool = True) -> PackedWeight:
        """Pack the matrix; int8 is symmetric with one scale per column, int4 with one per group. A
        matrix that is not scaled keeps the codes of its checkpoint if they are of this dtype.

        stored: whether the packed matrix may be saved; then it needs a checksum.

        Raises ModelError for values that are not finite or that the dtype cannot hold.
        """
        codes = [part for part in self.parts if isinstance(part, QuantizedTensor)]
        scaled = self.divisor is not None or self.factors is not None
        if dtype in QUANTIZED and not scaled and self.stored_dtype == dtype:
            packed = pack_stored(codes, dtype, num_threads)
            self._release()
            return packed
        limit = WEIGHT_LIMITS[dtype]
        parts, scaling = [_floats(part) for part in self.parts], (self.divisor, self.factors)
        try:
            packed = _fbg.pack_linear(parts, dtype, *scaling, limit, stored, num_threads)
        except ValueError:
            for part in self.parts:
                read_floats(part, limit=limit)  # names the tensor and its values
            raise
        self._release()
        return packed

    def _release(self) -> None:
        for part in self.parts:
            part.release()


# Return a tensor by its name and its shape: its place in a file, or its values.
Find = Callable[[str, tuple[int, ...]], StoredTensor]
Read = Callable[..., Floats]


@dataclass(frozen=True)
class ComputedTensor(StoredTensor):
    """A tensor that is computed from a stored one whenever it is read."""

    stored: StoredTensor = field(kw_only=True)
    compute: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] = field(kw_only=True)

    @staticmethod
    def of(
        stored: StoredTensor,
        shape: tuple[int, ...],
        compute: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
        dtype: str | None = None,
    ) -> ComputedTensor:
        place = stored.file, stored.name, dtype or stored.dtype, shape, stored.begin
        return ComputedTensor(*place, stored=stored, compute=compute)

    @staticmethod
    def zeros(stored: StoredTensor, shape: tuple[int, ...]) -> ComputedTensor:
        """Return zeros, in addition to a stored tensor."""
        return ComputedTensor.of(stored, shape, lambda _: np.zeros(shape, np.float32), "float32")

    def view(self) -> npt.NDArray[Any]:
        return self.compute(self.stored.view())

    def release(self) -> None:
        self.stored.release()


@dataclass(frozen=True)
class Part:
    """A layer, named without ".weight" and ".bias": the part `index` of `count` equal ones that are
    the rows of a weight.
    """

    name: str
    index: int = 0
    count: int = 1

    @property
    def weight(self) -> str:
        """The name of the weight in its file."""
        return f"{self.name}.weight"

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return the shape in a file of a weight of which this is a matrix (rows, columns)."""
        return self.count * rows, columns

    def of(self, whole: StoredTensor, rows: int, columns: int) -> StoredTensor:
        """Return the part of a weight."""
        return whole.rows(self.index * rows, rows) if self.count > 1 else whole

    def matrix(self, find: Find, read: Read, rows: int, columns: int) -> StoredTensor:
        """Return the matrix (rows, columns) of a checkpoint; raises ModelError."""
        return self.of(find(self.weight, self.shape(rows, columns)), rows, columns)

    def bias(self, read: Read, rows: int) -> Floats:
        """Return the bias of a checkpoint, (rows,); raises ModelError."""
        return read(f"{self.name}.bias", rows)


@dataclass(frozen=True)
class Kernel(Part):
    """A convolution over a sequence as a layer that reads each token with its neighbours. Its
    weight is (outputs, inputs / groups, width).

    groups: each has outputs / groups outputs, which read the inputs of the group.
    """

    width: int = field(kw_only=True)
    groups: int = field(kw_only=True)

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        return rows, columns // self.width // self.groups, self.width

    def of(self, whole: StoredTensor, rows: int, columns: int) -> StoredTensor:
        def matrix(kernel: npt.NDArray[Any]) -> npt.NDArray[Any]:
            """Return (outputs, inputs * width), with zeros where an output reads no input."""
            size = rows // self.groups, kernel[0].size
            if self.groups == 1:
                return kernel.reshape(size)
            blocks = np.zeros((self.groups, size[0], self.groups, size[1]), kernel.dtype)
            diagonal = np.arange(self.groups)
            blocks[diagonal, :, diagonal] = kernel.reshape(self.groups, *size)
            return blocks.reshape(rows, columns)

        return ComputedTensor.of(whole, (rows, columns), matrix)


@dataclass(frozen=True)
class Patches(Part):
    """A layer that reads patches of an image; its weight is (outputs, *size), size the channels,
    the height and the width of a patch.
    """

    size: tuple[int, int, int] = field(kw_only=True)

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        return rows, *self.size

    def of(self, whole: StoredTensor, rows: int, columns: int) -> StoredTensor:
        return ComputedTensor.of(whole, (rows, columns), lambda w: w.reshape(rows, columns))


@dataclass(frozen=True)
class HeadPart(Part):
    """A part of a weight whose rows are ordered by head, so that each head has a part.

    turned: rotations turn neighbouring rows of a head; they come out half a head apart, where
    rotations of other models have them.
    """

    heads: int = 1
    turned: bool = False

    def of(self, whole: StoredTensor, rows: int, columns: int) -> StoredTensor:
        inside = np.arange(rows // self.heads)
        if self.turned:
            inside = np.concatenate([inside[0::2], inside[1::2]])
        first = (np.arange(self.heads) * self.count + self.index) * inside.size
        order = (first[:, None] + inside).ravel()
        if isinstance(whole, QuantizedTensor):
            return whole.ordered(order)
        return ComputedTensor.of(whole, (rows, columns), lambda matrix: matrix[order])


@dataclass(frozen=True)
class ExpertPart(Part):
    """A part of a tensor with a full name. transposed: its parts are transposed weights."""

    transposed: bool = False

    @property
    def weight(self) -> str:
        return self.name

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        return super().shape(*((columns, rows) if self.transposed else (rows, columns)))

    def of(self, whole: StoredTensor, rows: int, columns: int) -> StoredTensor:
        if not self.transposed:
            return super().of(whole, rows, columns)
        part = whole.rows(self.index * columns, columns)
        return ComputedTensor.of(part, (rows, columns), lambda matrix: matrix.T)


@dataclass(frozen=True)
class Ones(Part):
    """Columns beside a layer that give 1 for any input: zeros, with a bias of 1."""

    def of(self, whole: StoredTensor, rows: int, columns: int) -> StoredTensor:
        return ComputedTensor.zeros(whole, (rows, columns))

    def bias(self, read: Read, rows: int) -> Floats:
        return np.ones(rows, np.float32)


@dataclass(frozen=True)
class Scaled:
    """A part with other scales than in its file.

    by_weight, by_bias: factors of both. by: the full name of a tensor with a factor for each
    output, which both have in addition; None: there is none.
    """

    part: Part
    by_weight: float = 1.0
    by_bias: float = 1.0
    by: str | None = None

    def matrix(self, find: Find, read: Read, rows: int, columns: int) -> StoredTensor:
        """As of `Part`."""
        stored = self.part.matrix(find, read, rows, columns)
        factor: Floats = self.by_weight * self._factors(read, rows)[:, None]
        return ComputedTensor.of(
            stored, stored.shape, lambda w: w.astype(np.float32) * factor, "float32"
        )

    def bias(self, read: Read, rows: int) -> Floats:
        """As of `Part`."""
        return self.part.bias(read, rows) * (np.float32(self.by_bias) * self._factors(read, rows))

    def _factors(self, read: Read, rows: int) -> Floats:
        return np.ones(rows, np.float32) if self.by is None else read(self.by, rows)


# A layer: a part, or the name of a whole one.
Named = str | Part | Scaled


def as_part(name: Named) -> Part | Scaled:
    """Return the part that a name stands for."""
    return Part(name) if isinstance(name, str) else name
