"""int4 weights whose rounding errors cancel on data: GPTQ, then descent, and scales refitted.

The error of one column on data with the Gram matrix H is (w - s q)^T H (w - s q), where s is the
scale of the group to which a row belongs. Three steps reduce it, the last two in turn:

    1. scales that fit the weights of each group best, each weighted by its diagonal element of H;
       then GPTQ (rounding.py)
    2. descent: each q in turn becomes the integer that is best while all others stay
    3. the scales of all groups of a column that are best for its integers, from a linear system
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fbg.compression.rounding import damped_gram, descend, round_to_gram

__all__ = ["round_int4"]

Floats = npt.NDArray[np.float32]

LOWEST, HIGHEST = -8, 7
# Where in this range the weight of the largest magnitude of a group may be placed.
POSITIONS = np.concatenate([np.arange(5.6, 6.8, 0.2), np.arange(6.8, 8.9, 0.15)])
REFITS = 1
SWEEPS = 2  # of descent before the scales are refitted
COLUMNS = 256  # whose systems of equations are in memory at a time
STIFFNESS = 0.01  # of the mean curvature keeps refitted scales near those before


def round_int4(
    weight: Floats, gram: Floats, group: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """Return q, (K, N) in [-8, 7], and the scales of groups, (ceil(K / group), N).

    weight: (K, N). gram: (K, K), the Gram matrix of the data. group: rows with a common scale.
    """
    depth = len(weight)
    damped = damped_gram(gram)
    scale = _search_scales(weight, np.diag(damped), group)
    steps = scale.repeat(group, axis=0)[:depth]
    q = round_to_gram(weight, steps, gram, LOWEST, HIGHEST).astype(np.float32)
    for _ in range(REFITS):
        for _ in range(SWEEPS):
            descend(weight, q, steps, damped, LOWEST, HIGHEST)
        scale = _refit_scales(weight, q, scale, damped, group)
        steps = scale.repeat(group, axis=0)[:depth]
    descend(weight, q, steps, damped, LOWEST, HIGHEST)
    return q.astype(np.int8), scale.astype(np.float16)


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


def _representable(scale: Floats) -> Floats:
    """Round to float16; those that become 0 are replaced by the smallest magnitude there is."""
    limits = np.finfo(np.float16)
    rounded = np.clip(scale, limits.min, limits.max).astype(np.float16).astype(np.float32)
    return np.where(rounded == 0, np.float32(limits.smallest_subnormal), rounded)


def _refit_scales(weight: Floats, q: Floats, scale: Floats, gram: Floats, group: int) -> Floats:
    """Return the scales that are best for the integers q."""
    refitted = np.empty_like(scale)
    for begin in range(0, weight.shape[1], COLUMNS):
        part = np.s_[:, begin : begin + COLUMNS]
        refitted[part] = _refit_columns(weight[part], q[part], scale[part], gram, group)
    return _representable(refitted)


def _refit_columns(weight: Floats, q: Floats, scale: Floats, gram: Floats, group: int) -> Floats:
    groups, columns = scale.shape
    begins = np.arange(0, len(weight), group)
    target = np.add.reduceat(q * (gram @ weight), begins, axis=0).T.astype(np.float64)
    system = np.empty((columns, groups, groups))
    for j, begin in enumerate(begins):
        rows = slice(begin, begin + group)
        system[:, :, j] = np.add.reduceat(q * (gram[:, rows] @ q[rows]), begins, axis=0).T
    stiffness = STIFFNESS * np.einsum("nii->ni", system).mean(axis=1, keepdims=True)
    stiffness[stiffness == 0] = 1.0
    diagonal = np.arange(groups)
    system[:, diagonal, diagonal] += stiffness
    target += stiffness * scale.T
    return np.linalg.solve(system, target[..., None])[..., 0].T.astype(np.float32)
