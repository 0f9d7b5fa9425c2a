"""Ops that move elements: views where the order of axes allows it, else one `arrange`."""

from __future__ import annotations

import math

import numpy as np

from fbg import _fbg
from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.ops.builder import AxisMap, Builder, natural, require_table
from fbg.importers.ops.ranges import slices
from fbg.importers.ops.registry import MOVABLE, op
from fbg.importers.ops.value import Order, Quantized, Value

__all__ = ["moved", "reshaped"]

Shape = tuple[int, ...]


def reshaped(builder: Builder, x: Value, shape: Shape) -> Value:
    """Return x in another shape: a view where runs of axes stay together."""
    if (constant := x.constant) is not None:
        return builder.from_constant(constant.reshape(shape))
    order = _order_after(x, shape)
    if order is None:
        x = builder.in_order(x, natural(len(x.shape)))
        order = natural(len(shape))
    return builder.alias(x, shape, order)


def _order_after(x: Value, shape: Shape) -> Order | None:
    """Return the order of axes in which a reshaped tensor lies, or None where it must be copied.

    The axes of both shapes are divided into the smallest groups of equal size. A group can be
    reshaped where it lies if its axes stand together in memory, in their natural order.
    """
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(x.shape) or j < len(shape):
        old: list[int] = []
        new: list[int] = []
        a = b = 1
        while not (old or new) or a != b:
            if (a <= b and i < len(x.shape)) or j >= len(shape):
                if i >= len(x.shape):
                    return None
                a *= x.shape[i]
                old.append(i)
                i += 1
            else:
                b *= shape[j]
                new.append(j)
                j += 1
        groups.append((old, new))
    result: list[int] = []
    stored = [axis for axis in x.order if x.shape[axis] != 1]
    at = 0
    while at < len(stored):
        group = next(g for g in groups if stored[at] in g[0])
        wanted = [axis for axis in group[0] if x.shape[axis] != 1]
        if stored[at : at + len(wanted)] != wanted:
            return None
        result += group[1]
        at += len(wanted)
    missing = [axis for axis in range(len(shape)) if axis not in result]
    return (*missing, *result)


@op("Reshape", types=MOVABLE, constants=(1,))
@op("Flatten", types=MOVABLE)
@op("Squeeze", "Unsqueeze", types=MOVABLE, constants=(1,))
def build_reshape(builder: Builder, node: Op) -> None:
    """The same elements in another shape, which inference has found."""
    builder.set_output(node, reshaped(builder, builder.input(node, 0), node.output_shape()))


@op("Identity", "Dropout", types=MOVABLE, constants=(2,))
def build_identity(builder: Builder, node: Op) -> None:
    """The same tensor; dropout does nothing outside of training."""
    training = node.constant(2)
    if len(list(filter(None, node.node.outputs))) > 1 or (training is not None and training.any()):
        raise Unsupported(node.node.name, "a mask")
    x = builder.input(node, 0)
    builder.set_output(node, builder.alias(x, x.shape, x.order))


@op("Transpose", types=MOVABLE)
def build_transpose(builder: Builder, node: Op) -> None:
    """Another order of axes: nothing moves until somebody needs it to."""
    x = builder.input(node, 0)
    perm = tuple(node.attribute("perm", range(len(x.shape))[::-1]))
    if (constant := x.constant) is not None:
        return builder.set_output(node, builder.from_constant(constant.transpose(perm)))
    place = {axis: i for i, axis in enumerate(perm)}
    order = tuple(place[axis] for axis in x.order)
    builder.set_output(node, builder.alias(x, node.output_shape(), order))


def moved(
    builder: Builder, x: Value, shape: Shape, axes: list[AxisMap], fill: float | None = None
) -> Value:
    """Return elements of x in another place, in the order of axes that x has.

    Integers that stand for real numbers are moved themselves; `fill` is then a real number, too.
    """
    if x.quantized is not None and x.buffer is None:
        q = x.quantized
        point = None if fill is None else q.integer_of(fill)
        if fill is None or point is not None:
            integers = moved(builder, q.integers, shape, axes, point)
            return Value(
                shape,
                x.dtype,
                integers.order,
                quantized=Quantized(integers, q.scale, q.zero_point),
            )
    return builder.arrange([(x, [0] * len(shape), axes)], shape, x.order, fill)


