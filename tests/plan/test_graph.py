"""What the native graphs and plans check before they compute: no caller gets them out of bounds."""

from typing import Any

import numpy as np
import pytest

from fbg import _fbg

WIDTH, HEADS, LENGTH = 24, 2, 10


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def indices(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def local_graph() -> _fbg.Graph:
    graph = _fbg.Graph()
    turned = graph.rotate(graph.embedding(floats(9, WIDTH)), HEADS, floats(LENGTH, 4))
    graph.output(graph.attention(turned, HEADS, window=3))
    return graph


def run(graph: _fbg.Graph, positions: np.ndarray) -> np.ndarray:
    out = np.empty((4, WIDTH // 3), np.float32)
    ids, zeros, offsets = indices(1, 2, 3, 4), indices(0, 0, 0, 0), indices(0, 3, 4)
    plan = _fbg.Plan(graph, tokens=8, sequences=8, length=8, threads=1)
    plan.run(ids, zeros, zeros, positions, offsets, [out], 1)
    return out


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([0, 1, LENGTH, 0], r"sequence_positions must be in \[0, 10\)"),
        ([-1, 1, 2, 0], r"sequence_positions must be in \[0, 10\)"),
        ([0, 2, 2, 0], "sequence_positions must ascend in sequence 0"),
        ([0, 2, 1, 5], "sequence_positions must ascend in sequence 0"),
        ([0, 1, 2], r"sequence_positions must have shape \(4,\)"),
    ],
)
def test_positions_that_no_table_has_are_refused(positions: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=f"run: {message}"):
        run(local_graph(), indices(*positions))


def test_only_distances_count_and_only_near_keys() -> None:
    plain = _fbg.Graph()
    plain.output(plain.attention(plain.embedding(floats(9, WIDTH)), HEADS, window=3))
    near = run(plain, indices(0, 1, 2, 0))
    np.testing.assert_array_equal(run(plain, indices(4, 5, 6, 9)), near)
    far = run(plain, indices(0, 10, 20, 30))
    values = floats(9, WIDTH)[1:5, 2 * WIDTH // 3 :]
    np.testing.assert_allclose(far, values, rtol=1e-6)  # each token sees itself alone
    assert not np.allclose(near[:3], far[:3])


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (lambda g, x: g.attention(x, HEADS, window=-1), "window must be at least 0"),
        (lambda g, x: g.attention(x, HEADS, window=2**40), "window must be at least 0"),
        (lambda g, x: g.attention(x, HEADS, False, floats(3, 5)), "distance_bias must have a row"),
        (lambda g, x: g.attention(x, HEADS, False, floats(2, 4)), "distance_bias must have a row"),
        (lambda g, x: g.attention(x, 5), "do not divide into Q, K and V of 5 heads"),
        # Three times as many are 2**64 + 2.
        (lambda g, x: g.attention(x, (2**64 + 2) // 3), "do not divide into Q, K and V"),
        (lambda g, x: g.rotate(x, HEADS, floats(5, 3)), "cos_sin must have one column for each"),
        (lambda g, x: g.rotate(x, 8, floats(5, 1)), "cos_sin must have one column for each"),
        (lambda g, x: g.rotate(g.geglu(x), 5, floats(5, 4)), "do not divide into Q, K and V"),
        (lambda g, x: g.geglu(g.geglu(g.geglu(g.geglu(x)))), "even number of columns, got 3"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(op: Any, message: str) -> None:
    graph = _fbg.Graph()
    x = graph.embedding(floats(9, WIDTH))
    with pytest.raises(ValueError, match=message):
        op(graph, x)
