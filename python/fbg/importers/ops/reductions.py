"""Global pooling, reductions, softmax and normalization."""

from __future__ import annotations

import math

import numpy as np

from fbg.graph.ops.common import LayerNorm, Norm
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import shape_of
from fbg.graph.ops.windows import Geometry, Reduce, Softmax
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.pooling import pooled
from fbg.importers.ops.registry import op


@op("GlobalAveragePool", "GlobalMaxPool")
def build_global_pool(builder: Builder, node: TypedNode) -> None:
    """The mean or the maximum of all pixels."""
    x = builder.input(node, 0)
    function = "mean" if node.node.op == "GlobalAveragePool" else "max"
    batch, channels, *spatial = shape_of(x)
    size = math.prod(spatial)
    flat = builder.reshaped(x, (batch, channels, size))
    g = Geometry((size,), (1,), (1,), (0,), (0,), (1,))
    result = pooled(builder, flat, function, (batch, channels, 1), g)
    builder.set_output(node, builder.reshaped(result, node.output_shape()))


_REDUCTIONS: dict[str, tuple[str | None, str, str | None]] = {
    # function of elements, function of the window, function of results
    "ReduceMean": (None, "mean", None),
    "ReduceSum": (None, "sum", None),
    "ReduceMax": (None, "max", None),
    "ReduceMin": (None, "min", None),
    "ReduceSumSquare": ("square", "sum", None),
    "ReduceL1": ("absolute", "sum", None),
    "ReduceL2": ("square", "sum", "square_root"),
    "ReduceLogSum": (None, "sum", "log"),
}


@op(*_REDUCTIONS, constants=(1,))
def build_reduction(builder: Builder, node: TypedNode) -> None:
    """A reduction over some axes."""
    x = builder.input(node, 0)
    before, function, after = _REDUCTIONS[node.node.op]
    rank = len(x.shape)
    given = builder.constant_input(node, 1)
    axes = node.attribute("axes") if given is None else [int(a) for a in given.reshape(-1)]
    if not axes and node.attribute("noop_with_empty_axes", 0):
        raise Unsupported(node.node.name, "no axes")
    reduced = sorted({a % rank for a in axes}) if axes else list(range(rank))
    if before is not None:
        x = builder.apply(before, x)
    result = builder.add(Reduce(x, function, tuple(reduced)))
    result = builder.reshaped(result, node.output_shape())
    if after is not None:
        result = builder.apply(after, result)
    builder.set_output(node, result)


@op("Softmax")
def build_softmax(builder: Builder, node: TypedNode) -> None:
    """Along one axis; before version 13 along all from the axis on."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    old = node.node.version < 13
    axis = node.attribute("axis", 1 if old else -1) % rank
    flat = old and axis < rank - 1
    builder.set_output(node, builder.add(Softmax(x, axis, flat)))


@op("LayerNormalization", constants=(1, 2))
def build_layer_norm(builder: Builder, node: TypedNode) -> None:
    """Over the last axes, with scale and bias."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    axis = node.attribute("axis", -1) % rank
    if len(list(filter(None, node.node.outputs))) > 1:
        return _layer_norm_with_statistics(builder, node, x, axis)
    shape = shape_of(x)[axis:]
    gamma, beta = builder.constant_input(node, 1), builder.constant_input(node, 2)
    assert gamma is not None
    weight = np.ascontiguousarray(np.broadcast_to(gamma, shape))
    bias = None if beta is None else np.ascontiguousarray(np.broadcast_to(beta, shape))
    norm = LayerNorm(weight, bias, node.attribute("epsilon", 1e-5))
    builder.set_output(node, builder.add(Norm(x, norm)))


def _layer_norm_with_statistics(builder: Builder, node: TypedNode, x: Value, axis: int) -> None:
    """Layer normalization in steps, as the mean and the inverse deviation are outputs, too."""
    reduced = tuple(range(axis, len(x.shape)))
    shape = (*shape_of(x)[:axis], *[1] * len(reduced))
    mean = builder.reshaped(builder.add(Reduce(x, "mean", reduced)), shape)
    centered = builder.apply("subtract", x, mean)
    squares = builder.apply("square", centered)
    variance = builder.reshaped(builder.add(Reduce(squares, "mean", reduced)), shape)
    shifted = builder.apply("affine", variance, c0=1.0, c1=node.attribute("epsilon", 1e-5))
    inverse = builder.apply("reciprocal", builder.apply("square_root", shifted))
    result = builder.apply("multiply", centered, inverse)
    result = builder.apply("multiply", result, builder.input(node, 1))
    if node.has_input(2):
        result = builder.apply("add", result, builder.input(node, 2))
    for index, value in enumerate((result, mean, inverse)):
        if index < len(node.node.outputs) and node.node.outputs[index]:
            builder.set_output(node, value, index)


@op("DynamicQuantizeLinear")
def build_dynamic_quantize(builder: Builder, node: TypedNode) -> None:
    """Build uint8 with a scale and a zero point for the whole tensor, computed in each run."""
    for index, value in enumerate(dynamically_quantized(builder, builder.input(node, 0))):
        builder.set_output(node, value, index)


def dynamically_quantized(builder: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return x in uint8, its scale and its zero point."""
    axes = tuple(range(len(x.shape)))
    least, most = (builder.add(Reduce(x, function, axes)) for function in ("min", "max"))
    low = builder.apply("clip", least, c0=-np.inf, c1=0.0)
    high = builder.apply("clip", most, c0=0.0, c1=np.inf)
    span = builder.apply("subtract", high, low)
    zero, largest = (builder.constant(np.array(v, np.float32)) for v in (0, 255))
    is_nothing = builder.apply("equal", span, zero)  # then the scale is 1
    scale = builder.apply("add", builder.apply("divide", span, largest), is_nothing)
    steps = builder.apply("negate", builder.apply("divide", low, scale))
    point = builder.apply("clip", builder.apply("round", steps), c0=0.0, c1=255.0)
    rounded = builder.apply("round", builder.apply("divide", x, scale))
    q = builder.apply("add", rounded, point, dtype=np.uint8)
    return q, scale, builder.apply("affine", point, c0=1.0, dtype=np.uint8)
