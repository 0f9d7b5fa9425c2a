"""Observers: fed with batches of a network's activations, they choose quantization parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array, require_flag, require_integer
from fbg.quantization.affine import choose_qparams, integer_range, require_finite
from fbg.quantization.search import channels


class Observer(ABC):
    """The base of observers; a subclass says which range to quantize.

    Args:
        axis: a scale and zero point for each index along this axis of the batches; None: for all.
    """

    def __init__(self, *, axis: int | None = None) -> None:
        self.axis = None if axis is None else require_integer(axis, f"{self._name}: axis", -64, 63)
        self._lo: Array | None = None
        self._hi: Array | None = None
        self._count = 0  # values per channel

    @property
    def _name(self) -> str:
        return type(self).__name__

    def update(self, batch: object) -> None:
        """Take in a batch: float32, float16 or bfloat16 of any shape; an empty one adds nothing.

        Raises TypeError for other dtypes, ValueError for a NaN or Inf or another number of
        channels than before; the batch is then left out.
        """
        name = f"{self._name}.update"
        rows = channels(require_finite(batch, f"{name}: batch"), self.axis, name)
        if rows.size == 0:
            return
        if self._lo is not None and len(rows) != len(self._lo):
            raise ValueError(
                f"{name}: batch must have {len(self._lo)} channels along axis {self.axis}, "
                f"got {len(rows)}"
            )
        lo, hi = rows.min(axis=1), rows.max(axis=1)
        self._lo = lo if self._lo is None else np.minimum(self._lo, lo)
        self._hi = hi if self._hi is None else np.maximum(self._hi, hi)
        self._count += rows.shape[1]
        self._add(rows)

    def qparams(self, dtype: npt.DTypeLike = np.uint8, symmetric: bool = False) -> tuple[Any, Any]:
        """Return (scale, zero_point) as ``choose_qparams`` does for the range that was chosen.

        float32 and int, or with `axis` float32 (C,) and int32 (C,). Raises ValueError before any
        value was seen, TypeError unless `dtype` is uint8 or int8.
        """
        integer_range(dtype, f"{self._name}.qparams")
        require_flag(symmetric, f"{self._name}.qparams: symmetric")
        if self._lo is None or self._hi is None:
            raise ValueError(
                f"{self._name}.qparams: update must have been called with at least one value"
            )
        lo, hi = np.minimum(self._lo, 0), np.maximum(self._hi, 0)
        lo, hi = self._range(lo, hi, dtype, symmetric)
        scale, point = choose_qparams(lo, hi, dtype, symmetric)
        return (scale[0], int(point[0])) if self.axis is None else (scale, point)

    @abstractmethod
    def _add(self, rows: Array) -> None:
        """Take in (C, n) finite values; the bounds already include them."""

    @abstractmethod
    def _range(
        self, lo: Array, hi: Array, dtype: npt.DTypeLike, symmetric: bool
    ) -> tuple[Array, Array]:
        """Return the range to quantize, (C,) and (C,): within [lo, hi], which holds all and 0."""


class MinMaxObserver(Observer):
    """The range of all values seen.

    >>> observer = MinMaxObserver()
    >>> observer.update(np.array([0.0, 1.55], np.float32))
    >>> observer.update(np.array([-1.0], np.float32))
    >>> observer.qparams()
    (np.float32(0.01), 100)
    """

    def _add(self, rows: Array) -> None:
        pass  # the bounds are enough

    def _range(
        self, lo: Array, hi: Array, dtype: npt.DTypeLike, symmetric: bool
    ) -> tuple[Array, Array]:
        return lo, hi
