"""The network of all families, encoders and decoders alike: weights, and the ops that they make.

Each half of a layer, attention and the feed-forward part, is added to what it reads (Vaswani et
al., 2017, arXiv:1706.03762). Families differ in their norms and where these stand, in their heads,
positions, masks and gates: EncoderConfig says how. `build_layer` is the network.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.linear import Linear
from fbg.compression.smoothing import SmoothingGroup
from fbg.locks import cached_property
from fbg.matmul.weights import QUANTIZED, dtype_name
from fbg.networks.config import EncoderConfig
from fbg.networks.disentangled import RelativeTables, distance_rows
from fbg.networks.distances import alibi_slopes, distance_buckets
from fbg.networks.gliner import SpanHead
from fbg.networks.graph import Norm, RmsNorm, add_activated, add_linear, add_norm
from fbg.networks.heads import Head
from fbg.networks.rotation import Rotation

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
    """What comes before the layers."""

    word: Floats  # (V, E)
    norm: Norm | None = None
    position: Floats | None = None
    token_type: Floats | None = None
    projection: Linear | None = None  # (E, H)
    distance: Floats | None = None  # (buckets, heads): added to the scores of all layers


@dataclass(frozen=True)
class Layer:
    """One transformer block."""

    qkv: Linear  # (H, heads * dim + 2 * kv_heads * dim): query, key and value side by side
    attention_output: Linear
    q_norm: RmsNorm | None  # of each head
    k_norm: RmsNorm | None
    attention_norm: Norm | None
    attention_post_norm: Norm | None
    intermediate: Linear  # (H, I); of a gated layer (H, 2 I): what is activated, then its gate
    output: Linear
    mlp_norm: Norm | None
    mlp_post_norm: Norm | None
    relative: RelativeTables | None = None
    convolution: Linear | None = None  # of each token and its neighbours
    convolution_norm: Norm | None = None


@dataclass(frozen=True)
class Transformer:
    """A network and its weights. The names of its fields are those of the tensors when saved.

    dtype: of the linear layers of the encoder, but for those that mixed precision keeps.
    layers: in the order in which they run; one may recur. Static embeddings have none.
    """

    config: EncoderConfig
    embeddings: Embeddings
    layers: tuple[Layer, ...] = ()
    pooler: Linear | None = None
    final_norm: Norm | None = None
    head: Head | None = field(default=None, kw_only=True)
    spans: SpanHead | None = field(default=None, kw_only=True)
    dtype: str = field(default="float32", kw_only=True)

    def build(self, graph: _fbg.Graph, taps: list[int] | None = None) -> int:
        """Add the encoder to an empty graph; return the buffer of its last hidden states.

        taps: receives the buffers of the hidden states: of the embeddings, and after each layer.
        """
        taps = [] if taps is None else taps
        taps.append(self.build_embeddings(graph))
        for index in range(len(self.layers)):
            taps.append(self.build_layer(graph, index, taps[-1]))
        return self.build_output(graph, taps[-1])

    def build_embeddings(self, graph: _fbg.Graph) -> int:
        """Begin a graph with what comes before the layers; return the buffer."""
        tables = self.embeddings
        x = graph.embedding(tables.word, tables.position, tables.token_type)
        x = add_norm(graph, x, tables.norm)
        return x if tables.projection is None else add_linear(graph, x, tables.projection)

    def build_layer(self, graph: _fbg.Graph, index: int, x: int) -> int:
        """Add a layer that reads buffer x; return the buffer of its hidden states."""
        layer, config, read = self.layers[index], self.config, x

        def attend(x: int, residual: int | None) -> int:
            context = self._build_attention(graph, index, add_linear(graph, x, layer.qkv))
            return add_linear(graph, context, layer.attention_output, residual=residual)

        def feed_forward(x: int, residual: int | None) -> int:
            if config.gated:
                y = add_linear(graph, x, layer.intermediate, gate=config.activation)
            else:
                y = add_linear(graph, x, layer.intermediate, config.activation)
            return add_linear(graph, y, layer.output, residual=residual)

        x = self._build_half(graph, x, attend, layer.attention_norm, layer.attention_post_norm)
        x = self._build_half(graph, x, feed_forward, layer.mlp_norm, layer.mlp_post_norm)
        if config.convolution is None or layer.convolution is None:
            return x
        near = graph.unfold(read, config.convolution.width)
        near = add_activated(graph, near, layer.convolution, config.convolution.activation)
        return add_norm(graph, graph.add(near, x), layer.convolution_norm)

    def _build_half(
        self,
        graph: _fbg.Graph,
        x: int,
        half: Callable[[int, int | None], int],
        norm: Norm | None,
        post_norm: Norm | None,
    ) -> int:
        """Add half of a layer, half(what it reads, residual), with its norms."""
        if self.config.place == "after":
            return add_norm(graph, half(x, x), norm)
        if self.config.place == "before":
            return half(add_norm(graph, x, norm), x)
        return graph.add(add_norm(graph, half(add_norm(graph, x, norm), None), post_norm), x)

    def _build_attention(self, graph: _fbg.Graph, index: int, qkv: int) -> int:
        layer, config = self.layers[index], self.config
        window = config.windows[index] if config.windows else None
        shape = _fbg.AttentionShape(
            config.num_heads, config.kv_heads, config.head_dim, config.causal, window
        )
        if layer.q_norm is not None and layer.k_norm is not None:
            q_norm, k_norm = layer.q_norm, layer.k_norm
            qkv = graph.norm_heads(qkv, shape, q_norm.weight, k_norm.weight, q_norm.eps)
        if config.rotations:
            qkv = graph.rotate(qkv, shape, self._turns[config.rotations[index]])
        tables = layer.relative or RelativeTables(None, None)
        return graph.attention(
            qkv,
            shape,
            self.rounds,
            self._distance_bias,
            config.scale,
            config.softcap,
            tables.keys,
            tables.queries,
            self._distance_rows,
        )

    def build_output(self, graph: _fbg.Graph, x: int) -> int:
        """Add what follows the last layer; return the buffer of the last hidden states."""
        return add_norm(graph, x, self.final_norm)

    def smoothing_groups(self) -> list[SmoothingGroup]:
        """Return the linear layers whose inputs int8 smooths, and where the factors go.

        The context of attention is linear in V, so that its factors can be part of the weights of
        V, the last columns of QKV. All other inputs are divided when they are quantized; so is the
        context where query heads share keys and values, as they would share factors.
        """
        config = self.config
        width = config.num_heads * config.head_dim
        groups = []
        for name in linears(self):
            layer, _, part = name.rpartition(".")
            if part == "attention_output" and config.kv_heads == config.num_heads:
                groups.append(SmoothingGroup((name,), f"{layer}.qkv", 2 * width, 3 * width))
            else:
                groups.append(SmoothingGroup((name,)))
        return groups

    @property
    def derived(self) -> tuple[Floats, ...]:
        """Tables of the graph that are computed from the others, and in no file."""
        bias = self._distance_bias
        return (*self._turns.values(), *(() if bias is None else (bias,)))

    @property
    def rounds(self) -> bool:
        """Whether attention may round to bfloat16."""
        return self.dtype in ROUNDED

    @cached_property
    def _turns(self) -> dict[Rotation, Floats]:
        length = self.config.max_length
        return {rotation: rotation.table(length) for rotation in set(self.config.rotations)}

    @cached_property
    def _distance_rows(self) -> npt.NDArray[np.int32] | None:
        relative = self.config.relative
        return None if relative is None else distance_rows(relative, self.config.max_length)

    @cached_property
    def _distance_bias(self) -> Floats | None:
        """(heads, 2 L - 1): what attention adds before it multiplies by the scale."""
        config, table = self.config, self.embeddings.distance
        scale = config.scale or 1 / math.sqrt(config.head_dim)
        distances = np.arange(1 - config.max_length, config.max_length)
        if table is not None and config.buckets is not None:
            bias = table[distance_buckets(distances, config.buckets)].T * np.float32(1 / scale)
        elif config.alibi:
            bias = -alibi_slopes(config.num_heads)[:, None] * np.abs(distances) / scale
        else:
            return None
        return np.ascontiguousarray(bias, np.float32)


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
