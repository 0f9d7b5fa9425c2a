"""GPTQ: weights are rounded one row after the other, and later rows compensate for earlier errors.

The error ||x w - x q||^2 of rounded weights q on data x depends on the data only by their Gram
matrix H = x^T x = R R^T, with R upper triangular: it is ||R^T (w - q)||^2. Row i of R^T (w - q)
holds errors of the rows up to i only. Given the rows before, the error is least if q_i is

    w_i + sum_{j < i} R_ji (w_j - q_j) / R_ii

rounded. These are the weights of Frantar et al., 2022, arXiv:2210.17323, who compute them from the
Cholesky factor of H^-1; without the inverse, they take a fraction of the time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats

BLOCK = 64  # rows to which the errors of all earlier rows are added in one product
# Times the mean of H's diagonal is added to it. H comes from a few thousand tokens; weights
# that fit these too well do worse on others.
DAMPING = 0.3
# The same for GPTQ of int4 weights, before descent. DAMPING would suit it better, but weights that
# are rounded anew would have other bits: calibrated on 100 texts, 500 other sentences have a mean
# cosine of 0.9873 instead of 0.9855 to float32 in all-MiniLM-L6-v2 (with offsets 0.9907 instead of
# 0.9897, in groups of 128 0.9804 instead of 0.9798).
INT4_DAMPING = 0.05


def round_to_gram(
    weight: Floats,
    scale: Floats,
    gram: Floats,
    lowest: int = -127,
    highest: int = 127,
    damping: float = INT4_DAMPING,
) -> npt.NDArray[np.int8]:
    """Return int8 q, (K, N), such that q * scale approximates the weights on the data.

    weight: (K, N). scale: (N,), or (K, N) where it differs from row to row. gram: (K, K), the Gram
    matrix of the data. lowest, highest: the range of q. damping: times the mean of its diagonal,
    which is added to the diagonal. Raises LinAlgError if the Gram matrix overflows.

    >>> weight, scale = np.array([[1.4], [2.6]], np.float32), np.ones(1, np.float32)
    >>> round_to_gram(weight, scale, np.eye(2, dtype=np.float32)).tolist()
    [[1], [3]]
    """
    depth = len(weight)
    h = damped_gram(gram, damping).astype(np.float64)
    # Large channels first: more rows are then left to compensate for their errors.
    order = np.argsort(-np.diag(h), kind="stable")
    # The lower factor of the matrix in reverse order is R in reverse order.
    backward = order[::-1]
    if not np.isfinite(h).all():
        raise np.linalg.LinAlgError("the Gram matrix is not finite")
    root = np.linalg.cholesky(h[np.ix_(backward, backward)])[::-1, ::-1]
    shares = (root / np.diag(root)).astype(np.float32)  # R_ji / R_ii

    if scale.ndim == 1:  # in steps, which are the same for all rows
        exact, steps = (weight / scale)[order].astype(np.float32), None
    else:
        exact, steps = weight[order], scale[order]
    rounded = np.empty(weight.shape, np.int8)
    errors = np.empty(weight.shape, np.float32)
    for begin in range(0, depth, BLOCK):
        end = min(begin + BLOCK, depth)
        block = exact[begin:end] + shares[:begin, begin:end].T @ errors[:begin]
        for i in range(begin, end):
            target = block[i - begin] + shares[begin:i, i] @ errors[begin:i]
            q = np.clip(np.rint(target if steps is None else target / steps[i]), lowest, highest)
            rounded[order[i]] = q.astype(np.int8)
            errors[i] = exact[i] - (q if steps is None else q * steps[i])
    return rounded


def descend(
    weight: Floats, q: Floats, steps: Floats, gram: Floats, lowest: int, highest: int
) -> None:
    """Improve the integers q in place: each in turn becomes the best one while all others stay.

    weight, q, steps: (K, N). gram: (K, K), damped. lowest, highest: the range of q.
    """
    diagonal = np.diag(gram)
    for begin in range(0, len(weight), BLOCK):
        rows = slice(begin, min(begin + BLOCK, len(weight)))
        gradient = gram[rows] @ (weight - q * steps)
        for i in range(rows.start, rows.stop):
            best = np.clip(
                np.rint(q[i] + gradient[i - begin] / (diagonal[i] * steps[i])), lowest, highest
            )
            later = slice(i + 1, rows.stop)
            gradient[i + 1 - begin :] += gram[later, i, None] * ((q[i] - best) * steps[i])
            q[i] = best


def damped_gram(gram: Floats, damping: float = DAMPING) -> Floats:
    """Return a Gram matrix with `damping` times the mean of its diagonal added to that."""
    mean = np.trace(gram, dtype=np.float64) / len(gram)
    added = np.float32(damping * mean if mean > 0 else 1)
    return gram + np.eye(len(gram), dtype=np.float32) * added
