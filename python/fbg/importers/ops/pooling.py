"""MaxPool and AveragePool, of float32 and of integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.ops.builder import Builder, channels_last
from fbg.importers.ops.registry import BYTES, FLOAT, op
from fbg.importers.ops.value import Quantized, Value
from fbg.importers.ops.windows import Geometry, pool_windows, three

__all__ = ["pooled", "requantize_pool"]

# Bytes of so many pixels can be added in 32 bits.
MOST_PIXELS = (2**31 - 1) // 255

# Pooling pads by less than a window; results of padding alone would fill memory.
MOST_PADDING = 2**16


@dataclass
class MeanPool:
    """Means of windows of integers that have not been appended yet: of float32, or rounded again.

    x: quantized, (N, C, *spatial). nodes: those of the network that it computes.
    """

    x: Value
    geometry: Geometry
    count_padding: bool
    nodes: list[str] = field(default_factory=list)

    def compute(self, builder: Builder, value: Value) -> int:
        """Append the means as float32; return their buffer."""
        q = self.x.quantized
        assert q is not None
        return self._append(builder, value, factor=q.scale, float_output=True)

    def rounded(
        self, builder: Builder, value: Value, scale: float, zero_point: int
    ) -> Value | None:
        """Append the means as integers of the type of x."""
        q = self.x.quantized
        assert q is not None
        buffer = self._append(builder, value, factor=q.scale / scale, output_zero_point=zero_point)
        return Value(value.shape, q.integers.dtype, value.order, buffer=buffer)

    def _append(self, builder: Builder, value: Value, **result: Any) -> int:
        q = self.x.quantized
        assert q is not None
        ordered = builder.in_order(q.integers, value.order)
        buffer = _window(
            builder,
            ordered,
            "mean",
            value.shape,
            self.geometry,
            count_padding=self.count_padding,
            zero_point=q.zero_point,
            **result,
        )
        return builder.append(buffer, self.nodes)


def _window(
    builder: Builder,
    x: Value,
    function: str,
    shape: tuple[int, ...],
    g: Geometry,
    *,
    count_padding: bool,
    **more: Any,
) -> int:
    """Append windows of x, which is channels-last, and return their buffer."""
    sizes = (
        three(x.shape[2:], 1),
        three(shape[2:], 1),
        three(g.kernel, 1),
        three(g.stride, 1),
        three(g.dilation, 1),
        three(g.before, 0),
        three(g.after, 0),
    )
    return _fbg.tensor_window(
        builder.graph,
        builder.buffer(x),
        function,
        x.shape[0],
        x.shape[1],
        sizes,
        count_padding,
        x.native_type,
        **more,
    )


def _pixels(x: Value, g: Geometry) -> int:
    """Return how many pixels of x a window holds at most."""
    return math.prod(min(sizes) for sizes in zip(g.kernel, x.shape[2:], strict=True))


def pooled(
    builder: Builder,
    x: Value,
    function: str,
    shape: tuple[int, ...],
    g: Geometry,
    *,
    count_padding: bool = False,
) -> Value:
    """Return windows of x (N, C, *spatial); integers of a scale stay integers."""
    if max((*g.before, *g.after), default=0) > MOST_PADDING:
        raise Unsupported(builder.node, f"pads {(*g.before, *g.after)}")
    order = channels_last(len(x.shape))
    q = x.quantized if x.buffer is None else None
    if function not in ("max", "min") and _pixels(x, g) > MOST_PIXELS:
        q = None
    if q is not None and function in ("max", "min"):
        integers = pooled(builder, q.integers, function, shape, g)
        return Value(
            shape, x.dtype, integers.order, quantized=Quantized(integers, q.scale, q.zero_point)
        )
    if q is not None and function == "mean":
        result = Value(shape, np.dtype(np.float32), order)
        result.deferred = MeanPool(x, g, count_padding)
        return result
    more: dict[str, Any] = {}
    dtype = x.dtype
    if q is not None:  # a sum, of integers
        more = {"factor": q.scale, "zero_point": q.zero_point, "float_output": True}
        x, dtype = q.integers, np.dtype(np.float32)
    ordered = builder.in_order(x, order)
    buffer = _window(builder, ordered, function, shape, g, count_padding=count_padding, **more)
    return Value(shape, dtype, order, buffer=builder.append(buffer))


def requantize_pool(
    builder: Builder, value: Value, scale: float, zero_point: int, dtype: np.dtype[Any]
) -> Value | None:
    """Make the means of windows integers; None where that is not possible."""
    pool = value.deferred
    if not isinstance(pool, MeanPool) or value.buffer is not None or value.uses > 1:
        return None
    q = pool.x.quantized
    if q is None or q.integers.dtype != dtype or not scale > 0:
        return None
    pool.nodes.append(builder.node)
    return pool.rounded(builder, value, scale, zero_point)


def _geometry(node: Op, x: Value) -> Geometry:
    """Return the geometry of a node that pools x; raises Unsupported for one that is not native."""
    g = pool_windows(node.node, x.shape[2:])
    if not 1 <= len(g.kernel) <= 3:
        raise Unsupported(node.node.name, f"{len(g.kernel)} spatial axes")
    if min(g.after) < 0 and max(g.dilation) > 1:
        raise Unsupported(node.node.name, "dilated windows of an image that is cut")
    return g


@op("MaxPool", types=(*FLOAT, *BYTES))
def build_max_pool(builder: Builder, node: Op) -> None:
    """The maximum of each window."""
    if len(list(filter(None, node.node.outputs))) > 1:
        raise Unsupported(node.node.name, "indices of the maxima")
    x = builder.input(node, 0)
    shape = node.output_shape()
    builder.set_output(node, pooled(builder, x, "max", shape, _geometry(node, x)))


@op("AveragePool")
def build_average_pool(builder: Builder, node: Op) -> None:
    """The mean of each window, with or without the padding."""
    x = builder.input(node, 0)
    shape = node.output_shape()
    counts = bool(node.attribute("count_include_pad", 0))
    g = _geometry(node, x)
    if node.node.version < 19 and not node.attribute("ceil_mode", 0):
        # A window that alone is larger than image and padding still counts all of its elements.
        reach = zip(g.kernel, g.dilation, g.before, x.shape[2:], g.after, strict=True)
        after = tuple(max((k - 1) * d + 1 - b - n, a) for k, d, b, n, a in reach)
        g = replace(g, after=after)
    result = pooled(builder, x, "mean", shape, g, count_padding=counts)
    builder.set_output(node, result)
