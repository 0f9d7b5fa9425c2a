"""Experts compute only the rows that come to them, each with the bits that it has alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fbg import _fbg
from helpers.row_plans import compute, draw

PACKERS = {
    "float32": lambda w: _fbg.pack_b_convert(w, "float32"),
    "bfloat16": lambda w: _fbg.pack_b_convert(w, "bfloat16"),
    "int8": lambda w: _fbg.pack_b_quantize(w, per_column=True, symmetric=True),
}
COLUMNS, WIDE = 24, 40


def routes_of(logits, count):
    exps = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    order = np.argsort(-logits, axis=1, kind="stable")
    kept = np.zeros(logits.shape, bool)
    np.put_along_axis(kept, order[:, :count], True, axis=1)
    return np.where(kept, exps / exps.sum(axis=1, keepdims=True), 0)


def mixture(dtype, experts, count, seed, bias):
    """The graph, whose input is logits and rows side by side, and its output."""
    graph = _fbg.Graph()
    both = graph.append("input", experts + COLUMNS)

    def columns(first, number):
        pick = np.zeros((experts + COLUMNS, number), np.float32)
        pick[first + np.arange(number), np.arange(number)] = 1
        return int(graph.append("linear", both, _fbg.pack_b_convert(pick, "float32")))

    x = columns(experts, COLUMNS)
    routes = graph.append("route", columns(0, experts), count)
    total = x
    for n in range(experts):
        rows = graph.append("take_routed", x, routes, n)
        for part, shape, activation in ((0, (COLUMNS, WIDE), "gelu"), (1, (WIDE, COLUMNS), "none")):
            w = PACKERS[dtype](draw(seed + 2 * n + part, *shape))
            rows = graph.append("linear", rows, w, activation=activation, routes=routes, expert=n)
        total = graph.append("add_routed", total, rows, routes, n, None if n else bias)
    return graph, total


@given(
    logits=st.lists(st.integers(-3, 3), min_size=20, max_size=20),
    rows=st.integers(1, 5),
    count=st.integers(1, 4),
)
@settings(deadline=None, max_examples=40)
def test_routes_are_the_largest_weights(logits, rows, count):
    x = np.array(logits[: 4 * rows], np.float32).reshape(rows, 4)
    graph = _fbg.Graph()
    got = compute(graph, x, graph.append("route", graph.append("input", 4), count), 4, 2)
    np.testing.assert_allclose(got, routes_of(x, count), rtol=1e-6)
    assert (np.count_nonzero(got, axis=1) == count).all()


@pytest.mark.parametrize("dtype", PACKERS)
@pytest.mark.parametrize(("experts", "count"), [(1, 1), (5, 2), (8, 8), (3, 1)])
def test_a_row_has_the_bits_that_it_has_alone(isa, dtype, experts, count):
    x, bias = draw(1, 70, experts + COLUMNS), draw(2, COLUMNS)
    x[:, 0] = -9 if experts > count else x[:, 0]  # no row comes to the first expert
    results = []
    for threads in (1, 2, 3):
        graph, total = mixture(dtype, experts, count, 3, bias)
        results.append(compute(graph, x, total, COLUMNS, threads))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    for row in (0, 33, 69):
        graph, total = mixture(dtype, experts, count, 3, bias)
        alone = compute(graph, x[row : row + 1], total, COLUMNS, 2)
        np.testing.assert_array_equal(alone[0], results[0][row])


def test_the_sum_is_that_of_the_definition():
    experts, count, seed = 5, 2, 3
    x, bias = draw(1, 40, experts + COLUMNS), draw(2, COLUMNS)
    routes = routes_of(x[:, :experts], count)
    rows = x[:, experts:].astype(np.float64)
    wanted = rows + bias
    for n in range(experts):
        first, second = draw(seed + 2 * n, COLUMNS, WIDE), draw(seed + 2 * n + 1, WIDE, COLUMNS)
        graph = _fbg.Graph()
        packed = _fbg.pack_b_convert(first, "float32")
        y = graph.append("linear", graph.append("input", COLUMNS), packed, activation="gelu")
        wide = compute(graph, np.ascontiguousarray(x[:, experts:]), y, WIDE, 1)
        wanted += routes[:, n : n + 1] * (wide.astype(np.float64) @ second)
    graph, total = mixture("float32", experts, count, seed, bias)
    np.testing.assert_allclose(compute(graph, x, total, COLUMNS, 2), wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("routed", [(False, True), (True, False), (True, True)])
def test_layers_of_other_rows_understand_each_other(routed):
    """Of many rows, a layer may quantize those that the next one reads; of few, none does."""
    x = draw(1, 400, 5 + 64)
    x[:, 0], x[0, 0] = -9, 9  # the first row alone comes to the first expert

    def first_row(*routed):
        graph = _fbg.Graph()
        both = graph.append("input", 5 + 64)
        identity = np.eye(5 + 64, dtype=np.float32)
        parts = [_fbg.pack_b_convert(part, "float32") for part in np.split(identity, [5], axis=1)]
        logits, rows = (graph.append("linear", both, part) for part in parts)
        routes = graph.append("route", logits, 1)
        for seed, chosen in enumerate(routed):
            w = PACKERS["int8"](draw(seed, 64, 64))
            options = {"routes": routes} if chosen else {}
            rows = graph.append("linear", rows, w, activation="gelu", **options)
        return compute(graph, x, rows, 64, 1)[0]

    np.testing.assert_array_equal(first_row(*routed), first_row(False, False))


def test_wrong_fields_are_named():
    graph = _fbg.Graph()
    x = graph.append("input", 4)
    routes, other = graph.append("route", x, 2), graph.append("pool", x, "mean")
    for count in (0, 5):
        with pytest.raises(ValueError, match="route: count must be from 1 to the columns"):
            graph.append("route", x, count)
    for expert in (-1, 4):
        with pytest.raises(ValueError, match="expert must be a column of the routes"):
            graph.append("take_routed", x, routes, expert)
        with pytest.raises(ValueError, match="expert must be a column of the routes"):
            graph.append("add_routed", x, x, routes, expert)
    with pytest.raises(ValueError, match="routes must have a row for each of x"):
        graph.append("take_routed", other, routes, 0)
    with pytest.raises(ValueError, match="add_routed: rows must have the shape of the sum"):
        graph.append("add_routed", x, other, routes, 0)
    w = _fbg.pack_b_convert(np.ones((4, 4), np.float32), "float32")
    with pytest.raises(ValueError, match="linear: the layer of an expert has no residual"):
        graph.append("linear", x, w, residual=x, routes=routes)
    with pytest.raises(ValueError, match="expert must be a column of the routes"):
        graph.append("linear", x, w, routes=routes, expert=4)
