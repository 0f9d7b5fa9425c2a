"""Products of floats become products of bfloat16: their weights are rounded, half to even.

How each of them multiplies is chosen when it is lowered (`fbg.graph.lower.products`): where the CPU
has instructions for it, what it reads is rounded as well. Recurrent layers widen their weights as
they are loaded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fbg.arrays import bfloat16
from fbg.graph.graph import Graph
from fbg.graph.ops.op import Op
from fbg.graph.ops.products import Attend, Product
from fbg.graph.ops.recurrent import Recurrent
from fbg.graph.packed_weights import Weights


def round_products(graph: Graph) -> Graph:
    """Return the same graph with weights of bfloat16 in the place of those of float32."""
    return graph.rewritten(_rounded)


def _rounded(op: Op) -> Op:
    if isinstance(op, Attend):
        return replace(op, rounds=True)
    if isinstance(op, Product) and op.w.dtype == np.float32:
        return replace(op, w=_half(op.w))
    if isinstance(op, Recurrent) and op.weights[0].w.dtype == np.float32:
        return replace(op, weights=tuple(replace(each, w=_half(each.w)) for each in op.weights))
    return op


def _half(w: Weights) -> Weights:
    kind = bfloat16()
    return w.then("bfloat16", lambda w: w.astype(kind), dtype=kind)
