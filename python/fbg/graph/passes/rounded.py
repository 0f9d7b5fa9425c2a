"""Products of floats become products of bfloat16: their weights are rounded, half to even.

How each of them multiplies is chosen when it is lowered (`fbg.graph.lower.products`): where the CPU
has instructions for it, what it reads is rounded as well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fbg.arrays import bfloat16
from fbg.graph.graph import Graph
from fbg.graph.ops.op import Op
from fbg.graph.ops.products import Attend, Product


def round_products(graph: Graph) -> Graph:
    """Return the same graph with weights of bfloat16 in the place of those of float32."""
    return graph.rewritten(_rounded)


def _rounded(op: Op) -> Op:
    if isinstance(op, Attend):
        return replace(op, rounds=True)
    if not isinstance(op, Product) or op.w.dtype != np.float32:
        return op
    kind = bfloat16()
    return replace(op, w=op.w.then("bfloat16", lambda w: w.astype(kind), dtype=kind))
