"""Weights of linear layers as a checkpoint has them: read in place until they are packed.

torch stores a layer as (outputs, inputs) = (N, K). Layers that read the same input, such as query,
key and value, are one product: their parts are the columns of one (K, N) matrix, side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fbg import _fbg
from fbg.arrays import Floats
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.tensor import QuantizedTensor, common_dtype, pack_stored
from fbg.errors import ModelError
from fbg.locks import cached_property
from fbg.matmul.weights import QUANTIZED, WEIGHT_LIMITS, PackedWeight


def read_floats(tensor: StoredTensor, *, limit: float = np.inf) -> Floats:
    """Return a tensor as C-contiguous float32, a view of its file if that has this form.

    limit: the largest magnitude that the caller can use. Raises ModelError.
    """
    values = _floats(tensor)
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
