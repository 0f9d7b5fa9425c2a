"""Gemm, MatMul, MatMulInteger and QLinearMatMul.

A product with constant weights is a convolution with a kernel of size 1 over the rows of x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fbg.graph.ops.moves import AxisMap, Concat, Move
from fbg.graph.ops.op import Value
from fbg.graph.ops.products import IntegerWeights, Linear, MatMul
from fbg.graph.ops.tensors import Constant, Sizes, shape_of
from fbg.graph.packed_weights import Weights
from fbg.graph.quantized_weights import QuantizedWeights
from fbg.graph.refusal import Unsupported
from fbg.graph.steps import Quantization
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder, constant_of, weights_of
from fbg.importers.ops.quantized import integer_weights, scalar_parameter, zero_point_of_x
from fbg.importers.ops.registry import BYTES, op


def _kernel(w: Weights) -> Weights:
    """Return weights (K, N) in the shape for a convolution: (N, K, 1)."""
    return w.then("kernel", lambda matrix: matrix.T[:, :, None], (*w.shape[::-1], 1))


def _product(builder: Builder, x: Value, w: Weights, **more: Any) -> Value:
    """Return x (…, K) times w (K, N)."""
    rows = shape_of(x)
    if len(w.shape) != 2 or len(rows) < 1 or w.shape[0] != rows[-1]:
        raise Unsupported(builder.node, f"weights of shape {w.shape}")
    algorithm = "" if w.dtype == np.int8 else "pointwise"
    shape = (*rows[:-1], w.shape[1])
    return builder.add(Linear(x, _kernel(w), shape, algorithm=algorithm, **more))


def _alternative(builder: Builder, source: QuantizedWeights | None) -> IntegerWeights | None:
    """Return the integers that stand for weights (K, N), if they can replace them."""
    if source is None or len(source.shape) != 2 or not source.scaled_along(1):
        return None
    found = integer_weights(builder, source.integers, source.scale, source.zero_point)
    return replace(found, integers=_kernel(found.integers))


def _quantized_source(value: Value) -> QuantizedWeights | None:
    source = value.op.source if isinstance(value.op, Constant) else None
    return source if isinstance(source, QuantizedWeights) else None


@op("MatMul")
def build_matmul(builder: Builder, node: TypedNode) -> None:
    """Products of x with constant weights, or of two variable tensors."""
    x, w = builder.input(node, 0), builder.input(node, 1)
    weights = weights_of(w)
    if weights is None:
        return builder.set_output(node, _varying(builder, x, w, node.output_shape()))
    if len(weights.shape) == 2:
        alternative = _alternative(builder, _quantized_source(w))
        result = _product(builder, x, weights, alternative=alternative)
    else:
        result = _batched(builder, x, weights, lambda part, w: _product(builder, part, w))
    builder.set_output(node, builder.reshaped(result, node.output_shape()))


def _varying(builder: Builder, a: Value, b: Value, shape: Sizes) -> Value:
    """Return the product of two tensors as NumPy defines it, vectors included."""
    if len(a.shape) == 1:
        a = builder.reshaped(a, (1, *shape_of(a)))
    if len(b.shape) == 1:
        b = builder.reshaped(b, (*shape_of(b), 1))
    return builder.reshaped(builder.add(MatMul(a, b)), shape)


def _batched(
    builder: Builder, x: Value, w: Weights, product: Callable[[Value, Weights], Value]
) -> Value:
    """Return products of stacks of matrices, one after the other."""
    rows = shape_of(x)
    if len(w.shape) == 1:
        column = product(x, w.then("column", lambda vector: vector[:, None], (*w.shape, 1)))
        return builder.reshaped(column, rows[:-1])
    if len(rows) == 1:
        raise Unsupported(builder.node, "a vector times a stack of matrices")
    stack = np.broadcast_shapes(rows[:-2], w.shape[:-2])
    count = math.prod(stack)
    if count > 64:
        raise Unsupported(builder.node, f"{count} products of their own")
    source, matrix = (
        np.broadcast_to(np.arange(math.prod(own)).reshape(own), stack).reshape(-1).tolist()
        for own in (rows[:-2], w.shape[:-2])
    )
    flat = builder.reshaped(x, (math.prod(rows[:-2]), *rows[-2:]))
    parts = []
    for i in range(count):
        axes = (AxisMap(1, 0, start=source[i]), AxisMap(rows[-2], 1), AxisMap(rows[-1], 2))
        one = builder.reshaped(builder.add(Move(flat, axes)), rows[-2:])
        result = product(one, _matrix(w, matrix[i]))
        parts.append(builder.reshaped(result, (1, *shape_of(result))))
    joined = builder.add(Concat(tuple(parts), 0))
    return builder.reshaped(joined, (*stack, *shape_of(joined)[1:]))


def _matrix(w: Weights, index: int) -> Weights:
    """Return one matrix of a stack."""
    flat = (-1, *w.shape[-2:])
    return w.then(("matrix", index), lambda stack: stack.reshape(flat)[index], w.shape[-2:])


@op("Gemm")
def build_gemm(builder: Builder, node: TypedNode) -> None:
    """alpha A B + beta C."""
    x, w = builder.input(node, 0), builder.input(node, 1)
    if node.attribute("transA", 0):
        x = builder.transposed(x, (1, 0))
    weights, turned = weights_of(w), node.attribute("transB", 0)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    if weights is None:
        product = MatMul(x, builder.transposed(w, (1, 0)) if turned else w)
        result = _scaled(builder, builder.add(product), alpha)
    else:
        source = _quantized_source(w) if alpha == 1.0 else None
        if turned:
            weights = weights.then("transposed", lambda matrix: matrix.T, weights.shape[::-1])
            source = None if source is None else _transposed(source)
        if alpha != 1.0:
            factor = np.float32(alpha)
            weights = weights.then(("times", float(factor)), lambda matrix: matrix * factor)
        result = _product(builder, x, weights, alternative=_alternative(builder, source))
    if node.has_input(2):
        bias = _scaled(builder, builder.input(node, 2), beta)
        result = builder.apply("add", result, bias)
    builder.set_output(node, result)


def _transposed(weights: QuantizedWeights) -> QuantizedWeights:
    return replace(weights, integers=weights.integers.T, axis=1 - weights.axis)


def _scaled(builder: Builder, x: Value, factor: float) -> Value:
    """Return factor * x."""
    if factor == 1.0:
        return x
    if (constant := constant_of(x)) is not None:
        return builder.made_of(constant, ("times", factor), lambda: constant * np.float32(factor))
    return builder.apply("multiply", x, builder.constant(np.array(factor, np.float32)))


@op("MatMulInteger", types=BYTES, constants=(1, 3))
def build_matmul_integer(builder: Builder, node: TypedNode) -> None:
    """int32 sums of (a - a_zero_point) (b - b_zero_point)."""
    x, w = builder.input(node, 0), builder.constant_input(node, 1)
    assert w is not None
    zero_point = builder.constant_input(node, 3)
    points = np.zeros((), np.int32) if zero_point is None else zero_point
    weights = integer_weights(builder, w, np.ones((), np.float32), points)

    point = zero_point_of_x(builder, node, 2)

    def product(part: Value, matrix: Weights) -> Value:
        return _product(
            builder,
            part,
            matrix,
            w_scale=weights.scale,
            w_zero_point=weights.zero_point,
            result="int32",
            **point,
        )

    integers = weights.integers
    stacked = len(integers.shape) != 2
    result = _batched(builder, x, integers, product) if stacked else product(x, integers)
    builder.set_output(node, result)


@op("QLinearMatMul", types=BYTES, constants=tuple(range(1, 8)))
def build_qlinear_matmul(builder: Builder, node: TypedNode) -> None:
    """From integers to integers."""
    x, w = builder.input(node, 0), builder.constant_input(node, 3)
    w_scale, w_zero = builder.constant_input(node, 4), builder.constant_input(node, 5)
    assert w is not None and w_scale is not None and w_zero is not None
    w_scale = w_scale.astype(np.float32)
    scale = float(scalar_parameter(builder, node, 6, 1.0))
    zero_point = int(scalar_parameter(builder, node, 7, 0))
    dtype = str(node.types[node.node.outputs[0]].dtype)

    weights = integer_weights(builder, w, w_scale, w_zero)

    def product(part: Value, matrix: Weights) -> Value:
        return _product(
            builder,
            part,
            matrix,
            w_scale=weights.scale,
            w_zero_point=weights.zero_point,
            x_scale=float(scalar_parameter(builder, node, 1, 1.0)),
            x_zero_point=int(scalar_parameter(builder, node, 2, 0)),
            result="sums",
            post=(Quantization(scale, zero_point, dtype),),
        )

    integers = weights.integers
    stacked = len(integers.shape) != 2
    result = _batched(builder, x, integers, product) if stacked else product(x, integers)
    builder.set_output(node, result)
