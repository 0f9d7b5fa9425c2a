"""Lowers a graph of tensors to the native graph, from which plans are made.

This module decides in which order the axes of each tensor are stored: as the op that computes it
writes them, or as a reader asks for them, in a copy that all readers of that order share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.arrays import Array
from fbg.graph.lower.layout import (
    Order,
    channels_last,
    natural,
    order_after,
    same_order,
    strides_of,
    with_last,
)
from fbg.graph.ops import moves, windows
from fbg.graph.ops import tensors as ops
from fbg.graph.ops.common import LayerNorm, Norm
from fbg.graph.ops.moves import AxisMap
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Sizes, shape_of
from fbg.graph.packed_weights import Packer
from fbg.tuning.trials import ConvTrial


@dataclass(eq=False)
class Stored:
    """A tensor in a buffer, in one order of its axes. bool is stored as uint8.

    array: a constant, without a buffer until an op reads it. copies: the tensor in other orders.
    """

    shape: Sizes
    dtype: str
    order: Order
    buffer: int | None = None
    array: Array | None = None
    copies: dict[Order, Stored] = field(default_factory=dict)

    @property
    def strides(self) -> list[int]:
        """The distance between elements along each axis."""
        return strides_of(self.shape, self.order)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * np.dtype(self.dtype).itemsize

    @property
    def native_type(self) -> str:
        """Type of the elements as the native graph calls it."""
        return "uint8" if self.dtype == "bool" else self.dtype


# A part of an arrangement: a tensor, the element of the result at which it begins, and where the
# elements along each axis come from.
Arranged = tuple[Stored, Sequence[int], Sequence[AxisMap]]


class TensorLowering:
    """The native graph while it is built. owners: by buffer, the nodes to which
    each of its ops belongs. nodes: the nodes of the op that is appended next.

    given: buffers that no op writes. trials: functions that time convolutions. packer: of weights.
    features: CPU features that kernels use.
    """

    def __init__(self, packer: Packer, features: int) -> None:
        self.native = _fbg.Graph()
        self.packer, self.features = packer, features
        self.owners: dict[int, tuple[str, ...]] = {}
        self.given: set[int] = set()
        self.trials: list[ConvTrial] = []
        self._stored: dict[Value, Stored] = {}
        self.nodes: tuple[str, ...] = ()

    def lower(self, value: Value) -> None:
        """Append the op of a value; its inputs have been lowered already."""
        self.nodes = value.nodes
        self._stored[value] = append(value.op, self, value)

    def bring(self, value: Value) -> None:
        """Declare a value that every run passes, as the next of its inputs."""
        shape = shape_of(value)
        stored = Stored(shape, value.dtype, natural(len(shape)))
        stored.buffer = self.native.append("tensor_input", stored.nbytes)
        self.given.add(stored.buffer)
        self._stored[value] = stored

    def can_lower(self, value: Value) -> bool:
        """Whether all inputs of the op have been lowered or are known."""
        return all(x in self._stored or isinstance(x.op, ops.Constant) for x in value.op.inputs)

    def stored(self, value: Value) -> Stored:
        """Return the tensor of a value; a constant is stored when it is first read."""
        if value not in self._stored:
            assert isinstance(value.op, ops.Constant)
            shape = shape_of(value)
            order = natural(len(shape))
            self._stored[value] = Stored(shape, value.dtype, order, array=value.op.array)
        return self._stored[value]

    def own(self, buffer: int) -> int:
        """Record which nodes a buffer belongs to, and return it."""
        self.owners[buffer] = self.nodes
        return buffer

    def written(self, value: Value, order: Order, buffer: int) -> Stored:
        """Return the result of an op that has been appended."""
        return Stored(shape_of(value), value.dtype, order, self.own(buffer))

    def buffer(self, stored: Stored) -> int:
        """Return the buffer of a tensor, in its present order."""
        if stored.buffer is None:
            assert stored.array is not None
            dense = stored.array.transpose(stored.order) if stored.order else stored.array
            stored.buffer = self.native.append("constant", np.ascontiguousarray(dense))
            self.given.add(stored.buffer)
        return stored.buffer

    def in_order(self, stored: Stored, order: Order) -> Stored:
        """Return the tensor with its axes in that order."""
        if stored.order == order:
            return stored
        if same_order(stored.shape, stored.order, order):
            return Stored(stored.shape, stored.dtype, order, self.buffer(stored))
        found = stored.copies.get(order)
        if found is None:
            if stored.array is not None:
                found = Stored(stored.shape, stored.dtype, order, array=stored.array)
            else:
                axes = [AxisMap(extent, axis) for axis, extent in enumerate(stored.shape)]
                whole = [(stored, [0] * len(axes), axes)]
                found = self.arrange(whole, stored.shape, order)
            stored.copies[order] = found
        return found

    def arrange(
        self, parts: Sequence[Arranged], shape: Sizes, order: Order, fill: bytes = b""
    ) -> Stored:
        """Return a tensor whose elements come from others. fill: those that no part writes."""
        dtype = parts[0][0].dtype
        to_strides = strides_of(shape, order)
        buffers: list[int] = []
        native = []
        for stored, begin, axes in parts:
            from_strides = stored.strides
            start, items = 0, []
            for axis, to_stride in zip(axes, to_strides, strict=True):
                stride = 0 if axis.source is None else from_strides[axis.source]
                start += axis.start * stride
                table = [i * stride if i >= 0 else -1 for i in axis.table]
                items.append((axis.extent, to_stride, axis.step * stride, table))
            to = sum(b * s for b, s in zip(begin, to_strides, strict=True))
            native.append((len(buffers), to, start, items))
            buffers.append(self.buffer(stored))
        size, item = math.prod(shape), np.dtype(dtype).itemsize
        buffer = self.native.append("arrange", buffers, size, item, native, fill)
        return Stored(shape, dtype, order, self.own(buffer))

    def copied(self, stored: Stored) -> int:
        """Return a new buffer for a tensor."""
        axes: list[tuple[int, int, int, list[int]]] = [(stored.size, 1, 1, [])]
        item = np.dtype(stored.dtype).itemsize
        part = (0, 0, 0, axes)
        buffers = [self.buffer(stored)]
        return self.own(self.native.append("arrange", buffers, stored.size, item, [part]))


@singledispatch
def append(op: Op, lowering: TensorLowering, value: Value) -> Stored:
    """Append an op, and return the tensor of its result."""
    raise TypeError(f"{op.kind}: {type(op).__name__} is not an op of tensors")


# Movement ----------------------------------------------------------------------------------------


@append.register
def _(op: moves.Reshape, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    order = order_after(x.shape, x.order, op.shape)
    if order is None:
        x = lowering.in_order(x, natural(len(x.shape)))
        order = natural(len(op.shape))
    return Stored(op.shape, value.dtype, order, lowering.buffer(x))


@append.register
def _(op: moves.Transpose, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    place = {axis: i for i, axis in enumerate(op.perm)}
    order = tuple(place[axis] for axis in x.order)
    return Stored(shape_of(value), value.dtype, order, lowering.buffer(x))


@append.register
def _(op: moves.Move, lowering: TensorLowering, value: Value) -> Stored:
    x, shape = lowering.stored(op.x), shape_of(value)
    return lowering.arrange([(x, [0] * len(shape), op.axes)], shape, x.order, op.pattern())


@append.register
def _(op: moves.Concat, lowering: TensorLowering, value: Value) -> Stored:
    inputs = [lowering.stored(x) for x in op.values]
    shape = shape_of(value)
    order = next((x.order for x in inputs if x.array is None), inputs[0].order)
    parts: list[Arranged] = []
    start = 0
    for x in inputs:
        begin = [0] * len(shape)
        begin[op.axis] = start
        start += x.shape[op.axis]
        parts.append((x, begin, [AxisMap(extent, a) for a, extent in enumerate(x.shape)]))
    return lowering.arrange(parts, shape, order)


@append.register
def _(op: moves.Gather, lowering: TensorLowering, value: Value) -> Stored:
    x, indices = lowering.stored(op.x), lowering.stored(op.indices)
    table = lowering.in_order(x, natural(len(x.shape)))
    picked = lowering.in_order(indices, natural(len(indices.shape)))
    buffer = lowering.native.append(
        "gather",
        lowering.buffer(table),
        lowering.buffer(picked),
        outer=math.prod(x.shape[: op.axis]),
        extent=x.shape[op.axis],
        count=indices.size,
        row_bytes=math.prod(x.shape[op.axis + 1 :]) * np.dtype(x.dtype).itemsize,
        index_bytes=np.dtype(indices.dtype).itemsize,
    )
    return lowering.written(value, natural(len(value.shape)), buffer)


@append.register
def _(op: moves.Resample, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    order = x.order or natural(len(x.shape))
    at = order.index(op.axis)
    buffer = lowering.native.append(
        "resample",
        lowering.buffer(x),
        math.prod(x.shape[a] for a in order[:at]),
        x.shape[op.axis],
        len(op.sources),
        math.prod(x.shape[a] for a in order[at + 1 :]),
        op.sources.reshape(-1),
        op.weights.reshape(-1),
    )
    return lowering.written(value, order, buffer)


@append.register
def _(op: ops.Words, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.in_order(lowering.stored(op.x), natural(len(op.x.shape)))
    return Stored(shape_of(value), value.dtype, natural(len(value.shape)), lowering.buffer(x))


@append.register
def _(op: ops.Convert, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    if op.dtype == "float32":
        buffer = lowering.native.append("int64_to_float", lowering.buffer(x))
        return lowering.written(value, x.order, buffer)
    lower: list[tuple[int, int, int, list[int]]] = [(x.size, 1, 2, [])]  # an element has two words
    buffers, part = [lowering.buffer(x)], (0, 0, 0, lower)
    buffer = lowering.native.append("arrange", buffers, x.size, 4, [part])
    return lowering.written(value, x.order, buffer)


# Reductions --------------------------------------------------------------------------------------


def _three(values: Sizes, fill: int) -> tuple[int, int, int]:
    """Return one number for each of three axes; missing leading numbers are `fill`."""
    padded = (*[fill] * (3 - len(values)), *values)
    return padded[0], padded[1], padded[2]


@append.register
def _(op: windows.Window, lowering: TensorLowering, value: Value) -> Stored:
    order = channels_last(len(value.shape))
    x, shape, g = lowering.in_order(lowering.stored(op.x), order), shape_of(value), op.geometry
    sizes = (
        _three(x.shape[2:], 1),
        _three(shape[2:], 1),
        _three(g.kernel, 1),
        _three(g.stride, 1),
        _three(g.dilation, 1),
        _three(g.before, 0),
        _three(g.after, 0),
    )
    more: dict[str, Any] = {}
    if (integers := op.integers) is not None:
        more = {"factor": integers.factor, "zero_point": integers.zero_point}
        if integers.rounded is None:
            more["float_output"] = True
        else:
            more["output_zero_point"] = integers.rounded
    buffer = lowering.native.append(
        "window",
        lowering.buffer(x),
        op.function,
        x.shape[0],
        x.shape[1],
        sizes,
        op.count_padding,
        x.native_type,
        **more,
    )
    return lowering.written(value, order, buffer)


@append.register
def _(op: windows.Reduce, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    kept = [axis for axis in range(len(x.shape)) if axis not in op.axes]
    stored = [axis for axis in x.order if x.shape[axis] != 1]
    first = next((i for i, axis in enumerate(stored) if axis in op.axes), len(stored))
    inner = [axis for axis in stored[first:] if axis in kept]
    outer = [axis for axis in stored if axis in kept and axis not in inner]
    middle = [axis for axis in stored if axis in op.axes]
    order = (*[a for a in x.order if x.shape[a] == 1], *outer, *middle, *inner)
    buffer = lowering.buffer(lowering.in_order(x, order))
    rows, reduced, columns = (
        math.prod(x.shape[a] for a in part) for part in (outer, middle, inner)
    )
    if columns == 1:
        buffer = lowering.native.append("reduce_rows", buffer, op.function, rows, reduced)
    else:
        pixels = ((1, 1, reduced), (1, 1, 1), (1, 1, reduced), (1, 1, 1), (1, 1, 1))
        none = ((0, 0, 0), (0, 0, 0))
        buffer = lowering.native.append(
            "window", buffer, op.function, rows, columns, (*pixels, *none)
        )
    ones = [kept.index(a) for a in kept if x.shape[a] == 1]
    left = [kept.index(a) for a in (*outer, *inner)]
    return lowering.written(value, (*ones, *left), buffer)


@append.register
def _(op: windows.Softmax, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    order = natural(len(x.shape)) if op.flat else with_last(x.order, op.axis)
    rows = math.prod(x.shape[: op.axis]) if op.flat else x.size // x.shape[op.axis]
    buffer = lowering.buffer(lowering.in_order(x, order))
    buffer = lowering.native.append("softmax_rows", buffer, rows, x.size // rows)
    return lowering.written(value, order, buffer)


@append.register
def _(op: Norm, lowering: TensorLowering, value: Value) -> Stored:
    x, norm = lowering.stored(op.x), op.norm
    if not isinstance(norm, LayerNorm):
        raise TypeError(f"{op.kind} is not an op of tensors")
    order = natural(len(x.shape))
    buffer = lowering.buffer(lowering.in_order(x, order))
    bias = None if norm.bias is None else norm.bias.reshape(-1)
    rows, weight = x.size // norm.weight.size, norm.weight.reshape(-1)
    buffer = lowering.native.append("layer_norm_rows", buffer, rows, weight, bias, norm.eps)
    return lowering.written(value, order, buffer)
