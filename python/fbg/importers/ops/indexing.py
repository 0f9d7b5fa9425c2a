"""Ops that move elements by indices, and those that find indices."""

from __future__ import annotations

import math

import numpy as np

from fbg.graph.ops.elements import (
    Gather,
    IndexMap,
    Scatter,
    TopPositions,
    elements_along,
    rows_along,
    rows_of_places,
)
from fbg.graph.ops.moves import AxisMap, Move
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import shape_of, size_of
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder, constant_of, require_table
from fbg.importers.ops.elementwise import applied, chosen, converted
from fbg.importers.ops.ranges import taken_by
from fbg.importers.ops.registry import MOVABLE, NUMBERS, op

_REDUCTIONS = {"none": "replace", "add": "add", "mul": "multiply", "max": "max", "min": "min"}


@op("Gather", types=MOVABLE)
def build_gather(builder: Builder, node: TypedNode) -> None:
    """x[..., indices, ...]."""
    x, indices = builder.input(node, 0), builder.input(node, 1)
    axis = node.attribute("axis", 0) % len(x.shape)
    extents = shape_of(x)
    known = constant_of(indices)
    if known is None:
        return _gathered(builder, node, x, indices, rows_along(extents, axis, shape_of(indices)))
    extent = extents[axis]
    require_table(node, known.size)
    if known.size == 0 or known.min() < -extent or known.max() >= extent:
        raise Unsupported(node.node.name, "indices out of range")
    flat = tuple(int(i) % extent for i in known.reshape(-1))
    axes = [AxisMap(size, a) for a, size in enumerate(extents)]
    axes[axis] = AxisMap(len(flat), axis, table=flat)
    picked = builder.add(Move(x, tuple(axes)))
    builder.set_output(node, builder.reshaped(picked, node.output_shape()))


def _gathered(
    builder: Builder, node: TypedNode, x: Value, indices: Value, places: IndexMap
) -> None:
    _require_integers(node, indices)
    builder.set_output(node, builder.add(Gather(x, indices, places, node.output_shape())))


def _require_integers(node: TypedNode, indices: Value) -> None:
    if indices.dtype not in ("int32", "int64"):
        raise Unsupported(node.node.name, f"indices of {indices.dtype}")


@op("Compress", types=MOVABLE)
def build_compress(builder: Builder, node: TypedNode) -> None:
    """The slices along an axis, or the elements, where a condition that is known is true."""
    x, condition = builder.input(node, 0), builder.constant_input(node, 1)
    assert condition is not None
    axis = node.attribute("axis")
    if axis is None:
        x, axis = builder.reshaped(x, (size_of(x),)), 0
    extents = shape_of(x)
    axis %= len(extents)
    require_table(node, extents[axis])
    taken = tuple(taken_by(condition, extents[axis]))
    axes = [AxisMap(size, a) for a, size in enumerate(extents)]
    axes[axis] = AxisMap(len(taken), axis, table=taken)
    builder.set_output(node, builder.add(Move(x, tuple(axes))))


@op("ReverseSequence", types=MOVABLE)
def build_reverse_sequence(builder: Builder, node: TypedNode) -> None:
    """The first steps of each sequence, as many as it is long, in reverse order."""
    x, lengths = builder.input(node, 0), builder.input(node, 1)
    time, batch = node.attribute("time_axis", 0), node.attribute("batch_axis", 1)
    shape = shape_of(x)
    steps, sequences = shape[time], shape[batch]
    row = math.prod(shape[2:])
    distances = (shape[1] * row, row)
    number = np.arange(steps)[:, None]
    position, end, zero = (builder.constant(np.asarray(v)) for v in (number, number * 0 + steps, 0))
    own = builder.reshaped(lengths, (1, sequences))
    back = applied(builder, "subtract", own, builder.constant(number + 1))
    is_before = applied(builder, "less", position, own)
    indices = chosen(builder, is_before, back, position)
    # No index is right for a sequence of a negative length.
    indices = chosen(builder, applied(builder, "less", own, zero), end, indices)
    strides, index_strides = (0, distances[batch]), (sequences, 1)
    extents = (steps, sequences)
    if time == 1:
        extents, strides, index_strides = extents[::-1], strides[::-1], index_strides[::-1]
    places = IndexMap(extents, strides, index_strides, ((steps, distances[time]),), row)
    _gathered(builder, node, x, indices, places)


@op("GatherElements", types=MOVABLE)
def build_gather_elements(builder: Builder, node: TypedNode) -> None:
    """x[i][indices[i][j]] along the second axis, and so on."""
    x, indices = builder.input(node, 0), builder.input(node, 1)
    axis = node.attribute("axis", 0) % len(x.shape)
    _require_smaller(node, x, indices, axis)
    places = elements_along(shape_of(x), axis, shape_of(indices))
    _gathered(builder, node, x, indices, places)


def _require_smaller(node: TypedNode, x: Value, indices: Value, axis: int) -> None:
    """Raise Unsupported unless indices name elements of x in each place along other axes."""
    pairs = list(zip(shape_of(x), shape_of(indices), strict=False))
    fits = all(own >= size for a, (own, size) in enumerate(pairs) if a != axis)
    if len(x.shape) != len(indices.shape) or not fits:
        raise Unsupported(node.node.name, f"indices of shape {indices.shape} for {x.shape}")


