"""Products of tensors that both vary, and the attention that is made of two of them.

The first product of attention is deferred: a factor, a bias and a softmax join it, and the second
product takes all of that as one op, whose scores never reach memory. Whatever else reads scores has
them computed step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fbg import _fbg
from fbg.importers.ops.value import Order, Value, strides_of

if TYPE_CHECKING:
    from fbg.importers.ops.builder import Builder

__all__ = ["Scores", "extend_scores", "softmax_of_scores", "varying_product"]

Shape = tuple[int, ...]
Matrices = tuple[int, list[int], int, int]  # buffer, strides along the stack, of rows, of columns


@dataclass
class Scores:
    """``scale * q k + bias``, and the softmax of its rows, where that has joined.

    q: (…, M, K). k: (…, K, N). bias: broadcast to (…, M, N). nodes: those of the network that it
    computes.
    """

    q: Value
    k: Value
    scale: float = 1.0
    bias: Value | None = None
    softmax: bool = False
    nodes: list[str] = field(default_factory=list)

    def compute(self, builder: Builder, value: Value) -> int:
        """Append the product, and what has joined it, step by step; return the last buffer."""
        stack = value.shape[:-2]
        m, n = value.shape[-2:]
        a = _matrices(builder, self.q, stack, (-1,))
        b = _matrices(builder, self.k, stack, (-1, -2))
        strides = strides_of(value.shape, value.order)
        c = (0, strides[:-2], strides[-2], 1)
        sizes = (m, self.q.shape[-1], n)
        buffer = _fbg.tensor_multiply(builder.graph, list(stack), sizes, a, b, c)
        result = Value(value.shape, value.dtype, value.order, buffer=buffer)
        builder.append(buffer, self.nodes)
        if self.scale != 1.0:
            result = builder.apply("affine", [result], self.scale, 0.0)
        if self.bias is not None:
            result = builder.apply("add", [result, self.bias])
        if self.softmax:
            rows = builder.buffer(result)
            buffer = _fbg.tensor_softmax(builder.graph, rows, value.size // n, n)
            return builder.append(buffer, self.nodes)
        return builder.buffer(result)


def _open_scores(value: Value) -> Scores | None:
    """Return a product that more can join, or None."""
    if isinstance(value.deferred, Scores) and value.buffer is None and value.uses <= 1:
        return value.deferred
    return None


def _with_scores(value: Value, scores: Scores) -> Value:
    return Value(value.shape, value.dtype, value.order, deferred=scores)


def extend_scores(function: str, a: Value, b: Value) -> Value | None:
    """Make a factor or a summand of a product part of it; None where that is not possible."""
    if _open_scores(a) is None and function in ("add", "multiply"):
        a, b = b, a
    scores = _open_scores(a)
    if scores is None or scores.softmax or scores.bias is not None:
        return None
    if function in ("multiply", "divide") and b.size == 1 and (constant := b.constant) is not None:
        factor = float(constant.reshape(-1)[0])
        scale = scores.scale * factor if function == "multiply" else scores.scale / factor
        return _with_scores(a, replace(scores, scale=float(np.float32(scale))))
    fits = b.dtype == np.float32 and b.shape[-1:] == a.shape[-1:] and len(b.shape) <= len(a.shape)
    if function == "add" and fits and np.broadcast_shapes(a.shape, b.shape) == a.shape:
        return _with_scores(a, replace(scores, bias=b))
    return None


def softmax_of_scores(value: Value) -> Value | None:
    """Make the softmax along the last axis part of a product; None where that is not possible."""
    scores = _open_scores(value)
    if scores is None or scores.softmax:
        return None
    return _with_scores(value, replace(scores, softmax=True))


def varying_product(builder: Builder, a: Value, b: Value) -> Value:
    """Return a (…, M, K) times b (…, K, N), as NumPy multiplies stacks: deferred."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*stack, a.shape[-2], b.shape[-1])
    scores = _open_scores(a)
    if scores is not None and scores.softmax and scores.scale > 0:
        return _attention(builder, scores, a.shape, b, shape)
    order = tuple(range(len(shape)))
    q, first = _without_factor(a)
    k, second = _without_factor(b)
    scores = Scores(q, k, float(np.float32(first * second)))
    for operand in (q, k):
        builder.buffer(operand)
    return Value(shape, np.dtype(np.float32), order, deferred=scores)


def _without_factor(value: Value) -> tuple[Value, float]:
    """Return a tensor and the number by which it is to be multiplied."""
    program = value.program
    if program is None or value.buffer is not None or value.uses > 1 or len(program.steps) != 1:
        return value, 1.0
    function, left, right, _, _ = program.steps[0]
    if function not in ("multiply", "divide") or len(program.operands) != 2:
        return value, 1.0
    x, factor = program.operands[left], program.operands[right]
    if function == "multiply" and not factor.is_constant:
        x, factor = factor, x
    constant = factor.constant if factor.size == 1 else None
    if constant is None or x.shape != value.shape:
        return value, 1.0
    number = float(constant.reshape(-1)[0])
    return x, number if function == "multiply" else 1 / number


def _attention(builder: Builder, scores: Scores, rows: Shape, v: Value, shape: Shape) -> Value:
    """Return softmax(scale q k + bias) v. rows: shape of the scores."""
    stack = shape[:-2]
    q = _matrices(builder, scores.q, stack, (-1,))
    k = _matrices(builder, scores.k, stack, (-2,))
    k = (*k[:2], k[3], k[2])
    values = _matrices(builder, v, stack, (-1,))
    bias = None if scores.bias is None else _matrices(builder, scores.bias, stack, (-1,), rows[-2])
    # Heads side by side in a row, where those of Q are.
    order = scores.q.order if len(scores.q.shape) == len(shape) else tuple(range(len(shape)))
    order = _with_last(order, len(shape) - 1)
    strides = strides_of(shape, order)
    output = (0, strides[:-2], strides[-2], 1)
    sizes = (rows[-2], rows[-1], scores.q.shape[-1], shape[-1])
    buffer = _fbg.tensor_attend(
        builder.graph, list(stack), sizes, q, k, values, output, bias, scores.scale
    )
    builder.append(buffer, [*scores.nodes, builder.node])
    return Value(shape, np.dtype(np.float32), order, buffer=buffer)


def _with_last(order: Order, axis: int) -> Order:
    return (*[a for a in order if a != axis], axis)


def _matrices(
    builder: Builder, value: Value, stack: Shape, unit: tuple[int, ...], rows: int | None = None
) -> Matrices:
    """Return the matrices of a tensor (…, M, N), broadcast to a stack of them.

    unit: the axes of which one must have a stride of 1. rows: what M = 1 is broadcast to.
    """
    if len(value.shape) < 2:
        value = builder.alias(value, (1,) * (2 - len(value.shape)) + value.shape, (0, 1))
    rank = len(value.shape)
    places = [axis % rank for axis in unit]
    builder.buffer(value)
    strides = strides_of(value.shape, value.order)
    if not any(strides[axis] == 1 or value.shape[axis] == 1 for axis in places):
        value = builder.in_order(value, _with_last(value.order, places[0]))
        strides = strides_of(value.shape, value.order)
    for axis in places:
        if value.shape[axis] == 1 and not any(strides[other] == 1 for other in places):
            strides[axis] = 1
    along = [0 if size == 1 else s for size, s in zip(value.shape, strides, strict=True)]
    missing = len(stack) - (rank - 2)
    row = 0 if rows is not None and value.shape[-2] == 1 else strides[-2]
    return builder.buffer(value), [0] * missing + along[:-2], row, strides[-1]
