"""MaxPool and AveragePool, of float32 and of integers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fbg.graph.ops.elements import Function, Gather, IndexMap, Scatter, elements_along
from fbg.graph.ops.moves import AxisMap, Move
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, shape_of
from fbg.graph.ops.windows import Geometry, Reduce, Window
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.borders import widened, without_borders
from fbg.importers.ops.builder import Builder, require_table
from fbg.importers.ops.registry import BYTES, FLOAT, op
from fbg.importers.ops.windows import pool_windows

# Pooling pads by less than a window; results that consist of padding would fill memory.
MOST_PADDING = 2**16


def pooled(
    builder: Builder, x: Value, function: str, shape: Sizes, g: Geometry, *, padding: bool = False
) -> Value:
    """Return windows of x (N, C, *spatial). padding: whether it counts in a mean."""
    if max((*g.before, *g.after), default=0) > MOST_PADDING:
        raise Unsupported(builder.node, f"pads {(*g.before, *g.after)}")
    return builder.add(Window(x, function, g, shape, padding))


def _geometry(node: TypedNode, x: Value) -> Geometry:
    """Return the geometry of a node that pools x; raises Unsupported if no kernel has it."""
    g = pool_windows(node.node, shape_of(x)[2:])
    if not 1 <= len(g.kernel) <= 3:
        raise Unsupported(node.node.name, f"{len(g.kernel)} spatial axes")
    if min(g.after) < 0 and max(g.dilation) > 1:
        raise Unsupported(node.node.name, "dilated windows of an image that is cut")
    return g


@op("MaxPool", types=(*FLOAT, *BYTES))
def build_max_pool(builder: Builder, node: TypedNode) -> None:
    """The maximum of each window."""
    x = builder.input(node, 0)
    shape, geometry = node.output_shape(), _geometry(node, x)
    builder.set_output(node, pooled(builder, x, "max", shape, geometry))
    if len(node.node.outputs) > 1 and node.node.outputs[1]:
        builder.set_output(node, _places_of_maxima(builder, node, x, geometry), 1)


def _places_of_maxima(builder: Builder, node: TypedNode, x: Value, g: Geometry) -> Value:
    """Return where in the tensor each maximum is; x is copied for each place of a window."""
    shape, column = shape_of(x), bool(node.attribute("storage_order", 0))
    images, pixels = math.prod(shape[:2]), math.prod(shape[2:])
    places, inside = _pixels_of_windows(g, shape[2:], column)
    order = (0, 1, *range(len(shape) - 1, 1, -1)) if column else tuple(range(len(shape)))
    flat = builder.reshaped(builder.transposed(x, order), (images, pixels))
    require_table(node, places.size)
    table = tuple(int(i) for i in np.where(inside, places, -1).reshape(-1))
    lowest = -math.inf if x.dtype == "float32" else float(np.iinfo(x.dtype).min)
    axes = (AxisMap(images, 0), AxisMap(len(table), 1, table=table))
    each = builder.reshaped(builder.add(Move(flat, axes, lowest)), (images, *places.shape))
    best = builder.add(Reduce(each, "first_max", (1,)))
    windows = places.shape[1]
    rows = IndexMap((images, windows), (0, 1), (windows, 1), ((len(places), windows),), 1)
    own = builder.add(Gather(builder.constant(places), best, rows, (images, windows)))
    first = builder.constant(np.arange(images)[:, None] * pixels)
    return builder.reshaped(builder.add(Function("add", (own, first))), node.output_shape())


def _pixels_of_windows(
    g: Geometry, sizes: Sizes, column: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return for each place of a window and each window the number of its pixel, if it has one.

    column: whether the first axis is the innermost one.
    """
    count = len(sizes)
    places, inside = np.zeros((1,) * (2 * count), np.int64), np.ones((1,) * (2 * count), bool)
    reach = zip(g.kernel, g.stride, g.dilation, g.before, g.output, sizes, strict=True)
    for axis, (k, stride, dilation, before, output, size) in enumerate(reach):
        step = np.add.outer(np.arange(k) * dilation, np.arange(output) * stride - before)
        wide = [1] * (2 * count)
        wide[axis], wide[count + axis] = step.shape
        distance = math.prod(sizes[:axis] if column else sizes[axis + 1 :])
        inside = inside & ((step >= 0) & (step < size)).reshape(wide)
        places = places + (step * distance).reshape(wide)
    windows = math.prod(g.output)
    return np.ascontiguousarray(places.reshape(-1, windows)), inside.reshape(-1, windows)


@op("MaxUnpool", constants=(2,))
def build_max_unpool(builder: Builder, node: TypedNode) -> None:
    """Elements at the places that a MaxPool has named, and zeros elsewhere."""
    x, places, shape = builder.input(node, 0), builder.input(node, 1), node.output_shape()
    size, count = math.prod(shape), math.prod(shape_of(x))
    zeros = builder.constant(np.zeros(size, np.float32))
    flat = [builder.reshaped(value, (count,)) for value in (places, x)]
    rows = elements_along((size,), 0, (count,))
    result = builder.add(Scatter(zeros, flat[0], flat[1], rows))
    builder.set_output(node, builder.reshaped(result, shape))


@op("LpPool")
def build_lp_pool(builder: Builder, node: TypedNode) -> None:
    """The p-th root of the sum of |x|^p of each window."""
    x = builder.input(node, 0)
    norms = norms_of_windows(builder, node, x, node.output_shape(), _geometry(node, x))
    builder.set_output(node, norms)


def norms_of_windows(
    builder: Builder, node: TypedNode, x: Value, shape: Sizes, g: Geometry
) -> Value:
    """Return the p-norms of windows; p is an attribute of the node."""
    p = node.attribute("p", 2)
    exponents = [builder.constant(np.array(own, np.float32)) for own in (p, 1 / p)]
    terms = builder.apply("square" if p == 2 else "absolute", x)
    if p not in (1, 2):
        terms = builder.apply("power", terms, exponents[0])
    sums = pooled(builder, terms, "sum", shape, g)
    if p == 2:
        return builder.apply("square_root", sums)
    return sums if p == 1 else builder.apply("power", sums, exponents[1])


@op("AveragePool")
def build_average_pool(builder: Builder, node: TypedNode) -> None:
    """The mean of each window, with or without the padding."""
    x = builder.input(node, 0)
    shape = node.output_shape()
    counts = bool(node.attribute("count_include_pad", 0))
    g = _geometry(node, x)
    if node.node.version < 19 and not node.attribute("ceil_mode", 0):
        # A window that alone is larger than image and padding still counts all of its elements.
        reach = zip(g.kernel, g.dilation, g.before, shape_of(x)[2:], g.after, strict=True)
        after = tuple(max((k - 1) * d + 1 - b - n, a) for k, d, b, n, a in reach)
        g = replace(g, after=after)
    if counts or max((*g.before, *g.after)) == 0:
        image, borders = without_borders(x, 0)
        widths = widened(tuple(zip(g.before, g.after, strict=True)), borders, g.kernel, g.dilation)
        if widths is not None:
            before, after = zip(*widths, strict=True)
            x, counts, g = image, True, replace(g, before=before, after=after)
    builder.set_output(node, pooled(builder, x, "mean", shape, g, padding=counts))
