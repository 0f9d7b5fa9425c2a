"""Functions that exporters write as many operators: GELU, SiLU and layer normalization.

(arXiv:1606.08415, arXiv:1702.03118, arXiv:1607.06450)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fbg.graph.graph import Graph
from fbg.graph.ops.common import LayerNorm, Map, Norm
from fbg.graph.ops.moves import Reshape
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Constant, shape_of, size_of
from fbg.graph.ops.windows import Reduce
from fbg.graph.rewrite import Rewriting, rewrite

TOLERANCE = 1e-3  # relative error of constants such as the square root of 2


def find_functions(graph: Graph) -> Graph:
    """Return the graph with each function in place of the ops that compute it."""
    return rewrite(graph, _rule, Map)


def _rule(made: Rewriting, op: Op) -> Value | None:
    if not isinstance(op, Map) or op.dtype != "float32":
        return None
    found = _gelu(op) or _silu(op) or _layer_norm(op)
    if found is None or found.infer() != op.infer():
        return None
    return made.add(found, *_between(found.inputs[0], op)[::-1])


def _between(x: Value, op: Op) -> list[Value]:
    """Return the values from x to the operands of op, the last one first."""
    found: dict[Value, None] = {}
    waiting = list(op.inputs)
    while waiting:
        value = waiting.pop()
        if value is not x and not isinstance(value.op, Constant) and value not in found:
            found[value] = None
            waiting += value.op.inputs
    return list(found)


def _operands(value: Value, function: str) -> tuple[Value, Value] | None:
    """Return the operands if a function of two operands computes the value."""
    found = value.op.binary(function) if isinstance(value.op, Map) else None
    return None if found is None else found[1:]


def _operand(value: Value, function: str) -> Value | None:
    """Return the operand if a function of one operand, or of one twice, computes the value."""
    op = value.op
    if not isinstance(op, Map) or len(op.steps) != 1 or len(op.operands) != 1:
        return None
    return op.operands[0] if op.steps[0][0] == function else None


def _beside(value: Value, function: str, number: float) -> Value | None:
    """Return the other operand of a function of a number and a value, in any order."""
    pairs = _orders(_operands(value, function))
    return next((a for a, b in pairs if _is_number(b, number)), None)


def _orders(operands: tuple[Value, Value] | None) -> list[tuple[Value, Value]]:
    return [] if operands is None else [operands, operands[::-1]]


def _is_number(value: Value, number: float) -> bool:
    """Whether a value is a constant with one element close to a number."""
    if not isinstance(value.op, Constant) or size_of(value) != 1:
        return False
    return math.isclose(float(value.op.array.reshape(-1)[0]), number, rel_tol=TOLERANCE)


# GELU, SiLU --------------------------------------------------------------------------------------


def _gelu(op: Map) -> Map | None:
    """x (1 + erf(x / sqrt 2)) / 2, or x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2."""
    for x, half, shifted in _factors(op):
        if not _is_number(half, 0.5):
            continue
        inner = _beside(shifted, "add", 1.0)
        if inner is None:
            continue
        if (scaled := _operand(inner, "erf")) is not None and _is_scaled(scaled, x):
            return Map.of("gelu", (x,))
        if (scaled := _operand(inner, "tanh")) is not None and _is_cubic(scaled, x):
            return Map.of("gelu_tanh", (x,))
    return None


def _factors(op: Map) -> Iterator[tuple[Value, Value, Value]]:
    """Return the three factors of a product of which one factor is a product, in all orders."""
    found = op.binary("multiply")
    for product, c in _orders(None if found is None else found[1:]):
        for a, b in _orders(_operands(product, "multiply")):
            yield from ((a, b, c), (a, c, b), (c, a, b))


def _is_scaled(value: Value, x: Value) -> bool:
    """Whether a value is x / sqrt 2."""
    divided = _operands(value, "divide")
    if divided is not None:
        return divided[0] is x and _is_number(divided[1], math.sqrt(2))
    return _beside(value, "multiply", math.sqrt(0.5)) is x


def _is_cubic(value: Value, x: Value) -> bool:
    """Whether a value is sqrt(2 / pi) (x + 0.044715 x^3)."""
    total = _beside(value, "multiply", math.sqrt(2 / math.pi))
    for a, b in _orders(None if total is None else _operands(total, "add")):
        cube = _beside(b, "multiply", 0.044715)
        if a is x and cube is not None:
            return _is_cube(cube, x)
    return False


def _is_cube(value: Value, x: Value) -> bool:
    power = _operands(value, "power")
    if power is not None:
        return power[0] is x and _is_number(power[1], 3.0)
    orders = _orders(_operands(value, "multiply"))
    return any(a is x and _operand(b, "multiply") is x for a, b in orders)


def _silu(op: Map) -> Map | None:
    """x sigmoid(x)."""
    found = op.binary("multiply")
    for x, gate in _orders(None if found is None else found[1:]):
        if _operand(gate, "sigmoid") is x:
            return Map.of("silu", (x,))
    return None


# Layer normalization -----------------------------------------------------------------------------


def _layer_norm(op: Map) -> Norm | None:
    """(x - mean) / sqrt(mean((x - mean)^2) + eps) * gamma + beta over the last axis."""
    found = op.binary("add")
    for scaled, beta in _orders(None if found is None else found[1:]):
        for quotient, gamma in _orders(_operands(scaled, "multiply")):
            parts = _operands(quotient, "divide")
            centered = None if parts is None else _centered(parts[0])
            if parts is None or centered is None:
                continue
            x, eps = centered, _epsilon_of(parts[1], centered)
            if eps is None or not (_is_vector(gamma, x) and _is_vector(beta, x)):
                continue
            return Norm(x, LayerNorm(_array(gamma), _array(beta), eps))
    return None


def _array(value: Value) -> npt.NDArray[np.float32]:
    assert isinstance(value.op, Constant)
    return np.ascontiguousarray(value.op.array, np.float32)


def _is_vector(value: Value, x: Value) -> bool:
    """Whether a value is a constant along the last axis of x."""
    return isinstance(value.op, Constant) and value.shape == x.shape[-1:]


def _mean_of(value: Value) -> Value | None:
    """Return x if a value is the mean of x over the last axis, which is kept; else None."""
    reduced = value.op.x if isinstance(value.op, Reshape) else value
    mean = reduced.op
    if not isinstance(mean, Reduce) or mean.function != "mean":
        return None
    shape = shape_of(mean.x)
    if mean.axes != (len(shape) - 1,) or value.shape != (*shape[:-1], 1):
        return None
    return mean.x


def _centered(value: Value) -> Value | None:
    """Return x of x - mean(x)."""
    found = _operands(value, "subtract")
    return found[0] if found is not None and _mean_of(found[1]) is found[0] else None


def _epsilon_of(value: Value, x: Value) -> float | None:
    """Return eps of sqrt(mean((x - mean)^2) + eps)."""
    shifted = _operand(value, "square_root")
    for variance, eps in _orders(None if shifted is None else _operands(shifted, "add")):
        squares = _mean_of(variance)
        if squares is None or not isinstance(eps.op, Constant) or size_of(eps) != 1:
            continue
        base = _squared(squares)
        if base is not None and _centered(base) is x:
            return float(eps.op.array.reshape(-1)[0])
    return None


def _squared(value: Value) -> Value | None:
    power = _operands(value, "power")
    if power is not None:
        return power[0] if _is_number(power[1], 2.0) else None
    return _operand(value, "multiply")
