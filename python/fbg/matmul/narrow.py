"""Narrow int8 weights: those whose products with bytes can be summed in 16 bits.

CPUs without VNNI multiply bytes in pairs, and their sums have 16 bits (vpmaddubsw). A product of a
matrix (N, K) can add two of these before it widens them, unless they overflow. They never do if of
every output, in all pairs of neighbouring groups of four along K, the positive weights of each half
of the two groups add up to at most 128, and the negative ones to at least -128. K of a convolution
counts the taps, and the input channels of each. Packing finds out by itself whether weights are
narrow; depthwise convolutions do not profit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Array

NARROW_LIMIT = 128
_ROUNDING = 2  # what rounding adds to the sum of four weights


def gains_from_narrow() -> bool:
    """Whether products of int8 are faster with narrow weights on this CPU, whatever limits ISAs."""
    return {"avx2", "avx2_vnni", "avx512_vnni"}.intersection(_fbg.supported_isas()) == {"avx2"}


def outputs_as_rows(weight: Array, axis: int) -> Array:
    """Return weights as rows (N, K), one for each index along `axis`; those of a convolution have
    the layout (O, I / groups, *kernel).
    """
    rows = np.moveaxis(weight, axis, 0)
    if rows.ndim > 2:
        rows = np.moveaxis(rows, 1, -1)
    return rows.reshape(len(rows), -1)


def lane_sums(rows: Array) -> npt.NDArray[np.float32]:
    """Return of each row the largest sum of weights of one sign that are added in 16 bits.

    >>> lane_sums(np.array([[100, 27, 9, 9, 1, 0, -90, -39], [0, 1, -5, -5, 0, 0, 0, 0]])).tolist()
    [129.0, 10.0]
    """
    n, k = rows.shape
    groups = -(-k // 4)
    padded = np.zeros((n, 4 * groups), np.float32)
    padded[:, :k] = rows
    halves = padded.reshape(n, groups, 2, 2)
    most = np.zeros(n, np.float32)
    for part in (np.maximum(halves, 0), np.maximum(-halves, 0)):
        sums = part[..., 0] + part[..., 1]
        sums[:, 1:] = sums[:, 1:] + sums[:, :-1]
        np.maximum(most, sums.max((1, 2), initial=0), out=most)
    return most


def narrow_scales(rows: Array) -> npt.NDArray[np.float32]:
    """Return the least scales with which rows that are rounded to the nearest are narrow."""
    return lane_sums(rows) / np.float32(NARROW_LIMIT - _ROUNDING)


def is_narrow(rows: Array) -> bool:
    """Whether integers are narrow."""
    return bool((lane_sums(rows) <= NARROW_LIMIT).all())
