"""Products with int4 weights in NumPy, bit for bit: the formula of docs/quantization.md."""

from __future__ import annotations

import numpy as np


def fused(a, b, c):
    """a * b + c in float32, rounded once; the product must be exact in float64.

    The sum is rounded to odd in float64, which has more than two bits to spare, so that the second
    rounding gives what a single one would.
    """
    product = np.asarray(a, np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    even = (total.view(np.int64) & 1) == 0
    odd = np.where(even & (error != 0), np.nextafter(total, np.copysign(np.inf, error)), total)
    return odd.astype(np.float32)


def groups_of(depth, group):
    """The groups of K, of which the last may be shorter."""
    return [slice(k, min(k + group, depth)) for k in range(0, depth, group)]


def weighted_offsets(q, scale, group, offset=None):
    """What the zero point of a row is multiplied by, for each column."""
    total = np.zeros(q.shape[1], np.float32)
    for g, k in enumerate(groups_of(len(q), group)):
        total = fused(q[k].sum(axis=0), scale[g], total)
        if offset is not None:
            total = fused(np.float64(k.stop - k.start), offset[g], total)
    return total


def product(a, row_scale, zero_point, q, scale, group, offset=None):
    """(M, N) float32 of uint8 rows and int4 weights.

    a: (M, K) integers. row_scale, zero_point: (M,). q: (K, N) integers. scale, offset: (K / group,
    N); without offsets, weights are symmetric.
    """
    a, q, scale = a.astype(np.int64), q.astype(np.int64), scale.astype(np.float64)
    total = np.zeros((len(a), q.shape[1]), np.float32)
    for g, k in enumerate(groups_of(len(q), group)):
        total = fused(a[:, k] @ q[k], scale[g], total)
        if offset is not None:
            total = fused(a[:, k].sum(axis=1)[:, None], offset[g][None], total)
    offsets = weighted_offsets(q, scale, group, offset)
    points = -zero_point.astype(np.float64)[:, None]
    return fused(points, offsets[None, :], total) * row_scale.astype(np.float32)[:, None]
