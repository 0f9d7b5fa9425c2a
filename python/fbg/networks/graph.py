"""Parts that all networks add to a graph: linear layers, layer norms, the pooler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.linear import Linear

__all__ = ["LayerNorm", "NamedGraph", "add_activated", "add_linear", "add_norm", "build_pooler"]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class LayerNorm:
    """(x - mean) / sqrt(variance + eps) * weight + bias."""

    weight: Floats
    bias: Floats | None
    eps: float


class NamedGraph(_fbg.Graph):
    """A graph that remembers its linear layers: the name of each, and the buffer that it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.linears: list[tuple[str, int]] = []


def add_linear(
    graph: _fbg.Graph,
    x: int,
    linear: Linear,
    activation: str = "none",
    residual: int | None = None,
) -> int:
    """Add activation(linear(x)) + residual. Of activations, only those of a linear layer."""
    if isinstance(graph, NamedGraph):
        graph.linears.append((linear.name, x))
    return graph.linear(
        x,
        linear.packed,
        bias=linear.bias,
        activation=activation,
        residual=residual,
        channel_scale=linear.channel_scale,
    )


def add_activated(graph: _fbg.Graph, x: int, linear: Linear, activation: str) -> int:
    """Add activation(linear(x)), tanh among the activations."""
    if activation == "tanh":
        return graph.tanh(add_linear(graph, x, linear))
    return add_linear(graph, x, linear, activation)


def add_norm(graph: _fbg.Graph, x: int, norm: LayerNorm) -> int:
    return graph.layer_norm(x, norm.weight, norm.bias, norm.eps)


def build_pooler(graph: _fbg.Graph, hidden: int, pooler: Linear) -> int:
    """Add the pooler, tanh of a linear layer on the first token; return its buffer."""
    return add_activated(graph, graph.first_token(hidden), pooler, "tanh")
