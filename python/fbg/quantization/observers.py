"""Observers: fed with batches of a network's activations, they choose quantization parameters. Some
keep a histogram, and leave out values that are too rare to be worth their bits.

A histogram has bins whose width is a power of two and whose edges are multiples of it. When a
larger value arrives, pairs of bins are added up until it fits, so that counts depend on what was
seen, never on how it was split into batches or in which order they came:

    bins      0        B/2 - 1   B/2         B - 1
            [-B/2 w  …  -w, 0)  [0, w)  …  B/2 w)        w = 2^e / (B/2),  every |x| < 2^e
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import (
    Array,
    Doubles,
    Floats,
    require_choice,
    require_flag,
    require_integer,
    require_number,
)
from fbg.quantization.affine import (
    channels,
    choose_qparams,
    integer_range,
    require_finite,
    round_trip,
)

_SMALLEST = -148  # 2^-149 is the smallest float32


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


class _Histogram(Observer):
    """An observer with a histogram: 8 bytes a bin, times the number of channels.

    Args:
        bins: a power of two in [512, 65536]; a quarter or more of them span [0, max |x|].
    """

    def __init__(self, *, bins: int = 4096, axis: int | None = None) -> None:
        super().__init__(axis=axis)
        self._bins = require_integer(bins, f"{self._name}: bins", 512, 65536)
        if self._bins & (self._bins - 1):
            raise ValueError(f"{self._name}: bins must be a power of two, got {bins}")
        self._counts: Array = np.zeros((0, self._bins), np.int64)
        self._exponent: Array = np.zeros(0, np.int64)

    @property
    def _width(self) -> Array:
        """float64 (C,): the width of a bin."""
        width: Array = np.ldexp(1.0, self._exponent) / (self._bins // 2)
        return width

    def _add(self, rows: Array) -> None:
        half = self._bins // 2
        if not len(self._counts):
            self._counts = np.zeros((len(rows), self._bins), np.int64)
            self._exponent = np.full(len(rows), _SMALLEST, np.int64)
        largest = np.abs(rows).max(axis=1)
        needed = np.where(largest > 0, np.frexp(largest)[1], _SMALLEST)  # |x| < 2^needed
        for c in np.flatnonzero(needed > self._exponent).tolist():
            shift = min(int(needed[c]) - int(self._exponent[c]), 62)
            merged = np.zeros(self._bins, np.int64)
            np.add.at(merged, (np.arange(-half, half) >> shift) + half, self._counts[c])
            self._counts[c] = merged
            self._exponent[c] = needed[c]
        for c, (row, width) in enumerate(zip(rows, self._width, strict=True)):
            place = np.floor(row.astype(np.float64) / width).astype(np.int64) + half
            self._counts[c] += np.bincount(place, minlength=self._bins)


class PercentileObserver(_Histogram):
    """The range that holds a percentage of the values; outliers beyond it saturate.

    Asymmetric: the two tails left out have at most ``(100 - percentile) / 200`` of the values each.
    Symmetric: [-t, t] leaves out at most ``(100 - percentile) / 100`` of them. An end of the range
    is rounded outwards to the edge of a bin (see above), but never beyond the values seen. A bin is
    at most 1/1024 of the largest magnitude for 4096 bins.

    Args:
        percentile: in [50, 100].
        bins, axis: see above.

    Source: NVIDIA, "Integer Quantization for Deep Learning Inference" (arXiv:2004.09602), 3.3.

    >>> observer = PercentileObserver(99.0)
    >>> observer.update(np.append(np.linspace(-1, 1, 999), 1000).astype(np.float32))
    >>> scale, zero_point = observer.qparams()  # [-1, 1] but for the width of a bin
    >>> bool(2 / 255 <= scale < 3.1 / 255)
    True
    """

    def __init__(
        self, percentile: float = 99.99, *, bins: int = 4096, axis: int | None = None
    ) -> None:
        super().__init__(bins=bins, axis=axis)
        self.percentile = require_number(percentile, "PercentileObserver: percentile")
        if not 50 <= self.percentile <= 100:
            raise ValueError(
                f"PercentileObserver: percentile must be within [50, 100], got {percentile}"
            )

    def _range(
        self, lo: Array, hi: Array, dtype: npt.DTypeLike, symmetric: bool
    ) -> tuple[Array, Array]:
        half, width = self._bins // 2, self._width
        # Exact, in the decimal that was written: 10 % of 10 values are 1, not 0.9999999999999998.
        left_out = (100 - Fraction(repr(self.percentile))) / 100 * self._count
        if symmetric:
            folded = self._counts[:, half:] + self._counts[:, half - 1 :: -1]
            edge = _kept(folded, left_out // 1) * width
            return np.maximum(lo, -edge), np.minimum(hi, edge)
        top = (_kept(self._counts, left_out // 2) - half) * width
        bottom = (half - _kept(self._counts[:, ::-1], left_out // 2)) * width
        return np.maximum(lo, np.minimum(bottom, 0)), np.minimum(hi, np.maximum(top, 0))


def _kept(counts: Array, left_out: int) -> Array:
    """Number of leading bins, (C,), such that at most `left_out` values are in the bins behind."""
    behind = counts[:, ::-1].cumsum(axis=1)
    kept: Array = counts.shape[1] - (behind <= left_out).sum(axis=1)
    return kept


class HistogramObserver(_Histogram):
    """The range that changes the distribution of the values least.

    Ranges [max(min, -t), min(max, t)] (symmetric: [-t, t]) are tried for at most `candidates`
    multiples t of the bin width, from as many bins as there are quantized values up to all.

    ``"entropy"``: least Kullback-Leibler divergence Σ P log(P / Q). P is the histogram with what
    is outside added to the bins at the ends; Q the histogram without it, in which the bins that
    quantize alike share their counts evenly among those that P occupies. Where Q is empty and P is
    not, half a value is assumed. ``"mse"``: least squared error of the centres of the bins.
    The widest range wins ties.

    Args:
        criterion: ``"entropy"`` or ``"mse"``.
        bins, axis: see above.
        candidates: ranges tried; the time of ``qparams`` is proportional to it.

    Source: S. Migacz, "8-bit Inference with TensorRT", GTC 2017; here with the quantizer itself
    instead of groups of equal size.

    >>> observer = HistogramObserver("entropy")
    >>> for seed in range(4):
    ...     observer.update(np.random.default_rng(seed).standard_normal(1000, np.float32))
    >>> observer.update(np.array([40.0], np.float32))
    >>> scale, zero_point = observer.qparams(np.int8, symmetric=True)
    >>> bool(scale * 127 < 20), zero_point
    (True, 0)
    """

    def __init__(
        self,
        criterion: Literal["entropy", "mse"] = "entropy",
        *,
        bins: int = 4096,
        axis: int | None = None,
        candidates: int = 128,
    ) -> None:
        super().__init__(bins=bins, axis=axis)
        require_choice(criterion, "HistogramObserver: criterion", "entropy", "mse")
        self.criterion = criterion
        self._candidates = require_integer(candidates, "HistogramObserver: candidates", 2, 65536)

    def _range(
        self, lo: Array, hi: Array, dtype: npt.DTypeLike, symmetric: bool
    ) -> tuple[Array, Array]:
        found = [
            self._channel(c, float(lo[c]), float(hi[c]), dtype, symmetric) for c in range(len(lo))
        ]
        ends = np.array(found, np.float32).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def _channel(
        self, c: int, lo: float, hi: float, dtype: npt.DTypeLike, symmetric: bool
    ) -> tuple[float, float]:
        counts, width, half = self._counts[c], float(self._width[c]), self._bins // 2
        occupied = np.flatnonzero(counts) - half
        lowest, highest = min(int(occupied[0]), 0), max(int(occupied[-1]) + 1, 0)
        whole = max(-lowest, highest)  # bins on the longer side
        qmin, qmax = integer_range(dtype)
        centres = (np.arange(-half, half) + 0.5)[None] * width
        best, least = (lo, hi), np.inf
        for t in sorted({int(t) for t in np.linspace(1, whole, self._candidates)}, reverse=True):
            first, last = (-t, t) if symmetric else (max(-t, lowest), min(t, highest))
            if t < whole and last - first < 256:
                break
            inside = slice(first + half, last + half)
            ends = max(lo, first * width), min(hi, last * width)
            scale, point = choose_qparams(np.array(ends[:1]), np.array(ends[1:]), dtype, symmetric)
            real = round_trip(centres, scale, point, qmin, qmax)
            if self.criterion == "mse":
                cost = float(counts @ ((real - centres)[0] / width) ** 2)
            else:
                cost = _divergence(counts, inside, real[0, inside])
            if cost < least:
                best, least = ends, cost
        return best


def _divergence(counts: Array, inside: slice, levels: Array) -> float:
    """Kullback-Leibler divergence of bins that become `levels`, non-decreasing, from `counts`."""
    q = counts[inside].astype(np.float64)
    p = q.copy()
    p[0] += counts[: inside.start].sum()
    p[-1] += counts[inside.stop :].sum()
    group = np.cumsum(np.diff(levels, prepend=levels[0]) > 0)
    occupied = p > 0
    share = np.bincount(group, q) / np.maximum(np.bincount(group, occupied), 1)
    p, spread = p[occupied], np.maximum(share[group][occupied], 0.5)
    return float(p @ np.log((p / p.sum()) / (spread / max(q.sum(), 0.5))) / p.sum())


@dataclass
class Moments:
    """Statistics of the rows x that a product reads: the sizes of their K channels, and how these
    depend on each other, as sums over `rows` rows.
    """

    squares: Doubles  # (K,): sum of x_k^2
    gram: Floats | None = None  # (K, K): sum of x^T x
    rows: int = 0

    @classmethod
    def empty(cls, channels: int, gram: bool = False) -> Moments:
        return cls(np.zeros(channels), np.zeros((channels, channels), np.float32) if gram else None)

    def update(self, x: Floats, num_threads: int) -> None:
        """Take in rows, (M, K)."""
        self.rows += len(x)
        self.squares += _fbg.sum_squares(x, num_threads)
        if self.gram is not None:
            self.gram += x.T @ x

    @property
    def sizes(self) -> Doubles:
        """(K,): the root mean square of each channel, 0 if there were no rows."""
        sizes: Doubles = np.sqrt(self.squares / max(self.rows, 1))
        return sizes
