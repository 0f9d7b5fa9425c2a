"""Lowers a graph of tensors to the native graph, from which plans are made.

This module decides in which order the axes of each tensor are stored: as the op that computes it
writes them, or as a reader asks for them, in a copy that all readers of that order share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np

from fbg import _fbg
from fbg.arrays import Array
from fbg.graph.lower.layout import (
    Order,
    natural,
    order_after,
    same_order,
    strides_of,
)
from fbg.graph.ops import moves
from fbg.graph.ops import tensors as ops
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

    given: buffers that no op writes. limits: by buffer, what indices must be in an op that a run
    may fail. trials: functions that time convolutions. packer: of weights.
    features: CPU features that kernels use.
    """

    def __init__(self, packer: Packer, features: int) -> None:
        self.native = _fbg.Graph()
        self.packer, self.features = packer, features
        self.owners: dict[int, tuple[str, ...]] = {}
        self.given: set[int] = set()
        self.limits: dict[int, str] = {}
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
        stored.buffer = self.native.append("input", stored.nbytes, "tensor")
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
