"""Ops that move elements."""

from __future__ import annotations

import numpy as np

from fbg.errors import ModelError
from fbg.graph.ops.moves import AxisMap, Concat, Move
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, shape_of, size_of
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder, require_table
from fbg.importers.ops.ranges import slices
from fbg.importers.ops.registry import MOVABLE, NUMBERS, op


@op("Reshape", types=MOVABLE, constants=(1,))
@op("Flatten", types=MOVABLE)
@op("Squeeze", "Unsqueeze", types=MOVABLE, constants=(1,))
def build_reshape(builder: Builder, node: TypedNode) -> None:
    """The same elements in another shape, which inference has found."""
    builder.set_output(node, builder.reshaped(builder.input(node, 0), node.output_shape()))


@op("Identity", "Dropout", types=MOVABLE, constants=(2,))
def build_identity(builder: Builder, node: TypedNode) -> None:
    """The same tensor; dropout does nothing outside of training."""
    training = node.constant(2)
    if training is not None and training.any():
        raise Unsupported(node.node.name, "training")
    builder.set_output(node, builder.input(node, 0))
    if len(node.node.outputs) > 1 and node.node.outputs[1]:  # the elements that are kept
        kind = node.types[node.node.outputs[1]]
        builder.set_output(node, builder.constant(np.ones(node.output_shape(1), kind.dtype)), 1)


@op("Transpose", types=MOVABLE)
def build_transpose(builder: Builder, node: TypedNode) -> None:
    """Another order of axes."""
    x = builder.input(node, 0)
    perm = tuple(node.attribute("perm", range(len(x.shape))[::-1]))
    builder.set_output(node, builder.transposed(x, perm))


@op("Slice", types=MOVABLE, constants=(1, 2, 3, 4))
def build_slice(builder: Builder, node: TypedNode) -> None:
    """x[starts:ends:steps]; attributes before version 10, inputs later."""
    x = builder.input(node, 0)
    given = [builder.constant_input(node, i) for i in range(1, len(node.node.inputs))]
    lists = [None if value is None else value.reshape(-1).tolist() for value in given]
    shape = shape_of(x)
    axes = [AxisMap(extent, axis) for axis, extent in enumerate(shape)]
    for axis, elements in slices(node.node, len(shape), lists).items():
        taken = elements(shape[axis])
        axes[axis] = AxisMap(len(taken), axis, taken.start, taken.step)
    builder.set_output(node, builder.add(Move(x, tuple(axes))))


@op("Split", types=MOVABLE, constants=(1,))
def build_split(builder: Builder, node: TypedNode) -> None:
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
            builder.set_output(node, builder.add(Move(x, tuple(axes))), i)


@op("Concat", types=MOVABLE)
def build_concat(builder: Builder, node: TypedNode) -> None:
    """Tensors one after the other."""
    given = (builder.input(node, i) for i in range(len(node.node.inputs)))
    inputs = tuple(x for x in given if size_of(x))  # such as states before the first token
    axis = node.attribute("axis", 1) % len(node.output_shape())
    builder.set_output(node, builder.add(Concat(inputs, axis)))


@op("Pad", types=MOVABLE, constants=(1, 2, 3))
def build_pad(builder: Builder, node: TypedNode) -> None:
    """Constant, reflected, repeated or wrapped borders; negative pads cut."""
    x = builder.input(node, 0)
    extents = shape_of(x)
    rank = len(extents)
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
            require_table(node, extents[axis] + longer)
    mode = node.attribute("mode", "constant")
    axes = tuple(
        AxisMap(extent, axis)
        if before[axis] == after[axis] == 0
        else _padded_axis(axis, extent, before[axis], after[axis], mode)
        for axis, extent in enumerate(extents)
    )
    filled = mode == "constant" and any(-1 in axis.table for axis in axes)
    builder.set_output(node, builder.add(Move(x, axes, fill if filled else None)))


def _padded_axis(axis: int, extent: int, before: int, after: int, mode: str) -> AxisMap:
    """Return the sources of the elements of an axis, which is first cut and then padded.

    Where nothing is left to be repeated, an edge is that of the axis before it was cut.
    """
    first, last = max(-before, 0), extent - max(-after, 0)
    left = last - first
    positions = np.arange(-max(before, 0), left + max(after, 0))
    if mode == "constant":
        table = np.where((positions >= 0) & (positions < left), positions + first, -1)
    elif mode == "edge":
        table = np.clip(positions + first, 0, extent - 1)
    elif left <= 0:
        raise ModelError(
            f"pads {before} and {after} leave nothing of the {extent} elements of axis {axis} that "
            f"mode '{mode}' could repeat"
        )
    elif mode == "wrap":
        table = positions % left + first
    else:
        period = max(2 * (left - 1), 1)
        folded = positions % period
        table = np.where(folded < left, folded, period - folded) + first
    return AxisMap(len(table), axis, table=tuple(table.tolist()))


@op("Expand", types=MOVABLE, constants=(1,))
@op("Tile", types=MOVABLE, constants=(1,), since=6)
def build_repeat(builder: Builder, node: TypedNode) -> None:
    """Elements repeated along axes."""
    x, shape = builder.input(node, 0), node.output_shape()
    missing = len(shape) - len(x.shape)
    x = builder.reshaped(x, (*[1] * missing, *shape_of(x)))
    axes = []
    for axis, (own, extent) in enumerate(zip(shape_of(x), shape, strict=True)):
        if own == extent:
            axes.append(AxisMap(extent, axis))
        elif own == 1:
            axes.append(AxisMap(extent))
        else:
            require_table(node, extent)
            table = tuple(i % own for i in range(extent))
            axes.append(AxisMap(extent, axis, table=table))
    builder.set_output(node, builder.add(Move(x, tuple(axes))))


@op("Range", types=NUMBERS, constants=(0, 1, 2))
@op("ConstantOfShape", types=("int64",), constants=(0,))
def build_known(builder: Builder, node: TypedNode) -> None:
    """Nothing: these are known as soon as what they read is, unless they are too large."""
    raise Unsupported(node.node.name, "it is too large to be computed beforehand")


@op("DepthToSpace", types=MOVABLE)
def build_depth_to_space(builder: Builder, node: TypedNode) -> None:
    """Blocks of channels become blocks of pixels."""
    x = builder.input(node, 0)
    n, c, h, w = shape_of(x)
    b = node.attribute("blocksize")
    if node.attribute("mode", "DCR") == "DCR":
        split, perm = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        split, perm = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    _rearranged(builder, node, x, split, perm)


@op("SpaceToDepth", types=MOVABLE)
def build_space_to_depth(builder: Builder, node: TypedNode) -> None:
    """Blocks of pixels become blocks of channels."""
    x = builder.input(node, 0)
    n, c, h, w = shape_of(x)
    b = node.attribute("blocksize")
    crd = node.attribute("mode", "DCR") == "CRD"  # the attribute exists since opset 28
    perm = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    _rearranged(builder, node, x, (n, c, h // b, b, w // b, b), perm)


def _rearranged(builder: Builder, node: TypedNode, x: Value, split: Sizes, perm: Sizes) -> None:
    """Set the output to x, reshaped, transposed and reshaped again."""
    turned = builder.transposed(builder.reshaped(x, split), perm)
    builder.set_output(node, builder.reshaped(turned, node.output_shape()))
