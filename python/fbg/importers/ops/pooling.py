"""MaxPool and AveragePool, of float32 and of integers."""

from __future__ import annotations

from dataclasses import replace

from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, shape_of
from fbg.graph.ops.windows import Geometry, Window
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder
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
    if len(list(filter(None, node.node.outputs))) > 1:
        raise Unsupported(node.node.name, "indices of the maxima")
    x = builder.input(node, 0)
    shape = node.output_shape()
    builder.set_output(node, pooled(builder, x, "max", shape, _geometry(node, x)))


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
    builder.set_output(node, pooled(builder, x, "mean", shape, g, padding=counts))
