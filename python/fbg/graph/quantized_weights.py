"""Weights that are stored as integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fbg.arrays import Array


@dataclass(frozen=True)
class QuantizedWeights:
    """Constant integers that stand for ``scale * (q - zero_point)`` along `axis`.

    scale, zero_point: (), or one for each element of the axis.
    """

    integers: Array
    scale: Array
    zero_point: Array
    axis: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the integers."""
        return self.integers.shape

    def scaled_along(self, axis: int) -> bool:
        """Whether all elements with one index of that axis have the same scale and zero point."""
        return self.scale.size == 1 or self.axis == axis

    def dequantized(self) -> Array:
        """Return the numbers as float32, computed anew."""
        q, scale = self.integers, self.scale
        shape = () if scale.size == 1 else (-1, *[1] * (q.ndim - self.axis - 1))
        # The difference of bytes is exact in float32; the difference of larger integers wraps.
        wide = np.dtype(np.int32 if q.dtype == np.int32 else np.float32)
        points = self.zero_point.astype(wide).reshape(shape)
        values: Array = np.subtract(q, points, dtype=wide, casting="unsafe")
        values = values.astype(np.float32, copy=False)
        # Networks take subnormal scales for zeros when they run.
        scale = np.where(np.abs(scale) < np.finfo(np.float32).tiny, np.float32(0), scale)
        with np.errstate(over="ignore", invalid="ignore"):
            values *= scale.reshape(shape)
        return values