@op("Slice", types=MOVABLE, constants=(1, 2, 3, 4))
def build_slice(builder: Builder, node: Op) -> None:
    """x[starts:ends:steps]; attributes before version 10, inputs later."""
    x = builder.input(node, 0)
    given = [builder.constant_input(node, i) for i in range(1, len(node.node.inputs))]
    lists = [None if value is None else value.reshape(-1).tolist() for value in given]
    axes = [AxisMap(extent, axis) for axis, extent in enumerate(x.shape)]
    for axis, elements in slices(node.node, len(x.shape), lists).items():
        taken = elements(x.shape[axis])
        axes[axis] = AxisMap(len(taken), axis, taken.start, taken.step)
    builder.set_output(node, moved(builder, x, node.output_shape(), axes))


@op("Split", types=MOVABLE, constants=(1,))
def build_split(builder: Builder, node: Op) -> None:
    """Consecutive slices along an axis."""
    x = builder.input(node, 0)
    axis = node.attribute("axis", 0) % len(x.shape)
    start = 0
    for i, name in enumerate(node.node.outputs):
        shape = node.output_shape(i)
        axes = [AxisMap(extent, a) for a, extent in enumerate(shape)]
        axes[axis] = AxisMap(shape[axis], axis, start)
        start += shape[axis]
        if name:
            builder.set_output(node, moved(builder, x, shape, axes), i)


@op("Concat", types=MOVABLE)
def build_concat(builder: Builder, node: Op) -> None:
    """Tensors one after the other; integers of one scale stay integers."""
    inputs = [builder.input(node, i) for i in range(len(node.node.inputs))]
    shape = node.output_shape()
    axis = node.attribute("axis", 1) % len(shape)
    first = inputs[0].quantized
    if first is not None and all(
        v.quantized is not None
        and v.buffer is None
        and (v.quantized.scale, v.quantized.zero_point) == (first.scale, first.zero_point)
        and v.quantized.integers.dtype == first.integers.dtype
        for v in inputs
    ):
        integers = [v.quantized.integers for v in inputs if v.quantized is not None]
        alone = all(value.uses <= 1 for value in inputs)
        found = builder.joined(integers, shape, axis) if alone else None
        joined = _concat(builder, integers, shape, axis) if found is None else found
        quantized = Quantized(joined, first.scale, first.zero_point)
        result = Value(shape, inputs[0].dtype, joined.order, quantized=quantized)
    else:
        found = builder.joined(inputs, shape, axis)
        result = _concat(builder, inputs, shape, axis) if found is None else found
    builder.set_output(node, result)


def _concat(builder: Builder, inputs: list[Value], shape: Shape, axis: int) -> Value:
    order = next((v.order for v in inputs if not v.is_constant), inputs[0].order)
    parts, start = [], 0
    for value in inputs:
        begin = [0] * len(shape)
        begin[axis] = start
        start += value.shape[axis]
        axes = [AxisMap(extent, a) for a, extent in enumerate(value.shape)]
        parts.append((value, begin, axes))
    return builder.arrange(parts, shape, order)


