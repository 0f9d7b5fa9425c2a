"""Functions of bytes that a product has rounded: it looks them up before it writes the result.

A table is applied to registers where kernels have instructions for it. Elsewhere it stays an op of
its own (maps.py), which reads and writes the bytes once more. Results are the same.
"""

from __future__ import annotations

from dataclasses import replace

from fbg import _fbg
from fbg.graph.graph import Graph
from fbg.graph.lower.maps import table_of
from fbg.graph.ops.common import Map
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.products import Product
from fbg.graph.ops.tensors import Constant
from fbg.graph.rewrite import Rewriting, rewrite
from fbg.graph.steps import Quantization


def fuse_tables(graph: Graph, features: int) -> Graph:
    """Let products look up functions of their results, for kernels of these CPU features."""
    if not _fbg.looks_up(features):
        return graph
    return rewrite(graph, lambda made, op: _rule(made, op, features), Map)


def _rule(made: Rewriting, op: Op, features: int) -> Value | None:
    if not isinstance(op, Map):
        return None
    given = [value.op.array if isinstance(value.op, Constant) else None for value in op.operands]
    if any(array is not None and array.size != 1 for array in given) or given.count(None) != 1:
        return None
    value = op.operands[given.index(None)]
    product = value.op
    if not isinstance(product, Product) or product.part is not None or not product.post:
        return None
    last = product.post[-1]
    same = (value.dtype, value.shape) == (op.dtype, op.infer())
    if not isinstance(last, Quantization) or last.table or not same or not made.is_inside(value):
        return None
    types = [
        value.dtype if array is None else str(array.dtype)
        for value, array in zip(op.operands, given, strict=True)
    ]
    table = table_of(op.steps, list(zip(given, types, strict=True)), op.dtype, features)
    looked_up = replace(last, table=table.tobytes())
    return made.add(replace(product, post=(*product.post[:-1], looked_up)), value)
