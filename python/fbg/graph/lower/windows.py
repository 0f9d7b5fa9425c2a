"""Lowers the ops of tensors that reduce or normalize, and those of windows."""

from __future__ import annotations

import math
from typing import Any

from fbg.graph.lower.layout import channels_last, natural, same_order, with_last
from fbg.graph.lower.tensors import Stored, TensorLowering, append
from fbg.graph.ops import windows
from fbg.graph.ops.common import LayerNorm, Norm
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, shape_of

LONG_PLANE = 64  # pixels of a channel that is normalized where it lies


def _three(values: Sizes, fill: int) -> tuple[int, int, int]:
    """Return one number for each of three axes; missing leading numbers are `fill`."""
    padded = (*[fill] * (3 - len(values)), *values)
    return padded[0], padded[1], padded[2]


def _has_planes(x: Stored) -> bool:
    """Whether the pixels of each channel lie side by side."""
    return same_order(x.shape, x.order, natural(len(x.shape)))


@append.register
def _(op: windows.Window, lowering: TensorLowering, value: Value) -> Stored:
    stored, rank = lowering.stored(op.x), len(value.shape)
    # Pixels of a channel that lie side by side are an image of their own.
    is_row = stored.dtype == "float32" or (stored.dtype == "uint8" and op.integers is not None)
    apart = op.is_whole and is_row and _has_planes(stored)
    order = natural(rank) if apart else channels_last(rank)
    x, shape, g = lowering.in_order(stored, order), shape_of(value), op.geometry
    batch, channels = (math.prod(x.shape[:2]), 1) if apart else x.shape[:2]
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
        sizes,
        op.function,
        batch,
        channels,
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
    if op.function not in windows.WINDOW_FUNCTIONS or x.dtype != "float32":
        axis = (rows, reduced, columns)
        buffer = lowering.native.append("reduce", buffer, axis, x.dtype, op.function)
    else:
        pixels = ((1, 1, reduced), (1, 1, 1), (1, 1, reduced), (1, 1, 1), (1, 1, 1))
        none = ((0, 0, 0), (0, 0, 0))
        buffer = lowering.native.append(
            "window", buffer, (*pixels, *none), op.function, rows, columns
        )
    ones = [kept.index(a) for a in kept if x.shape[a] == 1]
    left = [kept.index(a) for a in (*outer, *inner)]
    return lowering.written(value, (*ones, *left), buffer)


@append.register(windows.Softmax)
@append.register(windows.LogSoftmax)
def _(op: windows.Softmax | windows.LogSoftmax, lowering: TensorLowering, value: Value) -> Stored:
    x = lowering.stored(op.x)
    order = natural(len(x.shape)) if op.flat else with_last(x.order, op.axis)
    rows = math.prod(x.shape[: op.axis]) if op.flat else x.size // x.shape[op.axis]
    buffer = lowering.buffer(lowering.in_order(x, order))
    buffer = lowering.native.append("norm", buffer, op.kind, width=x.size // rows)
    return lowering.written(value, order, buffer)


@append.register
def _(op: Norm, lowering: TensorLowering, value: Value) -> Stored:
    x, norm = lowering.stored(op.x), op.norm
    order = natural(len(x.shape))
    buffer = lowering.buffer(lowering.in_order(x, order))
    bias = norm.bias if isinstance(norm, LayerNorm) else None
    weights = [None if each is None else each.reshape(-1) for each in (norm.weight, bias)]
    buffer = lowering.native.append("norm", buffer, op.kind, *weights, norm.eps)
    return lowering.written(value, order, buffer)


@append.register
def _(op: windows.GroupNorm, lowering: TensorLowering, value: Value) -> Stored:
    x, rank = lowering.stored(op.x), len(value.shape)
    # Channels that are planes stay so where their vectors are long.
    planes = _has_planes(x) and math.prod(x.shape[2:]) >= LONG_PLANE
    order = natural(rank) if planes else channels_last(rank)
    x = lowering.in_order(x, order)
    buffer = lowering.native.append(
        "group_norm",
        lowering.buffer(x),
        x.shape[0],
        math.prod(x.shape[2:]),
        op.groups,
        op.weight,
        op.bias,
        op.eps,
        planes,
    )
    return lowering.written(value, order, buffer)


@append.register
def _(op: windows.GridSample, lowering: TensorLowering, value: Value) -> Stored:
    order = channels_last(len(value.shape))
    x, grid = lowering.in_order(lowering.stored(op.x), order), lowering.stored(op.grid)
    batch, channels, *spatial = x.shape
    buffer = lowering.native.append(
        "grid_sample",
        lowering.buffer(x),
        lowering.buffer(lowering.in_order(grid, natural(len(grid.shape)))),
        batch,
        channels,
        len(spatial),
        _three(tuple(spatial), 1),
        math.prod(value.shape[2:]),
        op.interpolation,
        op.beyond,
        op.align_corners,
    )
    return lowering.written(value, order, buffer)
