"""Attention that pools: one query, the same for all pictures, reads the states of each (SigLIP).

    y = o(softmax(q k^T) v),    result = y + mlp(norm(y))

The query is a part of the projection to queries, keys and values: its weights are 0, and its bias
is the query, so that every token has it and the op of all other layers computes the context.
"""

from __future__ import annotations

from dataclasses import dataclass

from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import NormKind
from fbg.graph.ops.op import Value
from fbg.networks.graph import add_norm


@dataclass(frozen=True)
class Probe:
    """The part that reads every token."""

    qkv: Linear


@dataclass(frozen=True)
class AttentionPool:
    """The layers; those behind `probe` are float32: one row gains nothing from less precision."""

    probe: Probe
    output: Linear
    norm: NormKind | None
    intermediate: Linear
    last: Linear
    activation: str

    def build(self, graph: Graph, context: Value) -> Value:
        """Add what follows the context, of which the rows of a picture are all the same."""
        y = graph.add(ops.Linear(graph.add(ops.Pool(context, "cls")), self.output))
        wide = add_norm(graph, y, self.norm)
        wide = graph.add(ops.Linear(wide, self.intermediate, self.activation))
        return graph.add(ops.Linear(wide, self.last, residual=y))
