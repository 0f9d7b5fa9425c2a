"""Plans of graphs whose one input is rows of floats, as tests of single ops make them."""

from typing import Any

import numpy as np

from fbg import _fbg


def draw(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def plan_of(graph: _fbg.Graph, rows: int, threads: int, **options: Any) -> _fbg.Plan:
    rows = max(rows, 1)
    return _fbg.Plan(graph, tokens=rows, sequences=1, length=rows, threads=threads, **options)


def run_rows(plan: _fbg.Plan, x: np.ndarray, columns: int, threads: int) -> np.ndarray:
    """The one output, whose rows are tokens of one sequence."""
    out = np.empty((len(x), columns), np.float32)
    positions, offsets = np.arange(len(x), dtype=np.int32), np.array([0, len(x)], np.int32)
    plan.run(None, None, None, positions, offsets, [out], threads, inputs=[x])
    return out


def whole_rows(columns: int) -> list[tuple[int, int, int]]:
    """The sizes of one window for each row."""
    row, one, none = (1, 1, columns), (1, 1, 1), (0, 0, 0)
    return [row, one, row, one, one, none, none]


def append_gated(graph: _fbg.Graph, x: int, gate: str, columns: int) -> int:
    """Append gate(a) * b, where a row of x is a, b end to end."""
    halves = [(x, "float32", [1]), (x, "float32", [1], columns)]
    steps = [(gate, 0, 0, 0.0, 0.0), ("multiply", 2, 1, 0.0, 0.0)]
    return graph.append("elementwise", [columns], halves, steps)


def append_step(graph: _fbg.Graph, function: str, columns: int, *operands: int) -> int:
    """Append a function of one or two operands."""
    steps = [(function, 0, len(operands) - 1, 0.0, 0.0)]
    given = [(x, "float32", [1]) for x in operands]
    return graph.append("elementwise", [columns], given, steps)


def compute(graph: _fbg.Graph, x: np.ndarray, y: int, columns: int, threads: int) -> np.ndarray:
    graph.output(y)
    return run_rows(plan_of(graph, len(x), threads), x, columns, threads)
