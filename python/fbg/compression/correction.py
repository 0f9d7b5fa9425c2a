"""Weights that make up for errors of earlier layers, and what has to be observed to find them.

A layer that was rounded changes what the layers behind it read: x~ instead of x. The weights

    w~ = w + (X~^T X~ + ridge)^-1 X~^T r        r = (x - x~) w + e

minimize the difference between the outputs of the exact network and those of the rounded one, where
e is the difference of the residuals to which the outputs are added. The ridge keeps w~ near w in
directions of which the data say little. Means are taken out of x~ and r first if there is a bias,
which makes up for them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Pairs"]

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

RIDGE = 0.5  # times the mean of the Gram matrix's diagonal


class Pairs:
    """Sums over rows x of an exact network and the same rows x~ of one that is partly rounded.

    weight: w, (K, N). gram: (K, K), x~^T x~. rows: how many were added.
    """

    def __init__(self, weight: Floats) -> None:
        k, n = weight.shape
        self.weight = weight
        self.rows = 0
        self.gram = np.zeros((k, k), np.float32)
        self._product = np.zeros((k, n), np.float32)  # x~^T r, without what is in _cross
        # (K, K): x~^T (x - x~). Multiplied by w at the end where that takes fewer operations.
        self._cross = np.zeros((k, k), np.float32) if k <= n else None
        self._sums: Doubles = np.zeros(k)  # of x~
        self._error_sums: Doubles = np.zeros(k)  # of x - x~
        self._residual_sums: Doubles = np.zeros(n)  # of e

    def add(self, exact: Floats, rounded: Floats, residual_error: Floats | None) -> None:
        """Add rows: exact and rounded (M, K), residual_error e (M, N) or None for zeros."""
        error: Floats = exact - rounded
        self.rows += len(rounded)
        self.gram += rounded.T @ rounded
        self._sums += rounded.sum(axis=0, dtype=np.float64)
        self._error_sums += error.sum(axis=0, dtype=np.float64)
        if residual_error is not None:
            self._residual_sums += residual_error.sum(axis=0, dtype=np.float64)
        difference: Floats | None
        if self._cross is not None:
            self._cross += rounded.T @ error
            difference = residual_error
        elif residual_error is not None:
            difference = error @ self.weight + residual_error
        else:
            difference = error @ self.weight
        if difference is not None:
            self._product += rounded.T @ difference

    @property
    def is_finite(self) -> bool:
        """Whether no sum has overflowed."""
        sums = [self.gram, self._product, *([] if self._cross is None else [self._cross])]
        return all(bool(np.isfinite(values).all()) for values in sums)

    def gram_of(self, centered: bool) -> Floats:
        """Return the Gram matrix, of x~ less its mean if `centered`."""
        if not centered:
            return self.gram
        mean = self._sums / self.rows
        return (self.gram - np.outer(mean, self._sums)).astype(np.float32)

    def corrected(self, centered: bool) -> Floats:
        """Return w~, (K, N). centered: whether a bias makes up for mean differences."""
        product = self._product.astype(np.float64)
        if self._cross is not None:
            product += self._cross @ self.weight
        if centered:
            product -= np.outer(self._sums / self.rows, self._difference_sums())
        h = self.gram_of(centered).astype(np.float64)
        ridge = RIDGE * np.trace(h) / len(h)
        h[np.diag_indices(len(h))] += ridge if ridge > 0 else 1.0
        return self.weight + np.linalg.solve(h, product).astype(np.float32)

    def bias_change(self, rounded: Floats) -> Floats:
        """Return (N,): what a bias lacks if the layer has the weights `rounded`."""
        lost = self._difference_sums() + self._sums @ (self.weight - rounded)
        return (lost / self.rows).astype(np.float32)

    def _difference_sums(self) -> Doubles:
        """Return (N,): the sum of r over all rows."""
        sums: Doubles = self._error_sums @ self.weight + self._residual_sums
        return sums
