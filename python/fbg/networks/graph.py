"""Parts that all networks add to a graph: layers with tanh, optional norms, the pooler."""

from __future__ import annotations

from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import Map, Norm, NormKind
from fbg.graph.ops.op import Value


def add_activated(graph: Graph, x: Value, layer: Linear, activation: str) -> Value:
    """Add activation(layer(x)), tanh among the activations."""
    if activation == "tanh":
        return graph.add(Map.of("tanh", (graph.add(ops.Linear(x, layer)),)))
    return graph.add(ops.Linear(x, layer, activation))


def add_norm(graph: Graph, x: Value, norm: NormKind | None) -> Value:
    """Add a norm; None leaves x as it is."""
    return x if norm is None else graph.add(Norm(x, norm))


def build_pooler(graph: Graph, hidden: Value, pooler: Linear) -> Value:
    """Add the pooler, tanh of a linear layer on the first token."""
    return add_activated(graph, graph.add(ops.Pool(hidden, "cls")), pooler, "tanh")