@op("GatherND", types=MOVABLE)
def build_gather_nd(builder: Builder, node: TypedNode) -> None:
    """Slices of x at whole places."""
    x, indices = builder.input(node, 0), builder.input(node, 1)
    places = _places(node, x, indices, node.attribute("batch_dims", 0))
    _gathered(builder, node, x, indices, places)


def _places(node: TypedNode, x: Value, indices: Value, batch: int) -> IndexMap:
    shape, places = shape_of(x), shape_of(indices)
    fits = 0 <= batch < len(places) and batch + places[-1] <= len(shape)
    if not fits or shape[:batch] != places[:batch]:
        raise Unsupported(node.node.name, f"indices of shape {places} for {shape}")
    return rows_of_places(shape, batch, places)


@op("ScatterElements", "Scatter", types=MOVABLE)
def build_scatter_elements(builder: Builder, node: TypedNode) -> None:
    """x with other elements in the places of a GatherElements."""
    x, indices, updates = (builder.input(node, i) for i in range(3))
    axis = node.attribute("axis", 0) % len(x.shape)
    _require_smaller(node, x, indices, axis)
    places = elements_along(shape_of(x), axis, shape_of(indices))
    _scattered(builder, node, (x, indices, updates), places)


@op("ScatterND", types=MOVABLE)
def build_scatter_nd(builder: Builder, node: TypedNode) -> None:
    """x with other slices in the places of a GatherND."""
    x, indices, updates = (builder.input(node, i) for i in range(3))
    _scattered(builder, node, (x, indices, updates), _places(node, x, indices, 0))


def _scattered(
    builder: Builder, node: TypedNode, values: tuple[Value, Value, Value], places: IndexMap
) -> None:
    x, indices, updates = values
    _require_integers(node, indices)
    how = _REDUCTIONS.get(node.attribute("reduction", "none"))
    if how is None or (how != "replace" and x.dtype not in NUMBERS):
        raise Unsupported(node.node.name, f"reduction '{node.attribute('reduction')}'")
    builder.set_output(node, builder.add(Scatter(x, indices, updates, places, how)))


@op("TopK", types=NUMBERS, constants=(1,))
def build_top_k(builder: Builder, node: TypedNode) -> None:
    """The greatest or the least elements along an axis, and their positions."""
    x = builder.input(node, 0)
    axis = node.attribute("axis", -1) % len(x.shape)
    given = builder.constant_input(node, 1)
    k = node.attribute("k") if given is None else int(given.reshape(-1)[0])
    positions = builder.add(TopPositions(x, axis, k, bool(node.attribute("largest", 1))))
    shape = shape_of(positions)
    values = Gather(x, positions, elements_along(shape_of(x), axis, shape), shape)
    results = [builder.add(values), positions]
    for index, name in enumerate(node.node.outputs):
        if name:
            builder.set_output(node, results[index], index)


@op("OneHot", types=(*NUMBERS,), constants=(1,))
def build_one_hot(builder: Builder, node: TypedNode) -> None:
    """The second of two values where a position along a new axis is an index, else the first."""
    indices, values = builder.input(node, 0), builder.input(node, 2)
    given = builder.constant_input(node, 1)
    assert given is not None
    if values.dtype not in MOVABLE:
        raise Unsupported(node.node.name, f"elements of {values.dtype}")
    depth, rank = int(given.reshape(-1)[0]), len(indices.shape)
    require_table(node, depth)
    axis = node.attribute("axis", -1) % (rank + 1)
    shape = shape_of(indices)
    wide = builder.reshaped(converted(builder, indices, "int64"), (*shape[:axis], 1, *shape[axis:]))
    places = np.arange(depth).reshape(-1, *[1] * (rank - axis))
    found = [applied(builder, "equal", wide, builder.constant(p)) for p in (places, places - depth)]
    is_hot = builder.apply("or", *found, dtype=np.bool_)
    off, on = (
        builder.reshaped(builder.add(Move(values, (AxisMap(1, 0, start=i),))), ()) for i in (0, 1)
    )
    builder.set_output(node, chosen(builder, is_hot, on, off))


@op("Trilu", types=MOVABLE, constants=(1,))
def build_triangle(builder: Builder, node: TypedNode) -> None:
    """The elements on one side of a diagonal, and zeros on the other."""
    x, given = builder.input(node, 0), builder.constant_input(node, 1)
    k = 0 if given is None else int(given.reshape(-1)[0])
    rows, columns = shape_of(x)[-2:]
    k = min(max(k, -rows), columns)
    kept = np.tri(rows, columns, k - 1, bool)
    kept = ~kept if node.attribute("upper", 1) else np.tri(rows, columns, k, bool)
    zero = builder.constant(np.zeros((), x.dtype))
    builder.set_output(node, chosen(builder, builder.constant(kept), x, zero))


@op("EyeLike", types=MOVABLE)
def build_eye(builder: Builder, node: TypedNode) -> None:
    """Ones on a diagonal, and zeros elsewhere."""
    dtype = node.types[node.node.outputs[0]].dtype
    if str(dtype) not in MOVABLE:
        raise Unsupported(node.node.name, f"elements of {dtype}")
    rows, columns = node.output_shape()
    k = min(max(node.attribute("k", 0), -rows), columns)
    builder.set_output(node, builder.constant(np.eye(rows, columns, k).astype(dtype)))
