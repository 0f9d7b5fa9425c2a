"""Global pooling, reductions, softmax and normalization."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.ops.builder import Builder, natural
from fbg.importers.ops.movement import reshaped
from fbg.importers.ops.pooling import pooled
from fbg.importers.ops.registry import op
from fbg.importers.ops.stacked import softmax_of_scores
from fbg.importers.ops.value import Value
from fbg.importers.ops.windows import Geometry


@op("GlobalAveragePool", "GlobalMaxPool")
def build_global_pool(builder: Builder, node: Op) -> None:
    """The mean or the maximum of all pixels."""
    x = builder.input(node, 0)
    function = "mean" if node.node.op == "GlobalAveragePool" else "max"
    builder.set_output(
        node, reshaped(builder, _reduced(builder, x, function, x.shape[2:]), node.output_shape())
    )


def _reduced(builder: Builder, x: Value, function: str, spatial: tuple[int, ...]) -> Value:
    """Return one value for each (N, C) of x (N, C, *spatial)."""
    flat = reshaped(builder, x, (*x.shape[:2], math.prod(spatial)))
    size = flat.shape[2]
    g = Geometry((size,), (1,), (1,), (0,), (0,), (1,))
    return pooled(builder, flat, function, (*x.shape[:2], 1), g)


_REDUCTIONS: dict[str, tuple[str | None, str, str | None]] = {
    # function before, function of the window, function after
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
def build_reduction(builder: Builder, node: Op) -> None:
    """A reduction over some axes: they are brought together and reduced at once."""
    x = builder.input(node, 0)
    before, function, after = _REDUCTIONS[node.node.op]
    rank = len(x.shape)
    given = builder.constant_input(node, 1)
    axes = node.attribute("axes") if given is None else [int(a) for a in given.reshape(-1)]
    if not axes and node.attribute("noop_with_empty_axes", 0):
        raise Unsupported(node.node.name, "no axes")
    reduced = sorted({a % rank for a in axes}) if axes else list(range(rank))
    if before is not None:
        x = builder.apply(before, [x])
    builder.buffer(x)
    result = _reduce_axes(builder, x, function, reduced)
    result = reshaped(builder, result, node.output_shape())
    if after is not None:
        result = builder.apply(after, [result])
    builder.set_output(node, result)


def _reduce_axes(builder: Builder, x: Value, function: str, reduced: list[int]) -> Value:
    """Return a tensor of the axes that are left, in natural order of axes."""
    kept = [axis for axis in range(len(x.shape)) if axis not in reduced]
    stored = [axis for axis in x.order if x.shape[axis] != 1]
    inner = [
        axis for axis in stored if axis in kept and stored.index(axis) > _first(stored, reduced)
    ]
    outer = [axis for axis in stored if axis in kept and axis not in inner]
    middle = [axis for axis in stored if axis in reduced]
    order = (*[a for a in x.order if x.shape[a] == 1], *outer, *middle, *inner)
    ordered = builder.in_order(x, order)
    sizes = [math.prod(x.shape[a] for a in part) for part in (outer, middle, inner)]
    left = (*outer, *inner)
    shape = tuple(x.shape[a] for a in kept)
    if sizes[2] == 1:
        buffer = _fbg.tensor_reduce_rows(
            builder.graph, builder.buffer(ordered), function, sizes[0], sizes[1]
        )
    else:
        pixels = ((1, 1, sizes[1]), (1, 1, 1), (1, 1, sizes[1]), (1, 1, 1), (1, 1, 1))
        none = ((0, 0, 0), (0, 0, 0))
        buffer = _fbg.tensor_window(
            builder.graph,
            builder.buffer(ordered),
            function,
            sizes[0],
            sizes[2],
            (*pixels, *none),
        )
    ones = [kept.index(a) for a in kept if x.shape[a] == 1]
    stored_order = (*ones, *(kept.index(a) for a in left))
    return Value(shape, x.dtype, stored_order, buffer=builder.append(buffer))


def _first(stored: list[int], reduced: list[int]) -> int:
    places = [i for i, axis in enumerate(stored) if axis in reduced]
    return places[0] if places else len(stored)


@op("Softmax")
def build_softmax(builder: Builder, node: Op) -> None:
    """Along one axis; before version 13 along all from the axis on."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    old = node.node.version < 13
    axis = node.attribute("axis", 1 if old else -1) % rank
    fused = softmax_of_scores(x) if axis == rank - 1 else None
    if fused is not None:
        return builder.set_output(node, fused)
    if old:
        rows, order = math.prod(x.shape[:axis]), natural(rank)
    else:
        rows = x.size // x.shape[axis]
        order = (*[a for a in x.order if a != axis], axis)
    ordered = builder.in_order(x, order)
    buffer = _fbg.tensor_softmax(builder.graph, builder.buffer(ordered), rows, x.size // rows)
    builder.set_output(node, Value(x.shape, x.dtype, order, buffer=builder.append(buffer)))


@op("LayerNormalization", constants=(1, 2))
def build_layer_norm(builder: Builder, node: Op) -> None:
    """Over the last axes, with scale and bias."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    axis = node.attribute("axis", -1) % rank
    if len(list(filter(None, node.node.outputs))) > 1:
        return _layer_norm_with_statistics(builder, node, x, axis)
    rows = math.prod(x.shape[:axis])
    shape = x.shape[axis:]
    parameters: list[Any] = []
    for index in (1, 2):
        value = builder.constant_input(node, index)
        if value is not None:
            value = np.ascontiguousarray(np.broadcast_to(value, shape)).reshape(-1)
        parameters.append(value)
    ordered = builder.in_order(x, natural(rank))
    buffer = _fbg.tensor_layer_norm(
        builder.graph,
        builder.buffer(ordered),
        rows,
        parameters[0],
        parameters[1],
        node.attribute("epsilon", 1e-5),
    )
    builder.set_output(node, Value(x.shape, x.dtype, natural(rank), buffer=builder.append(buffer)))


def _layer_norm_with_statistics(builder: Builder, node: Op, x: Value, axis: int) -> None:
    """The same in steps, because the mean and the inverse deviation are outputs, too."""
    reduced = list(range(axis, len(x.shape)))
    shape = (*x.shape[:axis], *[1] * len(reduced))
    builder.buffer(x)
    mean = reshaped(builder, _reduce_axes(builder, x, "mean", reduced), shape)
    centered = builder.apply("subtract", [x, mean])
    builder.buffer(centered)
    squares = builder.apply("square", [centered])
    builder.buffer(squares)
    variance = reshaped(builder, _reduce_axes(builder, squares, "mean", reduced), shape)
    shifted = builder.apply("affine", [variance], 1.0, node.attribute("epsilon", 1e-5))
    inverse = builder.apply("reciprocal", [builder.apply("square_root", [shifted])])
    builder.buffer(inverse)
    result = builder.apply("multiply", [centered, inverse])
    result = builder.apply("multiply", [result, builder.input(node, 1)])
    if node.has_input(2):
        result = builder.apply("add", [result, builder.input(node, 2)])
    for index, value in enumerate((result, mean, inverse)):
        if index < len(node.node.outputs) and node.node.outputs[index]:
            builder.set_output(node, value, index)


@op("DynamicQuantizeLinear")
def build_dynamic_quantize(builder: Builder, node: Op) -> None:
    """uint8 with a scale and a zero point for the whole tensor, found in each run."""
    x = builder.input(node, 0)
    builder.buffer(x)
    axes = list(range(len(x.shape)))
    ends = [reshaped(builder, _reduce_axes(builder, x, f, axes), ()) for f in ("min", "max")]
    low = builder.apply("clip", [ends[0]], -np.inf, 0.0)
    high = builder.apply("clip", [ends[1]], 0.0, np.inf)
    span = builder.apply("subtract", [high, low])
    least, most = (builder.from_constant(np.array(v, np.float32)) for v in (0, 255))
    is_nothing = builder.apply("equal", [span, least])  # of which the scale is 1
    scale = builder.apply("add", [builder.apply("divide", [span, most]), is_nothing])
    builder.buffer(scale)
    steps = builder.apply("negate", [builder.apply("divide", [low, scale])])
    zero = builder.apply("clip", [builder.apply("round", [steps])], 0.0, 255.0)
    builder.buffer(zero)
    rounded = builder.apply("round", [builder.apply("divide", [x, scale])])
    q = builder.apply("add", [rounded, zero], dtype=np.uint8)
    point = builder.apply("affine", [zero], 1.0, 0.0, dtype=np.uint8)
    for index, value in enumerate((q, scale, point)):
        builder.set_output(node, value, index)
