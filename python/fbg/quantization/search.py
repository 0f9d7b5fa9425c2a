"""Parameters of least squared error, found by trying narrower ranges than that of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, require_flag, require_integer
from fbg.quantization.affine import choose_qparams, integer_range, require_finite


def channels(x: Floats, axis: int | None, function: str) -> Floats:
    """Return `x` as (C, n): a row per index along `axis`, or one row of everything."""
    if axis is None:
        return x.reshape(1, -1)
    number = require_integer(axis, f"{function}: axis", -x.ndim, x.ndim - 1)
    moved = np.moveaxis(x, number, 0)
    return moved.reshape(len(moved), x.size // len(moved) if len(moved) else 0)


def round_trip(
    x: npt.NDArray[Any], scale: npt.NDArray[Any], zero_point: npt.NDArray[Any], qmin: int, qmax: int
) -> npt.NDArray[Any]:
    """Return the reals that (C, n) values become, in their dtype; parameters are (C,)."""
    step, point = (v.astype(x.dtype)[:, None] for v in (scale, zero_point))
    with np.errstate(over="ignore"):
        real: npt.NDArray[Any] = (np.clip(np.rint(x / step) + point, qmin, qmax) - point) * step
    return real


def choose_qparams_mse(
    x: object,
    dtype: npt.DTypeLike = np.uint8,
    symmetric: bool = False,
    *,
    axis: int | None = None,
    steps: int = 100,
) -> tuple[Any, Any]:
    """Return (scale, zero_point) of least mean squared error on `x`, by a search over ranges.

    A narrower range clips the extremes and rounds the rest more finely. With [lo, hi] the range of
    the data, widened to hold 0, and t in {1, (steps-1)/steps, ..., 1/steps}:

        1. [t lo, t hi]; the best is [lo', hi']
        2. asymmetric only: [t lo', hi']; the best is [lo'', hi']
        3. asymmetric only: [lo'', t hi']

    with ``choose_qparams`` for each range. Never worse than the whole range, which wins ties.
    Source: M. Nagel et al., "A White Paper on Neural Network Quantization" (arXiv:2106.08295), 3.1,
    which sets ranges by such a search over the squared error.

    Args:
        x: float32, float16 or bfloat16 of any shape; an empty one counts as a range of zeros.
        dtype: uint8 or int8.
        axis: a scale and zero point for each index along it; None: for the tensor.
        steps: ranges tried in each pass; the time is proportional to it.

    Returns float32 scale and int zero_point, or with `axis` float32 (C,) and int32 (C,).

    Raises TypeError for other dtypes, ValueError for a NaN or an infinity in `x`, or an `axis` or
    number of `steps` out of range.

    >>> x = np.random.default_rng(0).standard_normal(10_000, np.float32)
    >>> scale, zero_point = choose_qparams_mse(x, np.int8, symmetric=True)
    >>> bool(scale < choose_qparams(x.min(), x.max(), np.int8, symmetric=True)[0]), zero_point
    (True, 0)
    """
    qmin, qmax = integer_range(dtype, "choose_qparams_mse")
    require_flag(symmetric, "choose_qparams_mse: symmetric")
    count = require_integer(steps, "choose_qparams_mse: steps", 1, 1 << 20)
    rows = channels(require_finite(x, "choose_qparams_mse: x"), axis, "choose_qparams_mse")
    lo, hi = rows.min(axis=1, initial=0), rows.max(axis=1, initial=0)
    least = np.full(lo.shape, np.inf)
    passes = [(True, True)] if symmetric else [(True, True), (True, False), (False, True)]
    for shrink_lo, shrink_hi in passes:
        start_lo, start_hi = lo, hi
        for k in range(count, 0, -1):
            t = np.float32(k / count)
            try_lo = start_lo * t if shrink_lo else start_lo
            try_hi = start_hi * t if shrink_hi else start_hi
            scale, point = choose_qparams(try_lo, try_hi, dtype, symmetric)
            difference = (round_trip(rows, scale, point, qmin, qmax) - rows).astype(np.float64)
            error = np.einsum("ij,ij->i", difference, difference)
            better = error < least
            least = np.where(better, error, least)
            lo, hi = np.where(better, try_lo, lo), np.where(better, try_hi, hi)
    scale, point = choose_qparams(lo, hi, dtype, symmetric)
    return (scale[0], int(point[0])) if axis is None else (scale, point)
