#!/usr/bin/env python3
"""Fits the polynomials behind GELU and prints the table of src/core/gelu_coefficients.h.

gelu(x) = x * Phi(x) = max(x, 0) - g(t) with t = |x| and g(t) = t * (1 - Phi(t)). g decays to zero,
so t is clamped at T, and [0, T] is cut into pieces around t = 0, 1/S, 2/S, ..., T = 15/S, each with
a polynomial of its own in u = t S - i, which lies in [-1/2, 1/2]: 16 pieces, as many as a vector
register has lanes, so that one permutation looks up a coefficient for every element. The fit is
minimax by Lawson's iteration in float64: weighted least squares whose weights grow where the error
is large. In the first piece, which has no constant term, it is the error relative to g that counts.
In the last one, where g is below 2e-8, all terms are 0: gelu is exactly x above it, and 0 below.

    python scripts/fit_gelu.py
    python scripts/fit_gelu.py --degree 3    # see what another degree costs in accuracy
"""

import argparse
import math

import numpy as np

PIECES = 16
SCALE = 2.5  # pieces per unit; 15 / it is T

erfc = np.vectorize(math.erfc)


def fma(a, b, c):
    """float32 a * b + c rounded once (the float64 product of two float32 is exact)."""
    return (np.float64(a) * np.float64(b) + np.float64(c)).astype(np.float32)


def fit_piece(i, scale, degree, points=1001, iterations=300):
    """Coefficients of u^0 to u^degree (float32) with the least max error in piece i."""
    if i == PIECES - 1:
        return np.zeros(degree + 1, np.float32)
    first = i == 0
    lo = 0.0 if first else -0.5
    u = (lo + 0.5) / 2 + (0.5 - lo) / 2 * np.cos(np.linspace(0.0, np.pi, points))
    t = (u + i) / scale
    target = 0.5 * t * erfc(t / math.sqrt(2.0))
    weight = 1.0 / np.maximum(t, 1e-3) if first else np.ones(points)
    lowest = int(first)
    basis = u[:, None] ** np.arange(lowest, degree + 1)
    lawson = np.full(points, 1.0 / points)
    for _ in range(iterations):
        root = np.sqrt(lawson) * weight
        solution = np.linalg.lstsq(basis * root[:, None], target * root, rcond=None)[0]
        lawson *= np.abs(weight * (basis @ solution - target))
        lawson /= lawson.sum()
    return np.concatenate([np.zeros(lowest), solution]).astype(np.float32)


def gelu_float32(x, scale, table):
    """The operation sequence that every implementation in fbg uses."""
    scale = np.float32(scale)
    t = np.minimum(np.abs(x), np.float32((PIECES - 1) / scale))
    k = np.rint(np.float64(t) * np.float64(scale)).astype(np.float32)
    u = fma(t, scale, -k)
    i = k.astype(int)
    g = table[-1, i]
    for c in table[-2::-1]:
        g = fma(g, u, c[i])
    return np.maximum(x, 0) - g


def errors(scale, table):
    x = np.linspace(-10.0, 10.0, 2_000_001).astype(np.float32)
    exact = x.astype(np.float64)
    exact = exact * 0.5 * erfc(-exact / math.sqrt(2.0))
    got = gelu_float32(x, scale, table).astype(np.float64)
    rounding = np.abs(exact.astype(np.float32) - exact)
    small = (np.abs(x) < 0.1) & (x != 0)
    relative = np.abs(got[small] / exact[small] - 1.0)
    return np.abs(got - exact).max(), rounding[np.abs(x) < 8].max(), relative.max()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--degree", type=int, default=4)
    args = parser.parse_args()

    pieces = [fit_piece(i, SCALE, args.degree) for i in range(PIECES)]
    table = np.stack(pieces, axis=1)
    for row in table:
        print("{" + ", ".join(f"{value:#.9g}f" for value in row) + "},")
    total, rounding, relative = errors(SCALE, table)
    print(f"S = {SCALE}: max |error| on [-10, 10] {total:.2g}, of which {rounding:.2g} is")
    print(f"the rounding of the result; relative error for |x| < 0.1: {relative:.1g}")


if __name__ == "__main__":
    main()
