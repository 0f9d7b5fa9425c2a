"""What every network is made of: packed linear layers, norms, and where their tensors come from.

bert.py and modernbert.py are networks: each is a Transformer that says how its tensors are called
and what ops they make; networks.py chooses one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.networks.config import EncoderConfig

__all__ = [
    "ROUNDED",
    "WEIGHT_LIMITS",
    "Embeddings",
    "Head",
    "Layer",
    "LayerNorm",
    "Linear",
    "PackedWeight",
    "Source",
    "Transformer",
    "add_linear",
    "add_norm",
    "describe_pooler",
    "pack_weight",
]

Floats = npt.NDArray[np.float32]
PackedWeight = _fbg.PackedBInt8 | _fbg.PackedBFloat32 | _fbg.PackedBBFloat16 | _fbg.PackedBFloat16

# What the linear layers of an encoder may be packed for, and the largest weight that it can hold.
WEIGHT_LIMITS = {
    "float32": np.inf,
    "bfloat16": 3.3895e38,
    "float16": 65504.0,
    "int8": np.inf,
}

# Dtypes less accurate than the bfloat16 products of attention.
ROUNDED = ("bfloat16", "int8")


@dataclass(frozen=True)
class Linear:
    """y = x @ weight + bias, the weight packed; x is first multiplied by the channel scale."""

    weight: PackedWeight
    bias: Floats | None
    channel_scale: Floats | None = None  # only of int8 weights


@dataclass(frozen=True)
class LayerNorm:
    weight: Floats
    bias: Floats | None
    eps: float


@dataclass(frozen=True)
class Embeddings:
    """What comes before the layers; networks add to it."""

    word: Floats
    norm: LayerNorm


@dataclass(frozen=True)
class Layer:
    """One transformer block; networks add what follows attention."""

    qkv: Linear  # (H, 3 H): query, key and value side by side
    attention_output: Linear


class Source(Protocol):
    """Where a network finds its tensors: a checkpoint, or a saved model.

    Each has two names. field: its path from the Transformer, as saved models call it. name: the one
    in checkpoints. Both go without ".weight" and ".bias". Raises ModelError.
    """

    def linear(
        self,
        field: str,
        names: tuple[str, ...],
        inputs: int,
        outputs: int,
        *,
        bias: bool = True,
        dtype: str | None = None,
    ) -> Linear:
        """Return a layer whose parts of `outputs` columns each lie side by side.

        dtype: of the weights; that of the model if None.
        """

    def norm(
        self, field: str, name: str, size: int, eps: float, *, bias: bool = True
    ) -> LayerNorm: ...

    def table(self, field: str, name: str, rows: int, cols: int) -> Floats: ...

    def vector(self, field: str, name: str, size: int) -> Floats:
        """Return a vector; the names of this and of `rows` are complete."""

    def rows(self, field: str, name: str) -> int | None:
        """Return how many rows a tensor has that may be missing or wrong; None if it is missing."""

    def __contains__(self, names: tuple[str, str]) -> bool:
        """Return whether there is a weight of that (field, name)."""


@dataclass(frozen=True)
class Head:
    """What follows the encoder in a model for a task (heads.py), in float32.

    kind: as in task_config.KINDS.
    labels: of the outputs of the last layer.
    """

    kind: str
    labels: tuple[str, ...]
    activation: str  # after `dense`
    dense: Linear | None
    norm: LayerNorm | None
    output: Linear | None  # a masked language model has a decoder instead
    decoder: Floats | None  # (V, E); None: the table of word embeddings
    decoder_bias: Floats | None


@dataclass(frozen=True)
class Transformer(ABC):
    """A network and its weights. The names of its fields are those of the tensors when saved."""

    config: EncoderConfig
    dtype: str
    embeddings: Embeddings
    layers: tuple[Layer, ...]  # in the order in which they run; one may recur
    pooler: Linear | None
    head: Head | None = field(default=None, kw_only=True)

    @classmethod
    @abstractmethod
    def read(cls, source: Source, config: EncoderConfig, dtype: str) -> Transformer:
        """Read the weights; those of the pooler stay float32, one row has nothing to gain."""

    @abstractmethod
    def describe(self, graph: _fbg.Graph, taps: list[int] | None = None) -> int:
        """Add the encoder to a graph and return the buffer of its last hidden states.

        taps: receives the buffers of the hidden states: of the embeddings, and after each layer.
        """

    @property
    def derived(self) -> tuple[Floats, ...]:
        """Tables of the graph that are computed from the others, and in no file."""
        return ()

    @property
    def rounds(self) -> bool:
        """Whether attention may round to bfloat16."""
        return self.dtype in ROUNDED


def describe_pooler(graph: _fbg.Graph, hidden: int, pooler: Linear) -> int:
    """Add the pooler, tanh of a linear layer on the first token; return its buffer."""
    return graph.tanh(add_linear(graph, graph.first_token(hidden), pooler))


def add_linear(
    graph: _fbg.Graph,
    x: int,
    linear: Linear,
    activation: str = "none",
    residual: int | None = None,
) -> int:
    return graph.linear(
        x,
        linear.weight,
        bias=linear.bias,
        activation=activation,
        residual=residual,
        channel_scale=linear.channel_scale,
    )


def add_norm(graph: _fbg.Graph, x: int, norm: LayerNorm) -> int:
    return graph.layer_norm(x, norm.weight, norm.bias, norm.eps)


def pack_weight(weight: Floats, dtype: str) -> PackedWeight:
    """Pack a (K, N) matrix; int8 is symmetric with one scale per column."""
    if dtype == "int8":
        return _fbg.pack_b_quantize(weight, per_column=True, symmetric=True)
    if dtype == "bfloat16":
        return _fbg.pack_b_bfloat16(weight)
    if dtype == "float16":
        return _fbg.pack_b_float16(weight)
    return _fbg.pack_b_float32(weight)
