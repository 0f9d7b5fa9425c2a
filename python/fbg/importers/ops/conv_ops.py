"""Conv, ConvTranspose, ConvInteger and QLinearConv."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fbg.graph.ops.op import Value
from fbg.graph.ops.products import Conv
from fbg.graph.ops.tensors import Constant, Sizes, shape_of
from fbg.graph.ops.windows import Geometry
from fbg.graph.quantized_weights import QuantizedWeights
from fbg.graph.refusal import Unsupported
from fbg.graph.steps import Quantization
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.borders import widened, without_borders
from fbg.importers.ops.builder import Builder, weights_of
from fbg.importers.ops.quantized import integer_weights, scalar_parameter, zero_point_of_x
from fbg.importers.ops.registry import BYTES, op
from fbg.importers.ops.windows import conv_windows, transposed_windows

# The outputs between two inputs of a transposed convolution are convolutions of their own, and the
# zeros of long dilations are copied for each of them.
MOST_STEPS = 4096


def conv_options(
    node: TypedNode, x_shape: tuple[int, ...], w_shape: tuple[int, ...]
) -> dict[str, Any]:
    """Return the arguments of `PackedConv` besides the weights."""
    g = conv_windows(node.node, x_shape[2:], w_shape[2:])
    return _packed_options(node, g, g.after)


def _packed_options(node: TypedNode, g: Geometry, after: tuple[int, ...]) -> dict[str, Any]:
    if not 1 <= len(g.kernel) <= 3:
        raise Unsupported(node.node.name, f"{len(g.kernel)} spatial axes")
    if min(*g.before, *after) < 0:
        raise Unsupported(node.node.name, "negative padding")
    return {
        "stride": g.stride,
        "padding": tuple(zip(g.before, after, strict=True)),
        "dilation": g.dilation,
        "groups": node.attribute("group", 1),
    }


def _with_borders(x: Value, options: dict[str, Any], kernel: Sizes, fill: float = 0) -> Value:
    """Return the image without the border that `options` then has as padding, if it has one.

    fill: the value that convolutions pad with.
    """
    image, borders = without_borders(x, fill)
    widths = widened(options["padding"], borders, kernel, options["dilation"])
    if widths is None:
        return x
    options["padding"] = widths
    return image


@op("Conv", constants=(1, 2))
def build_conv(builder: Builder, node: TypedNode) -> None:
    """float32; integers replace the weights for which they stand if x is quantized."""
    x, w = builder.input(node, 0), builder.input(node, 1)
    weights = weights_of(w)
    if weights is None:
        raise Unsupported(node.node.name, "weights that vary")
    options = conv_options(node, shape_of(x), weights.shape)
    x = _with_borders(x, options, weights.shape[2:])
    bias = builder.constant_input(node, 2)
    if bias is not None:
        bias = np.ascontiguousarray(bias, np.float32)
    assert isinstance(w.op, Constant)
    source, alternative = w.op.source, None
    if isinstance(source, QuantizedWeights) and source.scaled_along(0):
        alternative = integer_weights(builder, source.integers, source.scale, source.zero_point)
    conv = Conv(x, weights, node.output_shape(), options, bias=bias, alternative=alternative)
    builder.set_output(node, builder.add(conv))


@op("ConvTranspose", constants=(1, 2))
def build_conv_transpose(builder: Builder, node: TypedNode) -> None:
    """float32; the size of the output decides the padding."""
    x, w = builder.input(node, 0), weights_of(builder.input(node, 1))
    assert w is not None
    g = transposed_windows(node.node, shape_of(x)[2:], w.shape[2:])
    for name, steps in (("strides", g.stride), ("dilations", g.dilation)):
        if math.prod(steps) > MOST_STEPS:
            raise Unsupported(node.node.name, f"{name} {steps}")
    after = tuple(max(a - e, 0) for a, e in zip(g.after, g.extra, strict=True))
    options = _packed_options(node, g, after) | {
        "transposed": True,
        "output_padding": tuple(max(e - a, 0) for a, e in zip(g.after, g.extra, strict=True)),
    }
    bias = builder.constant_input(node, 2)
    conv = Conv(x, w, node.output_shape(), options, bias=bias)
    builder.set_output(node, builder.add(conv))


def _integer_conv(
    builder: Builder, node: TypedNode, index: int, scale: Any, zero_point: Any, **more: Any
) -> Value:
    """Return the convolution of integers x with integer weights, which are input `index`."""
    w = builder.constant_input(node, index)
    assert w is not None
    weights = integer_weights(builder, w, scale, zero_point)
    x = builder.input(node, 0)
    options = conv_options(node, shape_of(x), w.shape)
    of_x = zero_point_of_x(builder, node, 2)
    if "x_zero_point" in of_x:
        x = _with_borders(x, options, w.shape[2:], of_x["x_zero_point"])
    conv = Conv(
        x,
        weights.integers,
        node.output_shape(),
        options,
        w_scale=weights.scale,
        w_zero_point=weights.zero_point,
        **of_x,
        **more,
    )
    return builder.add(conv)


@op("ConvInteger", types=BYTES, constants=(1, 3))
def build_conv_integer(builder: Builder, node: TypedNode) -> None:
    """int32 sums of (x - x_zero_point) (w - w_zero_point)."""
    zero_point = builder.constant_input(node, 3)
    points = np.int32(0) if zero_point is None else zero_point
    conv = _integer_conv(builder, node, 1, np.float32(1), points, result="int32")
    builder.set_output(node, conv)


@op("QLinearConv", types=BYTES, constants=tuple(range(1, 9)))
def build_qlinear_conv(builder: Builder, node: TypedNode) -> None:
    """From integers to integers: sums, int32 bias, requantization."""
    bias = builder.constant_input(node, 8)
    scale = float(scalar_parameter(builder, node, 6, 1.0))
    zero_point = int(scalar_parameter(builder, node, 7, 0))
    dtype = str(node.types[node.node.outputs[0]].dtype)
    conv = _integer_conv(
        builder,
        node,
        3,
        builder.constant_input(node, 4),
        builder.constant_input(node, 5),
        x_scale=float(scalar_parameter(builder, node, 1, 1.0)),
        bias=None if bias is None else np.ascontiguousarray(bias, np.int32),
        result="sums",
        post=(Quantization(scale, zero_point, dtype),),
    )
    builder.set_output(node, conv)
