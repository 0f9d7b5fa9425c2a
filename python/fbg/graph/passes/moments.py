"""Statistics of the rows that a product reads: the sizes of their channels, and how these
depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fbg import _fbg
from fbg.arrays import Doubles, Floats


@dataclass
class Moments:
    """Sums over `rows` rows x of K channels."""

    squares: Doubles  # (K,): sum of x_k^2
    gram: Floats | None = None  # (K, K): sum of x^T x
    rows: int = 0

    @classmethod
    def empty(cls, channels: int, gram: bool = False) -> Moments:
        return cls(np.zeros(channels), np.zeros((channels, channels), np.float32) if gram else None)

    def update(self, x: Floats, num_threads: int) -> None:
        """Take in rows, (M, K)."""
        self.rows += len(x)
        self.squares += _fbg.sum_squares(x, num_threads)
        if self.gram is not None:
            self.gram += x.T @ x

    @property
    def sizes(self) -> Doubles:
        """(K,): the root mean square of each channel, 0 if there were no rows."""
        sizes: Doubles = np.sqrt(self.squares / max(self.rows, 1))
        return sizes
