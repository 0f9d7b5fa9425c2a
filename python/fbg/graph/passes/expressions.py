"""Functions of the elements of a product's result become steps of its epilogue.

Where there are too many steps, slots or tensors for one pipeline, the map stays an op of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fbg.arrays import Array
from fbg.graph.expression import fits, integers, pipeline_steps
from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.products import Product
from fbg.graph.ops.tensors import Constant
from fbg.graph.rewrite import Rewriting, rewrite
from fbg.graph.steps import Binary, residual, with_joined_factors

ROUNDING = {"floor", "ceil", "round", "truncate", "quantize_by"}
COMPARING = {"less", "less_equal", "greater", "greater_equal", "equal", "not", "sign", "threshold"}
JUMPS = ROUNDING | COMPARING | {"shrink", "keep_where", "keep_unless"}  # not continuous
RESERVED = 4  # stages besides `post`: conversion from integers, bias, factor, quantization


def fuse_expressions(graph: Graph) -> Graph:
    """Let products compute the maps that alone read their results."""
    return rewrite(graph, _rule, Map)


def _rule(made: Rewriting, op: Op) -> Value | None:
    if not isinstance(op, Map):
        return None
    for register, value in enumerate(op.operands):
        product = value.op
        if not isinstance(product, Product) or product.part is not None:
            continue
        if value.dtype != "float32" or value.shape != op.infer() or not made.is_inside(value):
            continue
        joined = _joined(op, register, product)
        if joined is not None:
            return made.add(joined, value)
    return None


def _joined(op: Map, x: int, product: Product) -> Product | None:
    """Return a product that computes the map, too; None if no pipeline does."""
    operands: dict[int, Binary] = {}
    other: Value | None = None
    for register, value in enumerate(op.operands):
        if register == x:
            continue
        if isinstance(value.op, Constant):
            found = _constant(value.op.array, product)
            if found is None:
                return None
            operands[register] = found
            continue
        if other is not None or product.residual is not None or value.shape != op.infer():
            return None
        other = value
        if value.dtype == "float32":
            operands[register] = residual()
            continue
        if value.dtype == "bool":
            operands[register] = residual("uint8")
            continue
        read = integers(op.steps, register, len(op.operands))
        if read is None or value.dtype not in ("uint8", "int8"):
            return None
        number, (_, _, _, scale, zero_point) = read
        operands[register] = operands[number] = residual(value.dtype, scale, int(zero_point))
    steps = pipeline_steps(op.steps, operands, x, op.dtype, len(op.operands))
    if steps is None:
        return None
    if not JUMPS & {step[0] for step in op.steps}:
        steps = with_joined_factors(steps)
    if not fits((*product.post, *steps), RESERVED):
        return None
    given = product.residual if other is None else other
    return replace(product, post=(*product.post, *steps), residual=given)


def _constant(array: Array, product: Product) -> Binary | None:
    """Return how a number, or numbers for each channel, are read; None for other arrays."""
    if array.dtype != np.float32:
        return None
    if array.size == 1:
        return Binary("add", "constant", number=float(array.reshape(-1)[0]))
    rank, axis = len(product.shape), product.channel_axis
    shape = (1,) * (rank - array.ndim) + array.shape
    if any(size != 1 for i, size in enumerate(shape) if i != axis):
        return None
    if shape[axis] != product.out_channels:
        return None
    return Binary("add", "columns", columns=np.ascontiguousarray(array.reshape(-1)))
