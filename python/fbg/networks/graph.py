"""Parts that all networks add to a graph: linear layers, layer norms, the pooler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints.weights import UnpackedWeight
from fbg.compression.linear import Linear
from fbg.matmul.weights import PackedWeight

__all__ = [
    "LayerNorm",
    "Norm",
    "ObservedGraph",
    "Reached",
    "RmsNorm",
    "add_activated",
    "add_linear",
    "add_norm",
    "build_pooler",
]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class LayerNorm:
    """(x - mean) / sqrt(variance + eps) * weight + bias."""

    weight: Floats
    bias: Floats | None
    eps: float


@dataclass(frozen=True)
class RmsNorm:
    """x / sqrt(mean of x^2 + eps) * weight."""

    weight: Floats
    eps: float


Norm = LayerNorm | RmsNorm


class Reached(Exception):
    """A graph has all that the linear layer reads at which it was to end."""


class ObservedGraph(_fbg.Graph):
    """A graph that packs unpacked linear layers in float32, and remembers what layers read.

    weights: of the unpacked layers by name; those that are missing are added.
    end: the name of a linear layer; building the graph raises `Reached` instead of adding it.
    """

    def __init__(
        self, weights: dict[str, PackedWeight], num_threads: int, end: str | None = None
    ) -> None:
        super().__init__()
        self.readers: dict[int, list[Linear]] = {}  # of each buffer that linear layers read
        self.residuals: dict[str, int] = {}  # buffers that layers add to their outputs, by name
        self._weights = weights
        self._num_threads = num_threads
        self._end = end

    def packed(self, linear: Linear, x: int) -> PackedWeight:
        """Return the weight of a layer that reads buffer x; raises ModelError."""
        self.readers.setdefault(x, []).append(linear)
        if linear.name == self._end:
            raise Reached
        if not isinstance(linear.weight, UnpackedWeight):
            return linear.packed
        if linear.name not in self._weights:
            self._weights[linear.name] = linear.weight.pack(
                "float32", self._num_threads, stored=False
            )
        return self._weights[linear.name]


def add_linear(
    graph: _fbg.Graph,
    x: int,
    linear: Linear,
    activation: str = "none",
    residual: int | None = None,
    gate: str | None = None,
) -> int:
    """Add activation(linear(x)) + residual. Of activations, only those of a linear layer.

    gate: the function of a gated layer: gate(a) * b, where a row of linear(x) is a, b end to end.
    """
    if isinstance(graph, ObservedGraph) and residual is not None:
        graph.residuals[linear.name] = residual
    w = graph.packed(linear, x) if isinstance(graph, ObservedGraph) else linear.packed
    if gate is not None and w.shape[1] // 2 % _fbg.PANEL_COLUMNS:
        wide = graph.linear(x, w, bias=linear.bias, channel_scale=linear.channel_scale)
        return graph.gated(wide, gate)
    return graph.linear(
        x,
        w,
        bias=linear.bias,
        activation=activation,
        residual=residual,
        channel_scale=linear.channel_scale,
        gate=gate,
    )


def add_activated(graph: _fbg.Graph, x: int, linear: Linear, activation: str) -> int:
    """Add activation(linear(x)), tanh among the activations."""
    if activation == "tanh":
        return graph.tanh(add_linear(graph, x, linear))
    return add_linear(graph, x, linear, activation)


def add_norm(graph: _fbg.Graph, x: int, norm: Norm | None) -> int:
    """Add a norm; None leaves x as it is."""
    if norm is None:
        return x
    if isinstance(norm, RmsNorm):
        return graph.rms_norm(x, norm.weight, norm.eps)
    return graph.layer_norm(x, norm.weight, norm.bias, norm.eps)


def build_pooler(graph: _fbg.Graph, hidden: int, pooler: Linear) -> int:
    """Add the pooler, tanh of a linear layer on the first token; return its buffer."""
    return add_activated(graph, graph.first_token(hidden), pooler, "tanh")
