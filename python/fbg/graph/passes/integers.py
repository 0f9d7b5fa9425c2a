"""Integers that stand for numbers: ops read them directly where they can.

``Dequantize`` moves behind ops that move elements, to the products, windows and sums that have a
form for integers; quantizing its result again gives the integers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch

import numpy as np

from fbg._fbg import MAX_DEPTH
from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.elements import Gather
from fbg.graph.ops.moves import Concat, Move, Reshape, Transpose
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.products import Product
from fbg.graph.ops.tensors import Constant, Dequantize, Quantize, shape_of
from fbg.graph.ops.windows import Geometry, Integers, Reduce, Window
from fbg.graph.rewrite import Rewriting, rewrite

# Bytes of so many pixels can be added in 32 bits.
MOST_PIXELS = (2**31 - 1) // 255


def take_integers(graph: Graph) -> Graph:
    """Let ops read integers instead of the numbers for which they stand."""
    return rewrite(graph, lambda made, op: _rule(op, made), Dequantize)


def take_means(graph: Graph) -> Graph:
    """Let means of all pixels read integers: after norms have been found, which have such means."""
    return rewrite(graph, _mean, Dequantize)


def join_integers(graph: Graph) -> Graph:
    """Let channels be joined as integers, a quarter of the bytes, though their scales differ.

    After `take_integers`, which lets joins that are rounded again round their parts.
    """
    return rewrite(graph, _join, Dequantize)


def _join(made: Rewriting, op: Op) -> Value | None:
    if not isinstance(op, Concat) or op.axis != 1 or len(op.infer()) < 3:
        return None
    sources = [value.op for value in op.values if isinstance(value.op, Dequantize)]
    if len(sources) < len(op.values) or len({source.q.dtype for source in sources}) != 1:
        return None
    channels = [shape_of(value)[1] for value in op.values]

    def of_channels(numbers: list[float]) -> Value:
        array = np.repeat(np.array(numbers, np.float32), channels)
        return made.add(Constant(array.reshape(-1, *(1,) * (len(op.infer()) - 2))))

    joined = made.add(replace(op, values=tuple(source.q for source in sources)))
    zero_points = of_channels([source.zero_point for source in sources])
    scales = of_channels([source.scale for source in sources])
    steps = (
        ("dequantize", 0, 0, 1.0, 0.0),
        ("subtract", 3, 1, 0.0, 0.0),
        ("multiply", 4, 2, 0.0, 0.0),
    )
    return made.add(Map((joined, zero_points, scales), steps))


def _mean(made: Rewriting, op: Op) -> Value | None:
    if not isinstance(op, Reduce) or op.function != "mean":
        return None
    source, sizes = _dequantized(op.x), shape_of(op.x)
    if source is None or len(sizes) < 3 or op.axes != tuple(range(2, len(sizes))):
        return None
    batch, channels, *spatial = sizes
    pixels = math.prod(spatial)
    if pixels > MOST_PIXELS:
        return None
    flat = made.add(Reshape(source.q, (batch, channels, pixels)))
    whole = Geometry((pixels,), (1,), (1,), (0,), (0,), (1,))
    integers = Integers(source.scale, source.zero_point)
    means = made.add(Window(flat, "mean", whole, (batch, channels, 1), integers=integers))
    return made.add(Reshape(means, (batch, channels)))


@singledispatch
def _rule(op: Op, made: Rewriting) -> Value | None:
    return None


def _dequantized(value: Value) -> Dequantize | None:
    return value.op if isinstance(value.op, Dequantize) else None


def _moved(made: Rewriting, op: Op, source: Dequantize) -> Value:
    """Add an op of integers, and one that dequantizes its result."""
    return made.add(replace(source, q=made.add(op)))


@_rule.register(Reshape)
@_rule.register(Transpose)
@_rule.register(Gather)
def _(op: Reshape | Transpose | Gather, made: Rewriting) -> Value | None:
    source = _dequantized(op.x)
    return None if source is None else _moved(made, replace(op, x=source.q), source)


@_rule.register
def _(op: Move, made: Rewriting) -> Value | None:
    source = _dequantized(op.x)
    if source is None:
        return None
    fill = None if op.fill is None else source.integer_of(op.fill)
    if op.fill is not None and fill is None:
        return None
    return _moved(made, replace(op, x=source.q, fill=fill), source)


@_rule.register
def _(op: Concat, made: Rewriting) -> Value | None:
    sources = [value.op for value in op.values if isinstance(value.op, Dequantize)]
    alike = {(source.scale, source.zero_point, source.q.dtype) for source in sources}
    if len(sources) < len(op.values) or len(alike) != 1:
        return None
    return _moved(made, replace(op, values=tuple(s.q for s in sources)), sources[0])


@_rule.register
def _(op: Window, made: Rewriting) -> Value | None:
    source = _dequantized(op.x)
    if source is None or op.integers is not None:
        return None
    if op.function in ("max", "min"):
        return _moved(made, replace(op, x=source.q), source)
    if op.pixels > MOST_PIXELS:
        return None
    return made.add(replace(op, x=source.q, integers=Integers(source.scale, source.zero_point)))


@_rule.register
def _(op: Product, made: Rewriting) -> Value | None:
    source, weights = _dequantized(op.x), op.alternative
    if source is None or weights is None or math.prod(op.w.shape[1:]) > MAX_DEPTH:
        return None
    return made.add(
        replace(
            op,
            x=source.q,
            w=weights.integers,
            w_scale=weights.scale,
            w_zero_point=weights.zero_point,
            x_scale=source.scale,
            x_zero_point=source.zero_point,
            algorithm="",
            alternative=None,
        )
    )


def _stands_for(source: Dequantize, op: Quantize) -> bool:
    """Whether rounding the dequantized integers gives the same integers."""
    same = (source.scale, source.zero_point, source.q.dtype)
    return same == (op.scale, op.zero_point, op.dtype)


def _joined(made: Rewriting, op: Quantize, concat: Concat) -> Value | None:
    """Round what is joined instead of the result, which is the same: integers are then joined."""
    parts = []
    for value in concat.values:
        if not isinstance(value.op, Dequantize):
            return None
        same = _stands_for(value.op, op)
        parts.append(value.op.q if same else made.add(replace(op, x=value)))
    return made.add(replace(concat, values=tuple(parts)), op.x)


@_rule.register
def _(op: Quantize, made: Rewriting) -> Value | None:
    source, window = op.x.op, op.x.op
    if isinstance(source, Dequantize):
        return source.q if _stands_for(source, op) else None
    if isinstance(source, Concat) and made.is_inside(op.x):
        return _joined(made, op, source)
    if not isinstance(window, Window) or window.integers is None or not made.is_inside(op.x):
        return None
    means = window.function == "mean" and window.integers.rounded is None
    if not means or window.x.dtype != op.dtype or not op.scale > 0:
        return None
    factor = window.integers.factor / op.scale
    integers = replace(window.integers, factor=factor, rounded=op.zero_point)
    return made.add(replace(window, integers=integers), op.x)
