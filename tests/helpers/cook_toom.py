"""Winograd's matrices in exact fractions, written apart from the library's own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

# Finite points of a tile of t elements, as docs/convolution.md lists them.
POINTS = {
    3: "0 1",
    4: "0 1 -1",
    5: "0 3/4 -3/4 2",
    6: "0 3/4 -3/4 3/2 -3/2",
    7: "0 1 -1 1/2 -1/2 2",
    8: "0 1 -1 1/2 -1/2 2 -2",
}


def matrices(n, k):
    """Return A^T (n x t), G (t x k) and B^T (t x t) of F(n, k)."""
    t = n + k - 1
    if k == 1:
        return [[Fraction(1)]], [[Fraction(1)]], [[Fraction(1)]]
    points = [Fraction(p) for p in POINTS[t].split()]
    output = [[p**i for p in points] + [Fraction(i == n - 1)] for i in range(n)]
    weights, source = [], []
    for j, p in enumerate(points):
        others = points[:j] + points[j + 1 :]
        norm = Fraction(np.prod([p - q for q in others]))
        weights.append([p**i / norm for i in range(k)])
        source.append([*_product(others), Fraction(0)])
    weights.append([Fraction(i == k - 1) for i in range(k)])
    source.append(_product(points))
    return output, weights, source


def _product(roots):
    """Return the coefficients, lowest first, of the product of x - root."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *coefficients]
        scaled = [root * c for c in coefficients] + [Fraction(0)]
        coefficients = [a - b for a, b in zip(shifted, scaled, strict=True)]
    return coefficients


def amplification(n, k):
    """By how much F(n, k) can enlarge an error: max over i, a of sum_p |A_ip| |G_pa| sum_b |B_pb|.

    A sum of products bounded by max|d| * sum|g| has intermediate results bounded by that times
    this number.
    """
    a, g, b = (np.abs(np.array(m, dtype=np.float64)) for m in matrices(1 if k == 1 else n, k))
    amplified = a @ (g * b.sum(axis=1, keepdims=True))
    return float(amplified.max())
