"""Ops that follow a product with constant weights, as its only readers, join its output pipeline.

Constants are folded into float weights; activations, a residual and the quantization of the result
become stages. Products whose results are joined along their channels write them side by side.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.arrays import Array
from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.moves import Concat
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.products import Part, Product
from fbg.graph.ops.tensors import Constant, Dequantize, Quantize, shape_of
from fbg.graph.packed_weights import Packer
from fbg.graph.passes.scaling import Scaling
from fbg.graph.rewrite import Rewriting, rewrite
from fbg.graph.steps import ACTIVATIONS, Activation, Quantization, Step, residual


def fuse_epilogues(graph: Graph, packer: Packer) -> Graph:
    """Let products compute the ops that follow them. packer: packs the weights of the graph."""
    scaling = Scaling(graph, packer)
    return rewrite(graph, lambda made, op: _rule(op, made, scaling), Product)


@singledispatch
def _rule(op: Op, made: Rewriting, scaling: Scaling) -> Value | None:
    return None


def _open(made: Rewriting, value: Value) -> Product | None:
    """Return the product that computes a tensor, if something may still join its pipeline."""
    op = value.op
    joins = isinstance(op, Product) and op.part is None and value.dtype == "float32"
    if not joins or not made.is_inside(value):
        return None
    assert isinstance(op, Product)
    return op if len(op.post) + 4 < _fbg.MAX_STAGES else None


def _with_step(made: Rewriting, value: Value, product: Product, step: Step, **more: Any) -> Value:
    return made.add(replace(product, post=(*product.post, step), **more), value)


@_rule.register
def _(op: Quantize, made: Rewriting, scaling: Scaling) -> Value | None:
    product = _open(made, op.x)
    if product is None or product.computed_scale is not None:
        return None
    return _with_step(made, op.x, product, Quantization(op.scale, op.zero_point, op.dtype))


@_rule.register
def _(op: Map, made: Rewriting, scaling: Scaling) -> Value | None:
    if op.dtype != "float32" or len(op.steps) != 1:
        return None
    function, a, b, c0, c1 = op.steps[0]
    x, y = op.operands[a], op.operands[b]
    if len(op.operands) == 1:
        product = _open(made, x)
        if product is None or function not in ACTIVATIONS or a != b:
            return None
        return _with_step(made, x, product, Activation(function, c0, c1))
    pairs = [(x, y), (y, x)] if function in ("add", "multiply") else [(x, y)]
    for value, other in pairs:
        if isinstance(other.op, Constant):
            return _folded(made, scaling, value, function, other.op.array)
    if function != "add":
        return None
    return _with_residual(made, x, y) or _with_residual(made, y, x)


def _with_residual(made: Rewriting, value: Value, other: Value) -> Value | None:
    """Add a tensor of the same shape in the pipeline of a product; None if not possible."""
    product = _open(made, value)
    if product is None or product.residual is not None or other.shape != value.shape:
        return None
    if isinstance(other.op, Dequantize):
        q = other.op
        step = residual(q.q.dtype, q.scale, q.zero_point)
        return _with_step(made, value, product, step, residual=q.q)
    if other.dtype != "float32":
        return None
    return _with_step(made, value, product, residual(), residual=other)


# Constants ---------------------------------------------------------------------------------------


def _folded(
    made: Rewriting, scaling: Scaling, value: Value, function: str, constant: Array
) -> Value | None:
    """Fold a factor or summand for each channel into weights and bias, or None.

    constant: broadcast against the result of the product.
    """
    product = _open(made, value)
    if product is None or product.post or product.result != "float32":
        return None
    shape = shape_of(value)
    if constant.ndim > len(shape) or constant.dtype != np.float32:
        return None
    padded = constant.reshape((1,) * (len(shape) - constant.ndim) + constant.shape)
    if any(size != 1 for i, size in enumerate(padded.shape) if i != product.channel_axis):
        return None
    channels = product.out_channels
    per_channel = np.broadcast_to(padded.reshape(-1), (channels,))
    bias = np.zeros(channels, np.float32) if product.bias is None else product.bias
    if bias.dtype != np.float32:
        return None
    if function in ("add", "subtract"):
        bias = bias + per_channel if function == "add" else bias - per_channel
        return made.add(replace(product, bias=bias), value)
    if function not in ("multiply", "divide"):
        return None
    with np.errstate(all="ignore"):
        factors = per_channel if function == "multiply" else 1 / per_channel
        bias = (bias * factors).astype(np.float32)
        factors = factors.astype(np.float32)
    scaled = scaling.scaled(product, factors) if np.isfinite(bias).all() else None
    if scaled is None:
        return None
    return made.add(replace(scaled, bias=None if product.bias is None else bias), value)


# Results side by side ----------------------------------------------------------------------------


@_rule.register
def _(op: Concat, made: Rewriting, scaling: Scaling) -> Value | None:
    """Join results along their channels, if no other op reads them."""
    products = [value.op for value in op.values if isinstance(value.op, Product)]
    alike = {(type(value.op), len(value.shape), value.dtype) for value in op.values}
    if len(products) < max(len(op.values), 2) or len(alike) != 1:
        return None
    free = all(made.is_inside(value) for value in op.values)
    parts = any(product.part is not None for product in products)
    if not free or parts or products[0].channel_axis != op.axis:
        return None
    channels, first, last = sum(product.out_channels for product in products), 0, None
    for product, value in zip(products, op.values, strict=True):
        nodes = made.nodes if product is products[-1] else ()
        part = replace(product, part=Part(channels, first), before=last)
        last = made.graph.add(part, (*value.nodes, *nodes))
        first += product.out_channels
    return last
