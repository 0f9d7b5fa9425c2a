"""Biases and weights that make up for what rounding changes.

Rounding weights w to q changes results by x (w - q), the mean of which a bias makes up for (Nagel
et al., 2019, arXiv:1906.04721, section 4.2). Besides, a rounded layer changes the inputs
of the layers behind it: they read x~ instead of x. The weights

    w~ = w + (X~^T X~ + ridge)^-1 X~^T r        r = (x - x~) w + e

minimize the difference between the outputs of the exact network and those of the rounded one, where
e is the difference of the residuals to which the outputs are added. The ridge keeps w~ near w in
directions on which the data have little effect. If there is a bias, which makes up for means,
they are taken out of x~ and r first.
"""

from __future__ import annotations

import numpy as np

from fbg.arrays import Doubles, Floats


def mean_outputs(weight: Doubles, mean: Doubles) -> Doubles:
    """Return (groups * N,): the mean of x w for the mean of each channel of x, (groups * K,).

    weight: (groups, N, K).
    """
    outputs: Doubles = np.einsum("gnk,gk->gn", weight, mean.reshape(len(weight), -1)).reshape(-1)
    return outputs


class Pairs:
    """Sums over rows x of an exact network and the same rows x~ of a partly rounded network.

    weight: w, (K, N). rows: rows added so far. The mean of the first rows that are added is taken
    out of x~, because sums of squares of values that vary little would lose the variation.
    """

    def __init__(self, weight: Floats) -> None:
        k, n = weight.shape
        self.weight = weight
        self.rows = 0
        self._shift: Floats = np.zeros(k, np.float32)  # m
        self._gram = np.zeros((k, k), np.float32)  # (x~ - m)^T (x~ - m)
        self._product = np.zeros((k, n), np.float32)  # (x~ - m)^T r, without what is in _cross
        # (K, K): (x~ - m)^T (x - x~). Multiplied by w at the end where that takes fewer operations.
        self._cross = np.zeros((k, k), np.float32) if k <= n else None
        self._sums: Doubles = np.zeros(k)  # sum of x~ - m
        self._error_sums: Doubles = np.zeros(k)  # sum of x - x~
        self._residual_sums: Doubles = np.zeros(n)  # sum of e

    def update(self, exact: Floats, rounded: Floats, residual_error: Floats | None) -> None:
        """Take in rows: exact and rounded (M, K), residual_error e (M, N) or None for zeros."""
        error: Floats = exact - rounded
        if self.rows == 0:
            self._shift = rounded.mean(axis=0, dtype=np.float64).astype(np.float32)
        shifted: Floats = rounded - self._shift
        self.rows += len(rounded)
        self._gram += shifted.T @ shifted
        self._sums += shifted.sum(axis=0, dtype=np.float64)
        self._error_sums += error.sum(axis=0, dtype=np.float64)
        if residual_error is not None:
            self._residual_sums += residual_error.sum(axis=0, dtype=np.float64)
        difference: Floats | None
        if self._cross is not None:
            self._cross += shifted.T @ error
            difference = residual_error
        elif residual_error is not None:
            difference = error @ self.weight + residual_error
        else:
            difference = error @ self.weight
        if difference is not None:
            self._product += shifted.T @ difference

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        sums = [self._gram, self._product, *([] if self._cross is None else [self._cross])]
        return all(bool(np.isfinite(values).all()) for values in sums)

    def gram_of(self, centered: bool) -> Floats:
        """Return the Gram matrix of x~, (K, K); of x~ minus its mean if `centered`."""
        mean = self._sums / self.rows  # mean of x~ - m
        gram = self._gram - np.outer(mean, self._sums)
        if not centered:
            whole = mean + self._shift
            gram += self.rows * np.outer(whole, whole)
        return gram.astype(np.float32)

    def corrected(self, centered: bool, ridge: float = 0.5) -> Floats:
        """Return w~, (K, N). centered: whether a bias makes up for mean differences. ridge: times
        the mean of the Gram matrix's diagonal.
        """
        product = self._product.astype(np.float64)
        if self._cross is not None:
            product += self._cross @ self.weight
        offset = -self._sums / self.rows if centered else self._shift
        product += np.outer(offset, self._difference_sums())
        h = self.gram_of(centered).astype(np.float64)
        added = ridge * np.trace(h) / len(h)
        h[np.diag_indices(len(h))] += added if added > 0 else 1.0
        return self.weight + np.linalg.solve(h, product).astype(np.float32)

    def bias_change(self, rounded: Floats) -> Floats:
        """Return (N,): the number to add to the bias if the layer has the weights `rounded`."""
        sums = self._sums + self.rows * self._shift.astype(np.float64)
        lost = self._difference_sums() + sums @ (self.weight - rounded)
        return (lost / self.rows).astype(np.float32)

    def _difference_sums(self) -> Doubles:
        """Return (N,): the sum of r over all rows."""
        sums: Doubles = self._error_sums @ self.weight + self._residual_sums
        return sums
