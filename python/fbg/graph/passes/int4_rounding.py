"""int4 weights whose rounding errors cancel on data: GPTQ, then descent, and scales refitted.

The error of one column on data with the Gram matrix H is (w - s q - o)^T H (w - s q - o), where s
and o are the scale and the offset of the group to which a row belongs; symmetric weights have no o.
Three steps reduce it, the last two in turn:

    1. scales and offsets that fit the weights of each group best, each weighted by its diagonal
       element of H; then GPTQ (gptq.py)
    2. descent: each q in turn becomes the integer that is best while all others stay
    3. the scales and offsets of all groups of a column that are best for its integers, from a
       linear system
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.graph.passes.gptq import damped_gram, descend, round_to_gram

Halves = npt.NDArray[np.float16]

LOWEST, HIGHEST = -8, 7
# Where in this range the weight of the largest magnitude of a group may be placed.
POSITIONS = np.concatenate([np.arange(5.6, 6.8, 0.2), np.arange(6.8, 8.9, 0.15)])
# With offsets: half the range of the 16 values, relative to half the range of the weights.
REACHES = np.arange(0.6, 1.06, 0.03)
FITS = 2  # iterations that fit scale and offset for one reach
REFITS = 1
SWEEPS = 2  # rounds of descent before the scales are refitted
COLUMNS = 256  # columns whose systems of equations are in memory at a time
STIFFNESS = 0.01  # times the mean curvature, keeps refitted scales near the previous ones


def round_int4(
    weight: Floats, gram: Floats, group: int, *, symmetric: bool = True
) -> tuple[npt.NDArray[np.int8], Halves, Halves | None]:
    """Return integers in [-8, 7], (K, N), and the scales and offsets of the groups along K,
    (ceil(K / group), N): a matrix (K, N) rounded so that errors cancel on data.

    weight: (K, N). gram: (K, K), the Gram matrix of the data. group: rows with a common scale.
    symmetric: whether there are no offsets.
    """
    depth = len(weight)
    damped = damped_gram(gram)
    importance = np.diag(damped)
    offset = None
    if symmetric:
        scale = _search_scales(weight, importance, group)
    else:
        scale, offset = _search_ranges(weight, importance, group)
    centered, steps = _centered(weight, offset, group), of_rows(scale, group, depth)
    q = round_to_gram(centered, steps, gram, LOWEST, HIGHEST).astype(np.float32)
    for _ in range(REFITS):
        for _ in range(SWEEPS):
            descend(centered, q, steps, damped, LOWEST, HIGHEST)
        scale, offset = _refit(weight, q, scale, offset, damped, group)
        centered, steps = _centered(weight, offset, group), of_rows(scale, group, depth)
    descend(centered, q, steps, damped, LOWEST, HIGHEST)
    halves = None if offset is None else offset.astype(np.float16)
    return q.astype(np.int8), scale.astype(np.float16), halves


def of_rows(of_groups: Floats, group: int, depth: int) -> Floats:
    """Repeat the values of groups for each of their rows."""
    return of_groups.repeat(group, axis=0)[:depth]


def _centered(weight: Floats, offset: Floats | None, group: int) -> Floats:
    return weight if offset is None else weight - of_rows(offset, group, len(weight))


def _search_scales(weight: Floats, importance: Floats, group: int) -> Floats:
    """Return the scales, each representable in float16, of the least weighted squared error."""
    scales = []
    for begin in range(0, len(weight), group):
        w, share = weight[begin : begin + group], importance[begin : begin + group, None]
        share = share / share.mean()
        extreme = np.take_along_axis(w, np.abs(w).argmax(axis=0)[None], 0)[0]
        extreme[extreme == 0] = 1
        relative = w / extreme
        best, scale = np.zeros_like(extreme), np.ones_like(extreme)
        for position in POSITIONS.astype(np.float32):
            q = np.clip(np.rint(relative * -position), LOWEST, HIGHEST)
            weighted = share * q
            products = (weighted * relative).sum(axis=0)
            squares = np.maximum((weighted * q).sum(axis=0), np.finfo(np.float32).tiny)
            gain = products * products / squares
            better = gain > best
            best[better] = gain[better]
            scale[better] = (products / squares)[better]
        scales.append(scale * extreme)
    return _representable(np.stack(scales))


def _search_ranges(weight: Floats, importance: Floats, group: int) -> tuple[Floats, Floats]:
    """Return scales and offsets, representable in float16, of the least weighted squared error."""
    scales, offsets = [], []
    for begin in range(0, len(weight), group):
        w, share = weight[begin : begin + group], importance[begin : begin + group, None]
        share = share / share.sum()
        low, high = w.min(axis=0), w.max(axis=0)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        half[half == 0] = 1
        relative = (w - middle) / half
        mean = (share * relative).sum(axis=0)
        best = np.full_like(half, -1)
        scale, offset = np.zeros_like(half), mean.copy()
        for reach in REACHES.astype(np.float32):
            step = np.full_like(half, reach * 2 / 15)
            start = step / 2
            for _ in range(FITS):
                q = np.clip(np.rint((relative - start) / step), LOWEST, HIGHEST)
                mean_q = (share * q).sum(axis=0)
                weighted = share * (q - mean_q)
                covariance = (weighted * relative).sum(axis=0)
                variance = np.maximum((weighted * q).sum(axis=0), np.finfo(np.float32).tiny)
                step = np.maximum(covariance / variance, np.float32(1e-6))
                start = mean - step * mean_q
            gain = covariance * covariance / variance
            better = gain > best
            best[better] = gain[better]
            scale[better], offset[better] = step[better], start[better]
        scales.append(scale * half)
        offsets.append(offset * half + middle)
    return _representable(np.stack(scales)), _half(np.stack(offsets))


def _half(values: Floats) -> Floats:
    limits = np.finfo(np.float16)
    return np.clip(values, limits.min, limits.max).astype(np.float16).astype(np.float32)


def _representable(scale: Floats) -> Floats:
    """Round to float16; zeros are replaced by the smallest magnitude there is."""
    rounded = _half(scale)
    smallest = np.float32(np.finfo(np.float16).smallest_subnormal)
    return np.where(rounded == 0, smallest, rounded)


def _refit(
    weight: Floats, q: Floats, scale: Floats, offset: Floats | None, gram: Floats, group: int
) -> tuple[Floats, Floats | None]:
    """Return the scales and offsets that are best for the integers q."""
    before = scale if offset is None else np.concatenate([scale, offset])
    refitted = np.empty_like(before)
    for begin in range(0, weight.shape[1], COLUMNS):
        part = np.s_[:, begin : begin + COLUMNS]
        refitted[part] = _refit_columns(weight[part], q[part], before[part], gram, group)
    groups = len(scale)
    return _representable(refitted[:groups]), None if offset is None else _half(refitted[groups:])


def _refit_columns(weight: Floats, q: Floats, before: Floats, gram: Floats, group: int) -> Floats:
    """Solve for the scales of the groups and for the offsets, if `before` has them behind these."""
    begins = np.arange(0, len(weight), group)
    unknowns, columns = before.shape
    groups = len(begins)
    scales, offsets = slice(0, groups), slice(groups, unknowns)

    def of_groups(rows: Floats) -> Floats:  # (groups, columns)
        return np.add.reduceat(rows, begins, axis=0)

    pull = gram @ weight
    target = np.empty((columns, unknowns))
    target[:, scales] = of_groups(q * pull).T
    system = np.empty((columns, unknowns, unknowns))
    for j, begin in enumerate(begins):
        rows = slice(begin, begin + group)
        system[:, scales, j] = of_groups(q * (gram[:, rows] @ q[rows])).T
    if unknowns > groups:
        # An offset is the scale of ones.
        target[:, offsets] = of_groups(pull).T
        of_ones = np.add.reduceat(gram, begins, axis=1)
        for j in range(groups):
            mixed = of_groups(q * of_ones[:, j, None]).T
            system[:, scales, groups + j] = mixed
            system[:, groups + j, scales] = mixed
        system[:, offsets, offsets] = of_groups(of_ones)
    curvature = np.einsum("nii->ni", system)
    stiffness = np.empty_like(curvature)
    for part in (scales, offsets)[: unknowns // groups]:
        stiffness[:, part] = STIFFNESS * curvature[:, part].mean(axis=1, keepdims=True)
    stiffness[stiffness == 0] = 1.0
    curvature += stiffness
    target += stiffness * before.T
    return np.linalg.solve(system, target[..., None])[..., 0].T.astype(np.float32)
