"""GPTQ: weights rounded so that what one rounding loses, the weights not yet rounded make up for.

For the rows x of some data, ||x w - x q||^2 depends on them by their Gram matrix H = x^T x alone.
Row after row of w is rounded, and its error is spread over the rows that follow as H says is best:
with the upper Cholesky factor U of H^-1, row i gives row j its error times U_ij / U_ii (Frantar et
al., 2022, arXiv:2210.17323).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["round_to_gram"]

Floats = npt.NDArray[np.float32]

BLOCK = 64  # rows whose errors reach the rest in one matrix product
DAMPING = 0.05  # of the mean of H's diagonal: little data must not decide much


def round_to_gram(weight: Floats, scale: Floats, gram: Floats) -> npt.NDArray[np.int8]:
    """Return (K, N) int8 q with weight ~ q * scale; scale is (N,), gram (K, K)."""
    depth = len(weight)
    h = gram.astype(np.float64)
    mean = np.trace(h) / depth
    h[np.diag_indices(depth)] += DAMPING * mean if mean > 0 else 1.0
    # Channels with much in them first: their errors have the most rows left to go to.
    order = np.argsort(-np.diag(h), kind="stable")
    inverse = np.linalg.inv(h[np.ix_(order, order)])
    upper = np.linalg.cholesky(inverse).T.astype(np.float32)

    rest = (weight / scale)[order].astype(np.float32)  # in steps
    rounded = np.empty(weight.shape, np.int8)
    for begin in range(0, depth, BLOCK):
        end = min(begin + BLOCK, depth)
        errors = np.empty((end - begin, weight.shape[1]), np.float32)
        for i in range(begin, end):
            q = np.clip(np.rint(rest[i]), -127, 127)
            rounded[order[i]] = q.astype(np.int8)
            errors[i - begin] = (rest[i] - q) / upper[i, i]
            rest[i + 1 : end] -= upper[i, i + 1 : end, None] * errors[i - begin]
        rest[end:] -= upper[begin:end, end:].T @ errors
    return rounded
