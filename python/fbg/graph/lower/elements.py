"""Lowers the ops of tensors whose elements have any type."""

from __future__ import annotations

import math

import numpy as np

from fbg.graph.lower.layout import merged_axes, natural, stretched
from fbg.graph.lower.maps import aligned
from fbg.graph.lower.tensors import Stored, TensorLowering, append
from fbg.graph.ops import elements as ops
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import shape_of


@append.register
def _(op: ops.Function, lowering: TensorLowering, value: Value) -> Stored:
    shape = shape_of(value)
    given = [lowering.stored(x) for x in op.operands]
    whole = [x for x in given if x.shape == shape]
    varying = next((x.order for x in whole if x.array is None), None)
    order = varying or next((x.order for x in whole), natural(len(shape)))
    operands = [aligned(lowering, x, shape, order) for x in given]
    strides = [stretched(x.shape, x.order, shape) for x in operands]
    ordered = [[own[axis] for axis in order] or [0] for own in strides]
    extents, ordered = merged_axes([shape[axis] for axis in order] or [1], ordered)
    native = [(lowering.buffer(x), own) for x, own in zip(operands, ordered, strict=True)]
    buffer = lowering.native.append("function", op.function, op.operand_type, extents, native)
    return lowering.written(value, order, buffer)


@append.register
def _(op: ops.Convert, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    buffer = lowering.native.append("convert", lowering.buffer(x), x.dtype, op.dtype)
    return lowering.written(value, x.order, buffer)


def _along(x: Stored, axis: int) -> tuple[int, int, int]:
    """Return the sizes before, along and behind an axis, as the tensor is stored."""
    at = x.order.index(axis)
    sizes = [x.shape[a] for a in x.order]
    return math.prod(sizes[:at]), sizes[at], math.prod(sizes[at + 1 :])


@append.register
def _(op: ops.Accumulate, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    buffer, axis = lowering.buffer(x), _along(x, op.axis)
    how = (op.multiplies, op.exclusive, op.reverse)
    buffer = lowering.native.append("accumulate", buffer, axis, x.dtype, *how)
    return lowering.written(value, x.order, buffer)


@append.register
def _(op: ops.TopPositions, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    buffer, axis = lowering.buffer(x), _along(x, op.axis)
    buffer = lowering.native.append("top_positions", buffer, axis, x.dtype, op.k, op.greatest)
    return lowering.written(value, x.order, buffer)


@append.register
def _(op: ops.Gather, lowering: TensorLowering, value: Value) -> Stored:
    x, indices = _dense(lowering, op.x), _dense(lowering, op.indices)
    places = _native(op.places, x, indices)
    buffer = lowering.native.append("gather", lowering.buffer(x), lowering.buffer(indices), places)
    lowering.limits[buffer] = f"node '{value.owner}': {op.places.limits}"
    return lowering.written(value, natural(len(value.shape)), buffer)


@append.register
def _(op: ops.Scatter, lowering: TensorLowering, value: Value) -> Stored:
    x, indices = _dense(lowering, op.x), _dense(lowering, op.indices)
    buffers = [lowering.buffer(each) for each in (x, indices, _dense(lowering, op.updates))]
    places = _native(op.places, x, indices)
    buffer = lowering.native.append("scatter", *buffers, places, op.how, x.dtype)
    lowering.limits[buffer] = f"node '{value.owner}': {op.places.limits}"
    return lowering.written(value, natural(len(value.shape)), buffer)


def _dense(lowering: TensorLowering, value: Value) -> Stored:
    """Return a tensor in the natural order of its axes."""
    stored = lowering.stored(value)
    return lowering.in_order(stored, natural(len(stored.shape)))


def _native(
    places: ops.IndexMap, x: Stored, indices: Stored
) -> tuple[list[int], list[int], list[int], list[tuple[int, int]], int, int]:
    """Return a map of rows, whose strides are bytes."""
    item = np.dtype(x.dtype).itemsize
    strides = [item * stride for stride in places.strides]
    axes = [(size, item * stride) for size, stride in places.axes]
    index_bytes = np.dtype(indices.dtype).itemsize
    extents, index_strides = list(places.extents), list(places.index_strides)
    return extents, strides, index_strides, axes, item * places.row, index_bytes
