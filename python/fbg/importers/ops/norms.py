"""Normalization."""

from __future__ import annotations

import math

import numpy as np

from fbg.graph.ops.common import LayerNorm, Norm, RmsNorm
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import shape_of
from fbg.graph.ops.windows import Geometry, GroupNorm, Window
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.reductions import reduced_to_ones
from fbg.importers.ops.registry import op


@op("BatchNormalization", constants=(1, 2, 3, 4))
def build_batch_norm(builder: Builder, node: TypedNode) -> None:
    """(x - mean) / sqrt(variance + eps) * scale + bias, folded into the weights before it."""
    trained = node.node.version < 7 and not node.attribute("is_test", 0)
    if trained or not node.attribute("spatial", 1):
        raise Unsupported(node.node.name, "training, or statistics of every pixel")
    if node.attribute("training_mode", 0):
        return _trained_batch_norm(builder, node)
    if len(list(filter(None, node.node.outputs))) > 1:
        raise Unsupported(node.node.name, "statistics")
    x, epsilon = builder.input(node, 0), node.attribute("epsilon", 1e-5)
    shape = (-1, *[1] * (len(x.shape) - 2))

    given = [builder.constants[name] for name in node.node.inputs[1:5]]

    def terms() -> list[Value]:
        scale, bias, mean, variance = (values.astype(np.float64) for values in given)
        factor = scale / np.sqrt(variance + epsilon)
        made = (factor, bias - mean * factor)
        return [builder.constant(v.astype(np.float32).reshape(shape)) for v in made]

    factors, offsets = builder.packer.once(("normalization", epsilon, shape), given, terms)
    scaled = builder.apply("multiply", x, factors)
    builder.set_output(node, builder.apply("add", scaled, offsets))


def _trained_batch_norm(builder: Builder, node: TypedNode) -> None:
    """With the statistics of the batch; the running ones, which are outputs, approach them."""
    x, scale, bias, *running = (builder.input(node, i) for i in range(5))
    axes = [axis for axis in range(len(x.shape)) if axis != 1]
    shape = (-1, *[1] * (len(x.shape) - 2))
    channels = shape_of(x)[1]
    mean = reduced_to_ones(builder, x, "mean", axes)
    centered = builder.apply("subtract", x, mean)
    variance = reduced_to_ones(builder, builder.apply("square", centered), "mean", axes)
    shifted = builder.apply("affine", variance, c0=1.0, c1=node.attribute("epsilon", 1e-5))
    result = builder.apply("divide", centered, builder.apply("square_root", shifted))
    for function, term in (("multiply", scale), ("add", bias)):
        result = builder.apply(function, result, builder.reshaped(term, (channels, *shape[1:])))
    builder.set_output(node, result)
    momentum = node.attribute("momentum", 0.9)
    for i, (old, new) in enumerate(zip(running, (mean, variance), strict=True), 1):
        if i < len(node.node.outputs) and node.node.outputs[i]:
            kept = builder.apply("affine", old, c0=momentum)
            own = builder.apply("affine", builder.reshaped(new, (channels,)), c0=1 - momentum)
            builder.set_output(node, builder.apply("add", kept, own), i)


@op("LayerNormalization", constants=(1, 2))
def build_layer_norm(builder: Builder, node: TypedNode) -> None:
    """Over the last axes, with scale and bias."""
    x = builder.input(node, 0)
    rank = len(x.shape)
    axis = node.attribute("axis", -1) % rank
    if len(list(filter(None, node.node.outputs))) > 1:
        return _layer_norm_with_statistics(builder, node, x, axis)
    shape = shape_of(x)[axis:]
    gamma, beta = builder.constant_input(node, 1), builder.constant_input(node, 2)
    assert gamma is not None
    weight = np.ascontiguousarray(np.broadcast_to(gamma, shape))
    bias = None if beta is None else np.ascontiguousarray(np.broadcast_to(beta, shape))
    norm = LayerNorm(weight, bias, node.attribute("epsilon", 1e-5))
    builder.set_output(node, builder.add(Norm(x, norm)))


