"""The network of all families, encoders and decoders alike: weights, and their ops.

Each half of a layer, attention and the feed-forward part, is added to its input (Vaswani et
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

from fbg.arrays import Floats
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import Map, NormKind, RmsNorm
from fbg.graph.ops.op import Value
from fbg.graph.passes.migration import SmoothingGroup
from fbg.locks import cached_property
from fbg.matmul.vocabulary import Table
from fbg.matmul.weights import QUANTIZED
from fbg.networks.config import EncoderConfig
from fbg.networks.distances import RelativeTables, alibi_slopes, distance_buckets, distance_rows
from fbg.networks.experts import Expert, Experts, build_experts
from fbg.networks.gliner import SpanHead, TokenHead
from fbg.networks.heads import Head, add_activated, add_norm, build_pooler
from fbg.networks.rotation import Rotation

# Dtypes less accurate than the bfloat16 products of attention.
ROUNDED = ("bfloat16", *QUANTIZED)
WORD = "embeddings.word"


@dataclass(frozen=True)
class Embeddings:
    """The embeddings before the layers."""

    word: Table  # (V, E); of a tower for pictures (tokens, H), what is added to patches
    norm: NormKind | None = None
    position: Floats | None = None
    token_type: Floats | None = None
    projection: Linear | None = None  # (E, H)
    distance: Floats | None = None  # (buckets, heads): added to the scores of all layers
    patches: Linear | None = None  # (numbers of a patch, H)


@dataclass(frozen=True)
class Layer:
    """One transformer block."""

    qkv: Linear  # (H, heads * dim + 2 * kv_heads * dim): query, key and value side by side
    attention_output: Linear
    q_norm: RmsNorm | None  # norms of each head
    k_norm: RmsNorm | None
    attention_norm: NormKind | None
    attention_post_norm: NormKind | None
    # (H, I); of a gated layer (H, 2 I): the gate, which is activated, then the other half
    intermediate: Linear | None  # None: the layer has experts
    output: Linear | None
    mlp_norm: NormKind | None
    mlp_post_norm: NormKind | None
    relative: RelativeTables | None = None
    convolution: Linear | None = None  # convolution over each token and its neighbours
    convolution_norm: NormKind | None = None
    experts: Experts | None = None


# Attention that pools: one query, the same for all pictures, reads the states of each (SigLIP).
#
#     y = o(softmax(q k^T) v),    result = y + mlp(norm(y))
#
# The query is a part of the projection to queries, keys and values: its weights are 0, and its bias
# is the query, so that every token has it and the op of all other layers computes the context.


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


@dataclass(frozen=True)
class Transformer:
    """A network and its weights. Its fields have the names of the saved tensors.

    dtype: for the linear layers of the encoder, except those that mixed precision keeps.
    layers: in the order in which they run; one may recur. Static embeddings have none.
    attention_pool, vector: how last hidden states become a vector, where a family has its own way.
    image: the tower for pictures beside one for texts. logits: the logarithm of the factor of their
        cosines, and what is added to those: (2,).
    """

    config: EncoderConfig
    embeddings: Embeddings
    layers: tuple[Layer, ...] = ()
    pooler: Linear | None = None
    final_norm: NormKind | None = None
    projection: Linear | None = field(default=None, kw_only=True)  # of the last hidden states
    head: Head | None = field(default=None, kw_only=True)
    spans: SpanHead | TokenHead | None = field(default=None, kw_only=True)
    attention_pool: AttentionPool | None = field(default=None, kw_only=True)
    vector: Linear | None = field(default=None, kw_only=True)
    image: Transformer | None = field(default=None, kw_only=True)
    logits: Floats | None = field(default=None, kw_only=True)
    dtype: str = field(default="float32", kw_only=True)

    def build(self, graph: Graph, taps: list[Value] | None = None) -> Value:
        """Add the encoder to an empty graph; return its last hidden states.

        taps: receives the hidden states of the embeddings, and after each layer.
        """
        x = None
        for index in range(len(self.layers) + 1):
            x = self.build_part(graph, index, x)
            if taps is not None:
                taps.append(x)
        assert x is not None
        x = add_norm(graph, x, self.final_norm)
        return x if self.projection is None else graph.add(ops.Linear(x, self.projection))

    @property
    def parts(self) -> int:
        """How many parts `build_part` knows."""
        return len(self.layers) + 1 + (self.attention_pool is not None)

    def build_vector(self, graph: Graph, hidden: Value, pooling: str, skipped: int = 0) -> Value:
        """Add the pooling of last hidden states, and the projection of the result."""
        if self.attention_pool is not None:
            context = self._build_probe(graph, hidden)
            x = self.attention_pool.build(graph, context)
        else:
            x = graph.add(ops.Pool(hidden, pooling, skipped))
        return x if self.vector is None else graph.add(ops.Linear(x, self.vector))

    def _build_probe(self, graph: Graph, hidden: Value) -> Value:
        assert self.attention_pool is not None
        config, qkv = self.config, graph.add(ops.Linear(hidden, self.attention_pool.probe.qkv))
        heads = ops.Heads(config.num_heads, config.num_heads, config.head_dim)
        return graph.add(ops.Attention(qkv, heads, self.rounds))

    @cached_property
    def _encoder(self) -> tuple[Graph, Value]:
        graph = Graph()
        return graph, self.build(graph)

    def encoder(self) -> tuple[Graph, Value]:
        """Return a graph of the encoder, for the caller to add to, and its last hidden states."""
        graph, hidden = self._encoder
        return graph.copy(), hidden

    def build_forward(self) -> Graph:
        """Return the graph of the encoder and its pooler, if there is one, both of them outputs."""
        graph, hidden = self.encoder()
        graph.output(hidden)
        if self.pooler is not None:
            graph.output(build_pooler(graph, hidden, self.pooler))
        return graph

    def build_part(self, graph: Graph, index: int, x: Value | None = None) -> Value:
        """Add a part in a scope of its own: the embeddings, which are number 0, or the n-th layer,
        which reads x and has scopes for its sub-layers; return its hidden states. Behind the layers
        is the context of the attention that pools, if there is one.
        """
        if x is None:
            with graph.scope("embeddings"):
                return self.build_embeddings(graph)
        if index > len(self.layers):
            with graph.scope("attention_pool"):
                return self._build_probe(graph, add_norm(graph, x, self.final_norm))
        with graph.scope(f"layers.{index - 1}"):
            return self.build_layer(graph, index - 1, x)

    def build_embeddings(self, graph: Graph) -> Value:
        """Begin a graph with the embeddings before the layers."""
        tables = self.embeddings
        pixels = None
        if tables.patches is not None:
            pixels = graph.add(ops.Input(tables.patches.weight.shape[0]))
        x = graph.add(ops.Embed(tables.word, tables.position, tables.token_type))
        if pixels is not None and tables.patches is not None:
            x = graph.add(ops.Linear(pixels, tables.patches, residual=x))
        x = add_norm(graph, x, tables.norm)
        return x if tables.projection is None else graph.add(ops.Linear(x, tables.projection))

    def build_layer(self, graph: Graph, index: int, x: Value) -> Value:
        """Add a layer that reads x; return its hidden states."""
        layer, config, read = self.layers[index], self.config, x

        def attend(x: Value, residual: Value | None) -> Value:
            context = self._build_attention(graph, index, graph.add(ops.Linear(x, layer.qkv)))
            return graph.add(ops.Linear(context, layer.attention_output, residual=residual))

        def feed_forward(x: Value, residual: Value | None) -> Value:
            if layer.experts is not None:
                assert residual is not None and config.mixture is not None
                chosen, activation = config.mixture.chosen, config.activation
                return build_experts(graph, x, residual, layer.experts, chosen, activation)
            assert layer.intermediate is not None and layer.output is not None
            if config.gated:
                y = graph.add(ops.Linear(x, layer.intermediate, gate=config.activation))
            else:
                y = graph.add(ops.Linear(x, layer.intermediate, config.activation))
            return graph.add(ops.Linear(y, layer.output, residual=residual))

        with graph.scope("attention"):
            x = self._build_half(graph, x, attend, layer.attention_norm, layer.attention_post_norm)
        with graph.scope("feed_forward"):
            x = self._build_half(graph, x, feed_forward, layer.mlp_norm, layer.mlp_post_norm)
        if config.convolution is None or layer.convolution is None:
            return x
        with graph.scope("convolution"):
            near = graph.add(ops.Unfold(read, config.convolution.width))
            near = add_activated(graph, near, layer.convolution, config.convolution.activation)
            return add_norm(graph, graph.add(Map.of("add", (near, x))), layer.convolution_norm)

    def _build_half(
        self,
        graph: Graph,
        x: Value,
        half: Callable[[Value, Value | None], Value],
        norm: NormKind | None,
        post_norm: NormKind | None,
    ) -> Value:
        """Add half of a layer, half(input, residual), with its norms."""
        if self.config.place == "after":
            return add_norm(graph, half(x, x), norm)
        if self.config.place == "before":
            return half(add_norm(graph, x, norm), x)
        y = add_norm(graph, half(add_norm(graph, x, norm), None), post_norm)
        return graph.add(Map.of("add", (y, x)))

    def _build_attention(self, graph: Graph, index: int, qkv: Value) -> Value:
        layer, config = self.layers[index], self.config
        window = config.windows[index] if config.windows else None
        heads = ops.Heads(config.num_heads, config.kv_heads, config.head_dim, config.causal, window)
        if layer.q_norm is not None and layer.k_norm is not None:
            qkv = graph.add(ops.NormHeads(qkv, heads, layer.q_norm, layer.k_norm))
        if config.rotations:
            qkv = graph.add(ops.Rotate(qkv, heads, self._turns[config.rotations[index]]))
        relative = None
        if layer.relative is not None:
            tables = layer.relative
            relative = ops.Relative(tables.keys, tables.queries, self._distance_rows)
        bias, scale, softcap = self._distance_bias, config.scale, config.softcap
        return graph.add(ops.Attention(qkv, heads, self.rounds, bias, scale, softcap, relative))

    def smoothing_groups(self) -> list[SmoothingGroup]:
        """Return the linear layers whose inputs int8 smooths, and where the factors go.

        The context of attention is linear in V, so that its factors can be part of the weights of
        V, the last columns of QKV. All other inputs are divided when they are quantized; so is the
        context where query heads share keys and values, as they would share factors.
        """
        config = self.config
        width = config.num_heads * config.head_dim
        groups = []
        for name in _own_linears(self):
            layer, _, part = name.rpartition(".")
            if part == "attention_output" and config.kv_heads == config.num_heads:
                groups.append(SmoothingGroup((name,), f"{layer}.qkv", 2 * width, 3 * width))
            else:
                groups.append(SmoothingGroup((name,)))
        return groups if self.image is None else groups + self.image.smoothing_groups()

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
        """(heads, 2 L - 1): numbers that attention adds before it multiplies by the scale."""
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
    """Return the linear layers of the encoder by name, in the order in which they first run; those
    of the tower for pictures follow.
    """
    own, image = _own_linears(transformer), transformer.image
    return own if image is None else own | _own_linears(image)


def _own_linears(transformer: Transformer) -> dict[str, Linear]:
    parts: list[Embeddings | Layer | Expert | Probe] = [transformer.embeddings]
    for layer in transformer.layers:
        parts += [layer, *(() if layer.experts is None else layer.experts.parts)]
    if transformer.attention_pool is not None:
        parts.append(transformer.attention_pool.probe)
    return {linear.name: linear for part in parts for linear in linears_of(part).values()}


def with_dtype(transformer: Transformer, dtype: str) -> Transformer:
    """Return the transformer with the name of the dtype in which its layers are packed."""
    image = transformer.image
    image = None if image is None else with_dtype(image, dtype)
    return dataclasses.replace(transformer, dtype=dtype, image=image)


def towers(transformer: Transformer) -> list[Transformer]:
    """Return the networks that run by themselves: one, or one for texts and one for pictures."""
    alone = dataclasses.replace(transformer, image=None)
    return [alone] if transformer.image is None else [alone, transformer.image]


def precision(transformer: Transformer) -> str:
    """Return the dtypes of the packed linear layers, in words: "int8 in 35 of 36 linear layers,
    bfloat16 in 1", or the only one.
    """
    layers = linears(transformer).values()
    counts = Counter(linear.packed.dtype for linear in layers)
    if not counts:
        return "no linear layers"
    if len(counts) == 1:
        return next(iter(counts))
    (first, most), *others = counts.most_common()
    rest = "".join(f", {dtype} in {count}" for dtype, count in others)
    return f"{first} in {most} of {len(layers)} linear layers{rest}"


def vocabulary(transformer: Transformer) -> dict[str, Table]:
    """Return the table with a row for each token, by its name, if nothing but rows of it is read: a
    tower for pictures has none, and a masked language model may multiply with it.
    """
    embeddings, head = transformer.embeddings, transformer.head
    multiplied = head is not None and head.output is None and head.decoder is None
    return {} if multiplied or embeddings.patches is not None else {WORD: embeddings.word}


def linears_of(part: Embeddings | Layer | Expert | Probe) -> dict[str, Linear]:
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

    def renewed_layer(layer: Layer) -> Any:
        if layer.experts is not None:
            parts = tuple(renewed(part) for part in layer.experts.parts)
            experts = dataclasses.replace(layer.experts, parts=parts)
            layer = dataclasses.replace(layer, experts=experts)
        return renewed(layer)

    distinct = {id(layer): layer for layer in transformer.layers}
    layers = {key: renewed_layer(layer) for key, layer in distinct.items()}
    pool, image = transformer.attention_pool, transformer.image
    if pool is not None:
        pool = dataclasses.replace(pool, probe=renewed(pool.probe))
    return dataclasses.replace(
        transformer,
        attention_pool=pool,
        image=None if image is None else replace_linears(image, new),
        embeddings=renewed(transformer.embeddings),
        layers=tuple(layers[id(layer)] for layer in transformer.layers),
    )
