"""Gemm, MatMul, MatMulInteger and QLinearMatMul.

A product with constant weights is a convolution with a kernel of size 1 over the rows of x.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.description import QuantizedWeights
from fbg.importers.ops.builder import AxisMap, Builder, natural
from fbg.importers.ops.convolution import requantize_conv
from fbg.importers.ops.elementwise import combine
from fbg.importers.ops.packed_weights import Weights
from fbg.importers.ops.quantized import integer_weights, scalar_parameter
from fbg.importers.ops.registry import BYTES, op
from fbg.importers.ops.stacked import varying_product
from fbg.importers.ops.value import OpenConv, Value


def _kernel(w: Weights) -> Weights:
    """Return weights (K, N) as those of a convolution: (N, K, 1)."""
    return w.then("kernel", lambda matrix: matrix.T[:, :, None], (*w.shape[::-1], 1))


def _product(builder: Builder, node: Op, x: Value, w: Weights, **more: Any) -> Value:
    """Return x (…, K) times w (K, N)."""
    if len(w.shape) != 2 or len(x.shape) < 1 or w.shape[0] != x.shape[-1]:
        raise Unsupported(node.node.name, f"weights of shape {w.shape}")
    rows = math.prod(x.shape[:-1])
    conv = OpenConv(
        x=builder.in_order(x, natural(len(x.shape))),
        batch=1,
        spatial=(1, 1, rows),
        w=_kernel(w),
        options={},
        algorithm="" if w.dtype == np.int8 else "pointwise",
        **more,
    )
    builder.buffer(conv.x)
    conv.check(node.node.name, (1, rows, x.shape[-1]), builder.packer)
    shape = (*x.shape[:-1], w.shape[1])
    dtype = np.int32 if conv.result == "int32" else np.float32
    return Value(shape, np.dtype(dtype), natural(len(shape)), conv=conv)


def _quantized_product(
    builder: Builder, node: Op, x: Value, source: QuantizedWeights | None
) -> Value | None:
    """Return the product of integers that stand for x and weights, where both are quantized."""
    q = x.quantized
    if q is None or source is None or len(source.shape) != 2 or not source.scaled_along(1):
        return None
    weights = integer_weights(builder, source.integers, source.scale, source.zero_point)
    return _product(
        builder,
        node,
        q.integers,
        weights.integers,
        w_scale=weights.scale,
        w_zero_point=weights.zero_point,
        x_scale=q.scale,
        x_zero_point=q.zero_point,
    )


@op("MatMul")
def build_matmul(builder: Builder, node: Op) -> None:
    """x times constant weights, or two tensors that vary."""
    x, w = builder.input(node, 0), builder.input(node, 1)
    weights = w.as_weights()
    if weights is None:
        return builder.set_output(node, _varying(builder, x, w, node.output_shape()))
    result = _quantized_product(builder, node, x, w.weights)
    if result is None and len(w.shape) == 2:
        result = _product(builder, node, x, weights)
    if result is None:
        result = _batched(
            builder, node, x, weights, lambda part, matrix: _product(builder, node, part, matrix)
        )
    if result.shape != node.output_shape():
        result = builder.alias(result, node.output_shape(), natural(len(node.output_shape())))
    builder.set_output(node, result)


def _varying(builder: Builder, a: Value, b: Value, shape: tuple[int, ...]) -> Value:
    """Return the product of two tensors as NumPy defines it, vectors included."""
    if len(a.shape) == 1:
        a = builder.alias(a, (1, *a.shape), (0, 1))
    if len(b.shape) == 1:
        b = builder.alias(b, (*b.shape, 1), (0, 1))
    result = varying_product(builder, a, b)
    if result.shape != shape:
        ordered = builder.in_order(result, natural(len(result.shape)))
        result = builder.alias(ordered, shape, natural(len(shape)))
    return result


def _batched(builder: Builder, node: Op, x: Value, w: Weights, product: Any) -> Value:
    """Return products of stacks of matrices, one after the other."""
    if len(w.shape) == 1:
        column = product(x, w.then("column", lambda vector: vector[:, None], (*w.shape, 1)))
        return builder.alias(column, x.shape[:-1], natural(len(x.shape) - 1))
    if len(x.shape) == 1:
        raise Unsupported(node.node.name, "a vector times a stack of matrices")
    stack = np.broadcast_shapes(x.shape[:-2], w.shape[:-2])
    count = math.prod(stack)
    if count > 64:
        raise Unsupported(node.node.name, f"{count} products of their own")
    flat = x.shape[-2:]
    source, matrix = (
        np.broadcast_to(np.arange(math.prod(own)).reshape(own), stack).reshape(-1).tolist()
        for own in (x.shape[:-2], w.shape[:-2])
    )
    ordered = builder.in_order(x, natural(len(x.shape)))
    rows = builder.alias(ordered, (math.prod(x.shape[:-2]), *flat), natural(3))
    parts = []
    shape = (count, flat[0], w.shape[-1])
    for i in range(count):
        axes = [AxisMap(1, 0, start=source[i]), AxisMap(flat[0], 1), AxisMap(flat[1], 2)]
        one = builder.arrange([(rows, [0, 0, 0], axes)], (1, *flat), natural(3))
        result = product(builder.alias(one, flat, natural(2)), _matrix(w, matrix[i]))
        whole = builder.alias(result, (1, *result.shape), natural(3))
        parts.append(
            (whole, [i, 0, 0], [AxisMap(1, 0), AxisMap(shape[1], 1), AxisMap(shape[2], 2)])
        )
    joined = builder.arrange(parts, shape, natural(3))
    full = (*stack, *shape[1:])
    return builder.alias(joined, full, natural(len(full)))


def _matrix(w: Weights, index: int) -> Weights:
    """Return one matrix of a stack."""
    flat = (-1, *w.shape[-2:])
    return w.then(("matrix", index), lambda stack: stack.reshape(flat)[index], w.shape[-2:])


def _turned(builder: Builder, x: Value) -> Value:
    """Return the transposed matrix: nothing moves."""
    return builder.alias(x, x.shape[::-1], (1 - x.order[0], 1 - x.order[1]))


@op("Gemm")
def build_gemm(builder: Builder, node: Op) -> None:
    """alpha A B + beta C."""
    x, w = builder.input(node, 0), builder.input(node, 1)
    if node.attribute("transA", 0):
        x = _turned(builder, x)
    weights, source = w.as_weights(), w.weights
    if weights is None:
        return builder.set_output(node, _varying_gemm(builder, node, x, w))
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    if node.attribute("transB", 0):
        weights = weights.then("transposed", lambda matrix: matrix.T, w.shape[::-1])
        source = None if source is None else _transposed(source)
    result = _quantized_product(builder, node, x, source) if alpha == 1.0 else None
    if result is None:
        factor = np.float32(alpha)
        if alpha != 1.0:
            weights = weights.then(("times", float(factor)), lambda matrix: matrix * factor)
        result = _product(builder, node, x, weights)
    if node.has_input(2):
        result = combine(builder, "add", result, _scaled(builder, builder.input(node, 2), beta))
    builder.set_output(node, result)


def _varying_gemm(builder: Builder, node: Op, a: Value, b: Value) -> Value:
    result = varying_product(builder, a, _turned(builder, b) if node.attribute("transB", 0) else b)
    result = _scaled(builder, result, node.attribute("alpha", 1.0))
    if node.has_input(2):
        bias = _scaled(builder, builder.input(node, 2), node.attribute("beta", 1.0))
        result = combine(builder, "add", result, bias)
    return result


def _transposed(weights: QuantizedWeights) -> QuantizedWeights:
    return replace(weights, integers=weights.integers.T, axis=1 - weights.axis)


def _scaled(builder: Builder, x: Value, factor: float) -> Value:
    """Return factor * x."""
    if factor == 1.0:
        return x
    if (constant := x.constant) is not None:
        return builder.made_of(constant, ("times", factor), lambda: constant * np.float32(factor))
    number = builder.from_constant(np.array(factor, np.float32))
    return combine(builder, "multiply", x, number)


@op("MatMulInteger", types=BYTES, constants=(1, 2, 3))
def build_matmul_integer(builder: Builder, node: Op) -> None:
    """int32 sums of (a - a_zero_point) (b - b_zero_point)."""
    x, w = builder.input(node, 0), builder.constant_input(node, 1)
    assert w is not None
    zero_point = builder.constant_input(node, 3)
    points = np.zeros((), np.int32) if zero_point is None else zero_point
    weights = integer_weights(builder, w, np.ones((), np.float32), points)

    def product(part: Value, matrix: Weights) -> Value:
        return _product(
            builder,
            node,
            part,
            matrix,
            w_scale=weights.scale,
            w_zero_point=weights.zero_point,
            x_zero_point=int(scalar_parameter(builder, node, 2, 0)),
            result="int32",
        )

    integers = weights.integers
    stacked = len(integers.shape) != 2
    result = _batched(builder, node, x, integers, product) if stacked else product(x, integers)
    builder.set_output(node, result)


@op("QLinearMatMul", types=BYTES, constants=tuple(range(1, 8)))
def build_qlinear_matmul(builder: Builder, node: Op) -> None:
    """Integers to integers."""
    x, w = builder.input(node, 0), builder.constant_input(node, 3)
    w_scale, w_zero = builder.constant_input(node, 4), builder.constant_input(node, 5)
    assert w is not None and w_scale is not None and w_zero is not None
    if w_scale.dtype != np.float32:
        raise Unsupported(node.node.name, f"scales of {w_scale.dtype}")
    scale = float(scalar_parameter(builder, node, 6, 1.0))
    zero_point = int(scalar_parameter(builder, node, 7, 0))
    dtype = str(node.types[node.node.outputs[0]].dtype)

    weights = integer_weights(builder, w, w_scale, w_zero)

    def product(part: Value, matrix: Weights) -> Value:
        sums = _product(
            builder,
            node,
            part,
            matrix,
            w_scale=weights.scale,
            w_zero_point=weights.zero_point,
            x_scale=float(scalar_parameter(builder, node, 1, 1.0)),
            x_zero_point=int(scalar_parameter(builder, node, 2, 0)),
            result="sums",
        )
        result = requantize_conv(sums, scale, zero_point, dtype)
        assert result is not None
        return result

    integers = weights.integers
    stacked = len(integers.shape) != 2
    result = _batched(builder, node, x, integers, product) if stacked else product(x, integers)
    builder.set_output(node, result)
