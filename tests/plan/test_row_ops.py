"""Ops that compute a row from a row: norms, gates, sums and rotations agree with NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fbg import _fbg
from helpers.row_plans import append_gated, append_step, draw, plan_of, run_rows

ROWS = 5
SIZES = st.integers(1, 70)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 40))  # kv, group, dim

erf = np.vectorize(math.erf)
GATES = {
    "gelu": lambda x: x / 2 * (1 + erf(x / np.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}


def compute(graph: _fbg.Graph, x: np.ndarray, y: int, columns: int) -> np.ndarray:
    """Run a graph whose input is x, with one thread and with two."""
    graph.output(y)
    results = [run_rows(plan_of(graph, ROWS, n), x, columns, n) for n in (1, 2)]
    np.testing.assert_array_equal(*results)
    return results[0]


def rms(x: np.ndarray, gamma: np.ndarray, eps: float) -> np.ndarray:
    x = x.astype(np.float64)
    return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + eps) * gamma


@given(SIZES, st.sampled_from([0.0, 1e-6, 0.5]), st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_rms_norm(columns: int, eps: float, seed: int) -> None:
    x, gamma = draw(seed, ROWS, columns), draw(seed + 1, columns)
    graph = _fbg.Graph()
    y = graph.append("norm", graph.append("input", columns), "rms_norm", gamma, None, eps)
    np.testing.assert_allclose(compute(graph, x, y, columns), rms(x, gamma, eps), rtol=1e-5)


@given(SHAPES, st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_norm_heads_leaves_values_alone(sizes: tuple[int, int, int], seed: int) -> None:
    kv_heads, group, dim = sizes
    heads = kv_heads * group
    columns = (heads + 2 * kv_heads) * dim
    x, gammas = draw(seed, ROWS, columns), draw(seed + 1, 2, dim)
    graph = _fbg.Graph()
    gamma = np.concatenate([np.tile(gammas[0], heads), np.tile(gammas[1], kv_heads)])
    y = graph.append("norm", graph.append("input", columns), "rms_norm", gamma, None, 1e-3, dim)
    parts = x.reshape(ROWS, -1, dim).astype(np.float64)
    parts[:, :heads] = rms(parts[:, :heads], gammas[0], 1e-3)
    parts[:, heads:-kv_heads] = rms(parts[:, heads:-kv_heads], gammas[1], 1e-3)
    got = compute(graph, x, y, columns)
    np.testing.assert_allclose(got, parts.reshape(ROWS, -1), rtol=1e-5)


@pytest.mark.parametrize("gate", GATES)
@given(SIZES, st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_a_gate_multiplies_the_second_half(gate: str, columns: int, seed: int) -> None:
    x = 3 * draw(seed, ROWS, 2 * columns)
    graph = _fbg.Graph()
    y = append_gated(graph, graph.append("input", 2 * columns), gate, columns)
    a, b = x[:, :columns].astype(np.float64), x[:, columns:]
    np.testing.assert_allclose(compute(graph, x, y, columns), GATES[gate](a) * b, atol=2e-5)


@given(SIZES, st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_add_is_a_sum(columns: int, seed: int) -> None:
    x = draw(seed, ROWS, columns)
    graph = _fbg.Graph()
    a = graph.append("input", columns)
    y = append_step(graph, "add", columns, append_step(graph, "tanh", columns, a), a)
    np.testing.assert_allclose(compute(graph, x, y, columns), np.tanh(x) + x, atol=1e-6)


@given(SHAPES, st.integers(1, 20), st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_rotations_may_turn_the_first_part_of_a_head(
    sizes: tuple[int, int, int], pairs: int, seed: int
) -> None:
    kv_heads, group, rest = sizes
    heads, dim = kv_heads * group, 2 * pairs + rest - 1
    columns = (heads + 2 * kv_heads) * dim
    x, turns = draw(seed, ROWS, columns), draw(seed + 1, ROWS, 2 * pairs)
    graph = _fbg.Graph()
    y = graph.append("rotate", graph.append("input", columns), (heads, kv_heads, dim), turns)
    wanted = x.reshape(ROWS, -1, dim).astype(np.float64)
    a, b = wanted[:, :-kv_heads, :pairs].copy(), wanted[:, :-kv_heads, pairs : 2 * pairs].copy()
    cos, sin = turns[:, None, :pairs], turns[:, None, pairs:]
    wanted[:, :-kv_heads, :pairs] = a * cos - b * sin
    wanted[:, :-kv_heads, pairs : 2 * pairs] = b * cos + a * sin
    got = compute(graph, x, y, columns)
    np.testing.assert_allclose(got, wanted.reshape(ROWS, -1), atol=1e-5)


@pytest.mark.parametrize("activation", GATES)
def test_activations_of_a_linear_layer(activation: str) -> None:
    x, w = draw(1, ROWS, 40), draw(2, 40, 70)
    graph = _fbg.Graph()
    packed = _fbg.pack_b_convert(w, "float32")
    y = graph.append("linear", graph.append("input", 40), packed, activation=activation)
    wanted = GATES[activation](x.astype(np.float64) @ w)
    np.testing.assert_allclose(compute(graph, x, y, 70), wanted, rtol=1e-5, atol=1e-5)
