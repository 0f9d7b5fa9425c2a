"""GPTQ: weights are rounded one row after the other, and later rows compensate for earlier errors.

The error ||x w - x q||^2 of rounded weights q on data x depends on the data only by their Gram
matrix H = x^T x. After row i of w has been rounded, its error times U_ij / U_ii is subtracted from
each later row j, where U is the upper Cholesky factor of H^-1; this minimizes the remaining error
(Frantar et al., 2022, arXiv:2210.17323).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["round_to_gram"]

Floats = npt.NDArray[np.float32]

BLOCK = 64  # rows after which their errors are subtracted from all later ones, in one product
DAMPING = 0.05  # of the mean of H's diagonal is added to it, for channels with little data


def round_to_gram(
    weight: Floats, scale: Floats, gram: Floats, lowest: int = -127, highest: int = 127
) -> npt.NDArray[np.int8]:
    """Return int8 q, (K, N), such that q * scale approximates the weights on the data.

    weight: (K, N). scale: (N,), or (K, N) where it differs from row to row. gram: (K, K), the Gram
    matrix of the data. lowest, highest: the range of q.

    >>> weight, scale = np.array([[1.4], [2.6]], np.float32), np.ones(1, np.float32)
    >>> round_to_gram(weight, scale, np.eye(2, dtype=np.float32)).tolist()
    [[1], [3]]
    """
    depth = len(weight)
    h = gram.astype(np.float64)
    mean = np.trace(h) / depth
    h[np.diag_indices(depth)] += DAMPING * mean if mean > 0 else 1.0
    # Large channels first: more rows are then left to compensate for their errors.
    order = np.argsort(-np.diag(h), kind="stable")
    inverse = np.linalg.inv(h[np.ix_(order, order)])
    upper = np.linalg.cholesky(inverse).T.astype(np.float32)

    if scale.ndim == 1:  # in steps, which are the same for all rows
        rest, steps = (weight / scale)[order].astype(np.float32), None
    else:
        rest, steps = weight[order], scale[order]
    rounded = np.empty(weight.shape, np.int8)
    for begin in range(0, depth, BLOCK):
        end = min(begin + BLOCK, depth)
        errors = np.empty((end - begin, weight.shape[1]), np.float32)
        for i in range(begin, end):
            q = np.clip(np.rint(rest[i] if steps is None else rest[i] / steps[i]), lowest, highest)
            rounded[order[i]] = q.astype(np.int8)
            value = q if steps is None else q * steps[i]
            errors[i - begin] = (rest[i] - value) / upper[i, i]
            rest[i + 1 : end] -= upper[i, i + 1 : end, None] * errors[i - begin]
        rest[end:] -= upper[begin:end, end:].T @ errors
    return rounded
