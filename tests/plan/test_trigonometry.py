"""Sine, cosine, tangent and their inverses are computed in vectors; numpy's results of float64 are
the reference. Angles beyond 8192 go to the C library.
"""

import numpy as np
import pytest

from fbg import _fbg

FUNCTIONS = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}
LEAST = np.finfo(np.float32).tiny  # smaller numbers count as 0


def compute(function, x):
    graph = _fbg.Graph()
    buffer = graph.append("input", x.nbytes, "tensor")
    steps = [(function, 0, 0, 0.0, 0.0)]
    graph.output(graph.append("elementwise", [x.size], [(buffer, "float32", [1])], steps))
    y = np.empty_like(x)
    _fbg.run_tensors(_fbg.Plan(graph, 1, 1, 1, 1), [x], [y], 1)
    return y


def arguments():
    """Return what is evenly spaced, what is random on a logarithmic scale, and the neighbours of
    multiples of pi / 4 and of the places where a function changes its formula.
    """
    rng = np.random.default_rng(5)
    small = np.linspace(-1, 1, 20011, dtype=np.float32)
    wide = np.linspace(-9000, 9000, 30011, dtype=np.float32)
    scales = (2.0 ** rng.uniform(-126, 127, 20000) * rng.choice([-1, 1], 20000)).astype(np.float32)
    turns = (np.arange(-12000, 12000) * (np.pi / 4)).astype(np.float32)
    places = np.array([0.5, 1, 0.41421357, 2.4142135, 8192, LEAST], np.float32)
    chosen = np.concatenate([turns, places, -places])
    around = [np.nextafter(chosen, np.float32(end)) for end in (-np.inf, np.inf)]
    return np.concatenate([small, wide, scales, chosen, *around])


def units(y, exact):
    """Return the distances in units in the last place of the exact results."""
    place = np.spacing(np.maximum(np.abs(exact), LEAST).astype(np.float32)).astype(np.float64)
    return np.abs(y - exact) / place


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_angles_are_close_to_the_last_place(isa, function):
    x = arguments()
    if function in ("asin", "acos"):
        x = x[np.abs(x) <= 1]
    x = x[(x == 0) | (np.abs(x) >= LEAST)]
    exact = FUNCTIONS[function](x.astype(np.float64))
    y = compute(function, x)
    error = units(y.astype(np.float64), exact)
    assert error.max() < 4, (x[error.argmax()], error.max())


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_angles_at_zeros_and_ends(isa, function):
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1.5, -1e38, 3e38, 8193] * 3, np.float32)
    with np.errstate(invalid="ignore"):
        exact = FUNCTIONS[function](x.astype(np.float64)).astype(np.float32)
    y = compute(function, x)
    np.testing.assert_allclose(y, exact, 4e-7)
    np.testing.assert_array_equal(np.signbit(y[x == 0]), np.signbit(exact[x == 0]))
    for n in range(1, x.size):  # the rest of a vector is computed as a whole one
        np.testing.assert_array_equal(compute(function, x[:n].copy()), y[:n])