@op("Pad", types=MOVABLE, constants=(1, 2, 3))
def build_pad(builder: Builder, node: Op) -> None:
    """Constant, reflected, repeated or wrapped borders; negative pads cut."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    given = builder.constant_input(node, 1)
    values = node.attribute("pads", node.attribute("paddings")) if given is None else given.tolist()
    constant = builder.constant_input(node, 2)
    fill = node.attribute("value", 0.0) if constant is None else constant.reshape(-1)[0].item()
    chosen = builder.constant_input(node, 3)
    axes_given = range(rank) if chosen is None else [int(a) % rank for a in chosen.reshape(-1)]
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes_given):
        before[axis], after[axis] = int(values[i]), int(values[len(axes_given) + i])
        longer = max(before[axis], 0) + max(after[axis], 0)
        if longer:
            require_table(node, x.shape[axis] + longer)
    mode = node.attribute("mode", "constant")
    axes = [
        _padded_axis(axis, extent, before[axis], after[axis], mode)
        for axis, extent in enumerate(x.shape)
    ]
    shape = node.output_shape()
    constant_mode = mode == "constant" and any(-1 in axis.table for axis in axes)
    builder.set_output(node, moved(builder, x, shape, axes, fill if constant_mode else None))


def _padded_axis(axis: int, extent: int, before: int, after: int, mode: str) -> AxisMap:
    """Return where the elements of an axis come from, which is cut first and padded then."""
    if before == after == 0:
        return AxisMap(extent, axis)
    first = max(-before, 0)
    extent -= first + max(-after, 0)
    positions = np.arange(-max(before, 0), extent + max(after, 0))
    if mode == "constant":
        table = np.where((positions >= 0) & (positions < extent), positions, -1 - first)
    elif mode == "edge":
        table = np.clip(positions, 0, extent - 1)
    elif mode == "wrap":
        table = positions % extent
    else:
        period = max(2 * (extent - 1), 1)
        folded = positions % period
        table = np.where(folded < extent, folded, period - folded)
    return AxisMap(len(table), axis, table=tuple(int(i) + first for i in table))


@op("Expand", types=MOVABLE, constants=(1,))
@op("Tile", types=MOVABLE, constants=(1,), since=6)
def build_repeat(builder: Builder, node: Op) -> None:
    """Elements repeated along axes."""
    x, shape = builder.input(node, 0), node.output_shape()
    missing = len(shape) - len(x.shape)
    if missing:
        x = reshaped(builder, x, (*[1] * missing, *x.shape))
    axes = []
    for axis, (own, extent) in enumerate(zip(x.shape, shape, strict=True)):
        if own == extent:
            axes.append(AxisMap(extent, axis))
        elif own == 1:
            axes.append(AxisMap(extent))
        else:
            require_table(node, extent)
            table = tuple(i % own for i in range(extent))
            axes.append(AxisMap(extent, axis, table=table))
    builder.set_output(node, moved(builder, x, shape, axes))


@op("Gather", types=MOVABLE)
def build_gather(builder: Builder, node: Op) -> None:
    """x[..., indices, ...]."""
    x, indices = builder.input(node, 0), builder.input(node, 1)
    axis = node.attribute("axis", 0) % len(x.shape)
    extent = x.shape[axis]
    known = indices.constant
    if known is None:
        return builder.set_output(node, _gathered(builder, node, x, indices, axis))
    require_table(node, known.size)
    if known.size == 0 or known.min() < -extent or known.max() >= extent:
        raise Unsupported(node.node.name, "indices out of range")
    flat = tuple(int(i) % extent for i in known.reshape(-1))
    axes = [AxisMap(size, a) for a, size in enumerate(x.shape)]
    axes[axis] = AxisMap(len(flat), axis, table=flat)
    shape = (*x.shape[:axis], len(flat), *x.shape[axis + 1 :])
    builder.set_output(node, reshaped(builder, moved(builder, x, shape, axes), node.output_shape()))


def _gathered(builder: Builder, node: Op, x: Value, indices: Value, axis: int) -> Value:
    """Return slices of x along an axis by indices that every run brings."""
    if indices.origin is None or indices.dtype not in (np.int32, np.int64):
        raise Unsupported(node.node.name, "indices that are computed")
    extent = x.shape[axis]
    builder.indices[indices.origin] = min(extent, builder.indices.get(indices.origin, extent))
    table = builder.in_order(x, natural(len(x.shape)))
    picked = builder.in_order(indices, natural(len(indices.shape)))
    buffer = _fbg.tensor_gather(
        builder.graph,
        builder.buffer(table),
        builder.buffer(picked),
        outer=math.prod(x.shape[:axis]),
        extent=extent,
        count=indices.size,
        row_bytes=math.prod(x.shape[axis + 1 :]) * x.dtype.itemsize,
        index_bytes=indices.dtype.itemsize,
    )
    shape = node.output_shape()
    return Value(shape, x.dtype, natural(len(shape)), buffer=builder.append(buffer))


@op("DepthToSpace", types=MOVABLE)
def build_depth_to_space(builder: Builder, node: Op) -> None:
    """Blocks of channels become blocks of pixels."""
    x = builder.input(node, 0)
    n, c, h, w = x.shape
    b = node.attribute("blocksize")
    if node.attribute("mode", "DCR") == "DCR":
        split, perm = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        split, perm = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    _rearranged(builder, node, x, split, perm)


@op("SpaceToDepth", types=MOVABLE)
def build_space_to_depth(builder: Builder, node: Op) -> None:
    """Blocks of pixels become blocks of channels."""
    x = builder.input(node, 0)
    n, c, h, w = x.shape
    b = node.attribute("blocksize")
    crd = node.attribute("mode", "DCR") == "CRD"  # since opset 28
    perm = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    _rearranged(builder, node, x, (n, c, h // b, b, w // b, b), perm)


def _rearranged(builder: Builder, node: Op, x: Value, split: Shape, perm: tuple[int, ...]) -> None:
    """Set the output to x, reshaped, transposed and reshaped again."""
    parts = reshaped(builder, x, split)
    place = {axis: i for i, axis in enumerate(perm)}
    shape = tuple(split[axis] for axis in perm)
    turned = builder.alias(parts, shape, tuple(place[axis] for axis in parts.order))
    builder.set_output(node, reshaped(builder, turned, node.output_shape()))