def _layer_norm_with_statistics(builder: Builder, node: TypedNode, x: Value, axis: int) -> None:
    """Layer normalization in steps, as the mean and the inverse deviation are outputs, too."""
    reduced = tuple(range(axis, len(x.shape)))
    mean = reduced_to_ones(builder, x, "mean", reduced)
    centered = builder.apply("subtract", x, mean)
    squares = builder.apply("square", centered)
    variance = reduced_to_ones(builder, squares, "mean", reduced)
    shifted = builder.apply("affine", variance, c0=1.0, c1=node.attribute("epsilon", 1e-5))
    inverse = builder.apply("reciprocal", builder.apply("square_root", shifted))
    result = builder.apply("multiply", centered, inverse)
    result = builder.apply("multiply", result, builder.input(node, 1))
    if node.has_input(2):
        result = builder.apply("add", result, builder.input(node, 2))
    for index, value in enumerate((result, mean, inverse)):
        if index < len(node.node.outputs) and node.node.outputs[index]:
            builder.set_output(node, value, index)


@op("RMSNormalization", constants=(1,))
def build_rms_norm(builder: Builder, node: TypedNode) -> None:
    """Over the last axes, with a scale."""
    x = builder.input(node, 0)
    axis = node.attribute("axis", -1) % len(x.shape)
    gamma = builder.constant_input(node, 1)
    assert gamma is not None
    weight = np.ascontiguousarray(np.broadcast_to(gamma, shape_of(x)[axis:]))
    norm = RmsNorm(weight, node.attribute("epsilon", 1e-5))
    builder.set_output(node, builder.add(Norm(x, norm)))


@op("GroupNormalization", "InstanceNormalization", constants=(1, 2))
def build_group_norm(builder: Builder, node: TypedNode) -> None:
    """Over the pixels of a group of channels, or of each channel by itself."""
    x = builder.input(node, 0)
    channels = shape_of(x)[1]
    groups = node.attribute("num_groups", channels)
    terms = []
    for i in (1, 2):
        given = builder.constant_input(node, i)
        assert given is not None
        if given.size == groups:  # before version 21, there is one for each group
            given = np.repeat(given, channels // groups)
        terms.append(np.ascontiguousarray(given, np.float32))
    norm = GroupNorm(x, groups, terms[0], terms[1], node.attribute("epsilon", 1e-5))
    builder.set_output(node, builder.add(norm))


@op("MeanVarianceNormalization")
def build_mean_variance(builder: Builder, node: TypedNode) -> None:
    """(x - mean) / deviation over some axes."""
    x = builder.input(node, 0)
    axes = [axis % len(x.shape) for axis in node.attribute("axes", [0, 2, 3])]
    centered = builder.apply("subtract", x, reduced_to_ones(builder, x, "mean", axes))
    variance = reduced_to_ones(builder, builder.apply("square", centered), "mean", axes)
    deviation = builder.apply("affine", builder.apply("square_root", variance), c0=1.0, c1=1e-9)
    builder.set_output(node, builder.apply("divide", centered, deviation))


@op("LpNormalization")
def build_lp_norm(builder: Builder, node: TypedNode) -> None:
    """x divided by the sum of its absolute values along an axis, or by its length."""
    x = builder.input(node, 0)
    axis, p = node.attribute("axis", -1) % len(x.shape), node.attribute("p", 2)
    if p not in (1, 2):
        raise Unsupported(node.node.name, f"p = {p}")
    terms = builder.apply("absolute" if p == 1 else "square", x)
    length = reduced_to_ones(builder, terms, "sum", [axis])
    if p == 2:
        length = builder.apply("square_root", length)
    is_zero = builder.apply("equal", length, builder.constant(np.zeros((), np.float32)))
    builder.set_output(node, builder.apply("divide", x, builder.apply("add", length, is_zero)))


@op("LRN")
def build_local_response(builder: Builder, node: TypedNode) -> None:
    """x / (bias + alpha / size * sum of the squares of neighbouring channels)^beta."""
    x = builder.input(node, 0)
    size = node.attribute("size")
    batch, channels, *spatial = shape_of(x)
    flat = builder.reshaped(builder.apply("square", x), (batch, channels, math.prod(spatial)))
    rows = builder.transposed(flat, (0, 2, 1))
    sides = ((size - 1) // 2,), (size // 2,)
    geometry = Geometry((size,), (1,), (1,), *sides, (channels,))
    sums = builder.add(Window(rows, "sum", geometry, shape_of(rows)))
    sums = builder.reshaped(builder.transposed(sums, (0, 2, 1)), shape_of(x))
    factor, bias = node.attribute("alpha", 1e-4) / size, node.attribute("bias", 1.0)
    base = builder.apply("affine", sums, c0=factor, c1=bias)
    beta = builder.constant(np.array(node.attribute("beta", 0.75), np.float32))
    builder.set_output(node, builder.apply("divide", x, builder.apply("power", base, beta)))
