"""Attention: two products with a softmax between them become one op, whose scores stay in caches.

    softmax(scale * (q k) + bias) v

Factors of q and of k, which exporters spread over both, join the scale. If another op reads the
scores, they are computed step by step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.products import Attend, MatMul, Product
from fbg.graph.ops.tensors import Constant, shape_of, size_of
from fbg.graph.ops.windows import Softmax
from fbg.graph.rewrite import Rewriting, rewrite


def fuse_attention(graph: Graph) -> Graph:
    """Replace the ops that compute attention by one op."""
    return rewrite(graph, _rule, Softmax)


@dataclass
class _Scores:
    """The softmax of a product times factors plus a bias.

    factors: (function, number), the last one first. joined: the values that it replaces,
    the last one first.
    """

    product: MatMul
    factors: list[tuple[str, float]]
    bias: Value | None
    joined: list[Value] = field(default_factory=list)


def _rule(made: Rewriting, op: Op) -> Value | None:
    if not isinstance(op, MatMul):
        return None
    scores = _scores(made, op.a)
    if scores is None:
        return None
    q, first = _without_factor(made, scores.product.a)
    k, second = _without_factor(made, scores.product.b)
    scale = float(np.float32(first * second))
    for function, number in reversed(scores.factors):
        scale = float(np.float32(scale * number if function == "multiply" else scale / number))
    if not scale > 0:
        return None
    return made.add(Attend(q, k, op.b, scores.bias, scale), *scores.joined[::-1])


def _scores(made: Rewriting, value: Value) -> _Scores | None:
    """Return the description of a softmax of a product that no other op reads, else None."""
    softmax = value.op
    last = len(value.shape) - 1
    if not isinstance(softmax, Softmax) or softmax.axis != last or not made.is_inside(value):
        return None
    x, bias, joined = softmax.x, None, [value]
    factors: list[tuple[str, float]] = []
    while made.is_inside(x):
        joined.append(x)
        if isinstance(x.op, MatMul):
            return _Scores(x.op, factors, bias, joined)
        if not isinstance(x.op, Map):
            return None
        added = _biased(x.op, x)
        if (found := _scaled(x.op)) is not None:
            x, function, number = found
            factors.append((function, number))
        elif bias is None and not factors and added is not None:
            x, bias = added
        else:
            return None
    return None


def _scaled(op: Map) -> tuple[Value, str, float] | None:
    """Return the operand that an op multiplies or divides by a known number, and the number."""
    found = op.binary("multiply", "divide")
    if found is None:
        return None
    function, x, factor = found
    if function == "multiply" and not isinstance(factor.op, Constant):
        x, factor = factor, x
    if not isinstance(factor.op, Constant) or size_of(factor) != 1:
        return None
    if len(factor.shape) > len(x.shape):
        return None
    number = float(factor.op.array.reshape(-1)[0])
    return (x, function, number) if number and math.isfinite(number) else None


def _biased(op: Map, value: Value) -> tuple[Value, Value] | None:
    """Return the scores and the bias that an op adds to them."""
    found = op.binary("add")
    if found is None:
        return None
    for x, bias in (found[1:], found[:0:-1]):
        scores = isinstance(x.op, MatMul) or (isinstance(x.op, Map) and _scaled(x.op) is not None)
        fits = bias.dtype == "float32" and bias.shape[-1:] == x.shape[-1:]
        if scores and fits and x.shape == value.shape:
            return x, bias
    return None


def _without_factor(made: Rewriting, value: Value) -> tuple[Value, float]:
    """Return a tensor and the number by which it is to be multiplied."""
    found = _scaled(value.op) if isinstance(value.op, Map) and made.is_inside(value) else None
    # A product takes a factor into its weights.
    if found is None or shape_of(found[0]) != shape_of(value) or isinstance(found[0].op, Product):
        return value, 1.0
    x, function, number = found
    return x, number if function == "multiply" else 1 / number
