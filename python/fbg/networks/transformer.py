"""What every network is made of, and what it must say about itself.

A network (bert/, modernbert/) is a Transformer: dataclasses of weights, how they are read from a
source, and the ops that they make. registry.py finds the one that a config.json names.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.linear import Linear
from fbg.compression.smoothing import SmoothingGroup
from fbg.matmul.weights import QUANTIZED, dtype_name
from fbg.networks.config import EncoderConfig
from fbg.networks.gliner import SpanHead
from fbg.networks.graph import Norm
from fbg.networks.heads import Head
from fbg.networks.source import Source

__all__ = [
    "ROUNDED",
    "Embeddings",
    "Layer",
    "Transformer",
    "linears",
    "linears_of",
    "precision",
    "replace_linears",
]

Floats = npt.NDArray[np.float32]

# Dtypes less accurate than the bfloat16 products of attention.
ROUNDED = ("bfloat16", *QUANTIZED)


@dataclass(frozen=True)
class Embeddings:
    """What comes before the layers; networks add to it."""

    word: Floats  # (V, E)
    norm: Norm | None


@dataclass(frozen=True)
class Layer:
    """One transformer block; networks add what follows attention."""

    qkv: Linear  # (H, heads * dim + 2 * kv_heads * dim): query, key and value side by side
    attention_output: Linear


@dataclass(frozen=True)
class Transformer(ABC):
    """A network and its weights. The names of its fields are those of the tensors when saved.

    dtype: of the linear layers of the encoder, but for those that mixed precision keeps.
    layers: in the order in which they run; one may recur.
    """

    config: EncoderConfig
    embeddings: Embeddings
    layers: tuple[Layer, ...]
    pooler: Linear | None
    head: Head | None = field(default=None, kw_only=True)
    spans: SpanHead | None = field(default=None, kw_only=True)
    dtype: str = field(default="float32", kw_only=True)

    @classmethod
    @abstractmethod
    def read(cls, source: Source, config: EncoderConfig) -> Transformer:
        """Read the weights. The pooler is float32: one row has nothing to gain from less."""

    @abstractmethod
    def build_embeddings(self, graph: _fbg.Graph) -> int:
        """Begin a graph with what comes before the layers; return the buffer."""

    @abstractmethod
    def build_layer(self, graph: _fbg.Graph, index: int, x: int) -> int:
        """Add a layer that reads buffer x; return the buffer of its hidden states."""

    def build_output(self, graph: _fbg.Graph, x: int) -> int:
        """Add what follows the last layer; return the buffer of the last hidden states."""
        return x

    def build(self, graph: _fbg.Graph, taps: list[int] | None = None) -> int:
        """Add the encoder to an empty graph; return the buffer of its last hidden states.

        taps: receives the buffers of the hidden states: of the embeddings, and after each layer.
        """
        taps = [] if taps is None else taps
        taps.append(self.build_embeddings(graph))
        for index in range(len(self.layers)):
            taps.append(self.build_layer(graph, index, taps[-1]))
        return self.build_output(graph, taps[-1])

    def smoothing_groups(self) -> list[SmoothingGroup]:
        """Return the linear layers whose inputs int8 smooths, and where the factors go.

        The context of attention is linear in V, so that its factors can be part of the weights of
        V, the last columns of QKV. All other inputs are divided when they are quantized.
        """
        width = self.config.num_heads * self.config.head_dim
        groups = []
        for name in linears(self):
            layer, _, part = name.rpartition(".")
            if part == "attention_output":
                groups.append(SmoothingGroup((name,), f"{layer}.qkv", 2 * width, 3 * width))
            else:
                groups.append(SmoothingGroup((name,)))
        return groups

    @property
    def derived(self) -> tuple[Floats, ...]:
        """Tables of the graph that are computed from the others, and in no file."""
        return ()

    @property
    def rounds(self) -> bool:
        """Whether attention may round to bfloat16."""
        return self.dtype in ROUNDED


def linears(transformer: Transformer) -> dict[str, Linear]:
    """Return the linear layers of the encoder by name, in the order in which they first run."""
    parts: list[Embeddings | Layer] = [transformer.embeddings, *transformer.layers]
    return {linear.name: linear for part in parts for linear in linears_of(part).values()}


def precision(transformer: Transformer) -> str:
    """Return the dtypes of the packed linear layers, in words: "int8 in 35 of 36 linear layers,
    bfloat16 in 1", or the only one.
    """
    layers = linears(transformer).values()
    counts = Counter(dtype_name(linear.packed) for linear in layers)
    if not counts:
        return "no linear layers"
    if len(counts) == 1:
        return next(iter(counts))
    (first, most), *others = counts.most_common()
    rest = "".join(f", {dtype} in {count}" for dtype, count in others)
    return f"{first} in {most} of {len(layers)} linear layers{rest}"


def linears_of(part: Embeddings | Layer) -> dict[str, Linear]:
    """Return the linear layers of a part of the network by the name of the field."""
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return {key: value for key, value in values.items() if isinstance(value, Linear)}


def replace_linears(transformer: Transformer, new: Mapping[str, Linear]) -> Transformer:
    """Return the transformer with some linear layers replaced, by their names; layers that are
    shared stay shared.
    """

    def renewed(part: Any) -> Any:
        changed = {
            key: new[linear.name] for key, linear in linears_of(part).items() if linear.name in new
        }
        return dataclasses.replace(part, **changed) if changed else part

    distinct = {id(layer): layer for layer in transformer.layers}
    layers = {key: renewed(layer) for key, layer in distinct.items()}
    return dataclasses.replace(
        transformer,
        embeddings=renewed(transformer.embeddings),
        layers=tuple(layers[id(layer)] for layer in transformer.layers),
    )
