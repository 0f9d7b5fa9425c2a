"""QuantizeLinear, DequantizeLinear, and parameters of integer operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from fbg.arrays import Array
from fbg.graph.ops.products import IntegerWeights
from fbg.graph.ops.tensors import Dequantize, Quantize, shape_of, size_of
from fbg.graph.packed_weights import Weights
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.elementwise import converted
from fbg.importers.ops.registry import BYTES, FLOAT, op

WORDS = ("uint16", "int16")


def integer_weights(builder: Builder, q: Array, scale: Any, zero_point: Any) -> IntegerWeights:
    """Return weights as int8: uint8 weights and their zero points are shifted by 128."""
    parts = (q, np.asarray(scale), np.asarray(zero_point))
    return builder.packer.once("integer weights", parts, lambda: _integer_weights(*parts))


def _integer_weights(q: Array, scale: Array, zero_point: Array) -> IntegerWeights:
    points = zero_point.astype(np.int32)
    weights = Weights.of(q)
    if q.dtype == np.uint8:
        weights = weights.then("int8", lambda w: (w ^ np.uint8(128)).view(np.int8), dtype=np.int8)
        points = points - 128
    scales = scale.astype(np.float32)
    scales = scales.reshape(() if scales.size == 1 else (-1,))
    points = points.reshape(() if points.size == 1 else (-1,))
    if points.ndim > scales.ndim:
        scales = np.broadcast_to(scales, points.shape)
    elif scales.ndim > points.ndim:
        points = np.broadcast_to(points, scales.shape)
    return IntegerWeights(weights, scales, points)


def scalar_parameter(builder: Builder, node: TypedNode, index: int, default: float) -> float:
    """Return a parameter that must be one number for the whole tensor."""
    value = builder.constant_input(node, index)
    if value is None:
        return default
    if value.size != 1:
        raise Unsupported(node.node.name, "a parameter of x for each channel")
    return float(value.reshape(-1)[0])


def zero_point_of_x(builder: Builder, node: TypedNode, index: int) -> dict[str, Any]:
    """Return the fields of a product for the zero point of x, which each run may compute."""
    if not node.has_input(index) or node.constant(index) is not None:
        return {"x_zero_point": int(scalar_parameter(builder, node, index, 0))}
    value = builder.input(node, index)
    if size_of(value) != 1 or value.dtype != node.input_type(0).dtype:
        raise Unsupported(node.node.name, "a zero point of x that is not one of its elements")
    return {"computed_zero_point": value}


def _per_axis(node: TypedNode, parameter: Array, shape: tuple[int, ...]) -> tuple[int, Array]:
    """Return the axis of a parameter, and the parameter so that it can be broadcast.

    One for each block of elements along the axis is repeated for each of them.
    """
    if parameter.size == 1:
        return 0, parameter.reshape(())
    axis = node.attribute("axis", 1) % len(shape)
    if block := node.attribute("block_size", 0):
        wanted = (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :])
        if parameter.shape != wanted:
            raise Unsupported(node.node.name, f"a scale for each block of shape {parameter.shape}")
        each = np.repeat(parameter, block, axis)
        return axis, np.ascontiguousarray(each.take(range(shape[axis]), axis))
    if parameter.ndim != 1 or parameter.size != shape[axis]:
        raise Unsupported(node.node.name, f"a scale of shape {parameter.shape}")
    return axis, parameter.reshape(-1, *[1] * (len(shape) - axis - 1))


@op("DequantizeLinear", types=(*BYTES, *WORDS, "int32"), constants=(1, 2))
def build_dequantize(builder: Builder, node: TypedNode) -> None:
    """(q - zero_point) * scale."""
    x = builder.input(node, 0)
    scale, zero_point = builder.constant_input(node, 1), builder.constant_input(node, 2)
    assert scale is not None
    if scale.dtype != np.float32:
        raise Unsupported(node.node.name, f"a scale of {scale.dtype}")
    _, scales = _per_axis(node, scale, shape_of(x))
    none = np.zeros((), np.int32)
    shaped = none if zero_point is None else _per_axis(node, zero_point, shape_of(x))[1]
    if scales.ndim == 0 and x.dtype in BYTES:
        result = builder.add(Dequantize(x, float(scales), int(shaped)))
    else:
        zero = builder.made_of(shaped, "float32", lambda: shaped.astype(np.float32))
        factors = builder.made_of(scales, "scales", lambda: scales)
        numbers = converted(builder, x, "float32") if x.dtype in WORDS else x
        result = builder.apply("multiply", builder.apply("subtract", numbers, zero), factors)
    builder.set_output(node, result)


@op("QuantizeLinear", types=FLOAT, constants=(1, 2))
def build_quantize(builder: Builder, node: TypedNode) -> None:
    """saturate(rint(x / scale) + zero_point)."""
    dtype = node.types[node.node.outputs[0]].dtype
    if str(dtype) not in (*BYTES, *WORDS):
        raise Unsupported(node.node.name, f"to {dtype}")
    x = builder.input(node, 0)
    scale, zero_point = builder.constant_input(node, 1), builder.constant_input(node, 2)
    assert scale is not None
    _, scales = _per_axis(node, scale, shape_of(x))
    none = np.zeros((), dtype)
    points = none if zero_point is None else _per_axis(node, zero_point, shape_of(x))[1]
    if scales.ndim == 0 and str(dtype) in BYTES:
        op = Quantize(x, float(scales), int(points), str(dtype))
        return builder.set_output(node, builder.add(op))
    factors = builder.made_of(scales, "scales", lambda: scales)
    rounded = builder.apply("quantize_by", x, factors)
    shift = builder.made_of(points, "float32", lambda: points.astype(np.float32))
    if str(dtype) in BYTES:
        return builder.set_output(node, builder.apply("add", rounded, shift, dtype=dtype))
    limits = np.iinfo(dtype)
    shifted = builder.apply("add", rounded, shift)
    bounded = builder.apply("clip", shifted, c0=float(limits.min), c1=float(limits.max))
    builder.set_output(node, converted(builder, bounded, str(dtype)))
