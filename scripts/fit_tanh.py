"""Fit the rational approximation of tanh that the kernels use; prints its coefficients.

tanh(x) / x is approximated on [0, T] by P(u) / Q(u), u = x^2, to the least relative error:
linearized least squares (Sanathanan-Koerner) with Lawson's weights. Errors are then measured in
float32, operation by operation as the kernels compute; src/core/tanh_coefficients.h has both.

    python scripts/fit_tanh.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

CLAMP = 9.0  # tanh(9) rounds to 1 in float32
DEGREE = 4
ITERATIONS = 200
f32 = np.float32


def fit() -> tuple[Any, Any]:
    """Return the coefficients of P and Q, lowest power first; Q begins with 1."""
    n = 4000
    x = CLAMP * np.sin(np.pi / 2 * (np.arange(n) + 0.5) / n)
    y = np.tanh(x) / x
    powers = np.vander((x / CLAMP) ** 2, DEGREE + 1, increasing=True)
    weights, denominator = np.ones(n), np.ones(n)
    best, solution = np.inf, np.zeros(2 * DEGREE + 1)
    for _ in range(ITERATIONS):
        rows = np.sqrt(weights) / (denominator * y)
        system = np.hstack([powers, -y[:, None] * powers[:, 1:]]) * rows[:, None]
        found = np.linalg.lstsq(system, y * rows, rcond=None)[0]
        p = powers @ found[: DEGREE + 1]
        q = 1 + powers[:, 1:] @ found[DEGREE + 1 :]
        error = np.abs(p / q / y - 1)
        if error.max() < best:
            best, solution = error.max(), found
        denominator = q
        weights *= np.sqrt(error / error.max() + 1e-3)
        weights /= weights.mean()
    scale = CLAMP ** (2.0 * np.arange(DEGREE + 1))
    return solution[: DEGREE + 1] / scale, np.r_[1, solution[DEGREE + 1 :]] / scale


def evaluate(x: Any, p: Any, q: Any) -> Any:
    """Return tanh in float32: the sequence of operations of the kernels."""

    def horner(coefficients: Any) -> Any:
        value = np.full_like(u, f32(coefficients[-1]))
        for c in coefficients[-2::-1]:
            value = (value.astype(np.float64) * u + np.float64(f32(c))).astype(f32)
        return value

    t = np.clip(x, f32(-CLAMP), f32(CLAMP))
    u = t * t
    return np.clip(t * horner(p) / horner(q), f32(-1), f32(1))


def main() -> None:
    p, q = fit()
    x = np.linspace(-12, 12, 2_000_000).astype(f32)
    error = np.abs(evaluate(x, p, q) - np.tanh(x.astype(np.float64))).max()

    for name, coefficients in (("P", p), ("Q", q)):
        print(f"{name}: {', '.join(f'{f32(c):#.9g}f' for c in coefficients)}")
    print(f"T = {CLAMP}: max |error| in float32 {error:.1g}")


if __name__ == "__main__":
    main()
