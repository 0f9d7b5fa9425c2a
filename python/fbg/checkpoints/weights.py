"""Weights of linear layers as a checkpoint has them: read where they lie, until they are packed.

torch stores a layer as (outputs, inputs) = (N, K). Layers that read the same input, such as query,
key and value, are one product: their parts are the columns of one (K, N) matrix, side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.mapped_file import StoredTensor
from fbg.errors import ModelError
from fbg.matmul.weights import WEIGHT_LIMITS, PackedWeight, pack_weight

__all__ = ["UnpackedWeight", "read_floats"]

Floats = npt.NDArray[np.float32]

DTYPES = ("float32", "float16", "bfloat16")


def read_floats(tensor: StoredTensor, *, limit: float = np.inf) -> Floats:
    """Return a tensor as C-contiguous float32, a view of its file where that is what it holds.

    limit: the largest magnitude that the caller has use for. Raises ModelError.
    """
    values = np.require(tensor.view(), np.float32, ["C_CONTIGUOUS", "ALIGNED"])
    # The extremes of an array that holds a NaN are NaN.
    low, high = float(values.min()), float(values.max())
    where = f"{tensor.path}: tensor {tensor.name}"
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ModelError(f"{where} holds NaN or infinite values")
    if max(-low, high) > limit:
        raise ModelError(
            f"{where} must be within ±{limit:g} for this dtype, got {low:g} to {high:g}"
        )
    return values


@dataclass(frozen=True)
class UnpackedWeight:
    """A (K, N) matrix whose columns are the rows of some (N_i, K) tensors.

    A divisor, where a method takes one, has an element for each column by which the column is
    divided first.
    """

    parts: tuple[StoredTensor, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.parts[0].shape[1], sum(part.shape[0] for part in self.parts)

    def read(self, divisor: Floats | None = None, limit: float = np.inf) -> Floats:
        """Return the matrix as float32; raises ModelError for values that it cannot have."""
        values = [read_floats(part, limit=limit) for part in self.parts]
        matrix = (values[0] if len(values) == 1 else np.concatenate(values)).T
        return matrix if divisor is None else matrix / divisor

    def largest(self, divisor: Floats | None = None) -> Floats:
        """Return (K,): the largest magnitude in each row."""
        largest: Floats = np.abs(self.read(divisor)).max(axis=1)
        return largest

    def pack(self, dtype: str, divisor: Floats | None = None) -> PackedWeight:
        """Pack the matrix; raises ModelError for values that the dtype cannot hold."""
        return pack_weight(self.read(divisor, WEIGHT_LIMITS[dtype]), dtype)

    def quantize(self, factors: Floats, divisor: Floats | None = None) -> PackedWeight:
        """Pack the matrix as int8, its rows first multiplied by the factors."""
        return pack_weight(self.read(divisor) * factors[:, None], "int8")

    def release(self) -> None:
        """Take back the memory of the matrix; it can be read again."""
        for part in self.parts:
            part.release()
