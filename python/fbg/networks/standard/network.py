"""The network that most encoders and decoders of today have in common: weights and graph.

Each half of a layer, attention and the feed-forward part, is added to what it reads. Families
differ in their norms and where these stand, in their heads, positions, masks and gates:
StandardConfig says how. `build_layer` is the network.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints.checkpoint import Part
from fbg.checkpoints.kernel_tensor import Kernel
from fbg.compression.linear import Linear
from fbg.compression.smoothing import SmoothingGroup
from fbg.locks import cached_property
from fbg.networks import transformer
from fbg.networks.config import EncoderConfig
from fbg.networks.graph import Norm, RmsNorm, add_activated, add_linear, add_norm
from fbg.networks.rotation import Rotation
from fbg.networks.source import Source
from fbg.networks.standard.config import Buckets, Names, StandardConfig
from fbg.networks.standard.disentangled import RelativeTables, distance_rows, read_tables
from fbg.networks.transformer import Transformer

__all__ = ["Standard", "alibi_slopes", "distance_buckets"]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Embeddings(transformer.Embeddings):
    position: Floats | None
    token_type: Floats | None
    distance: Floats | None  # (buckets, heads): added to the scores of all layers


@dataclass(frozen=True)
class Layer(transformer.Layer):
    q_norm: RmsNorm | None  # of each head
    k_norm: RmsNorm | None
    attention_norm: Norm
    attention_post_norm: Norm | None
    intermediate: Linear
    output: Linear
    mlp_norm: Norm
    mlp_post_norm: Norm | None
    relative: RelativeTables | None
    convolution: Linear | None  # of each token and its neighbours
    convolution_norm: Norm | None


@dataclass(frozen=True)
class Standard(Transformer):
    config: StandardConfig
    embeddings: Embeddings
    layers: tuple[Layer, ...]
    final_norm: Norm | None

    def build_embeddings(self, graph: _fbg.Graph) -> int:
        tables = self.embeddings
        x = graph.embedding(tables.word, tables.position, tables.token_type)
        return add_norm(graph, x, tables.norm)

    def build_layer(self, graph: _fbg.Graph, index: int, x: int) -> int:
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
        norm: Norm,
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
        return add_norm(graph, x, self.final_norm)

    def smoothing_groups(self) -> list[SmoothingGroup]:
        """Where query heads share keys and values, so would their factors: inputs are divided."""
        groups = super().smoothing_groups()
        if self.config.kv_heads == self.config.num_heads:
            return groups
        return [SmoothingGroup(group.readers) for group in groups]

    @property
    def derived(self) -> tuple[Floats, ...]:
        bias = self._distance_bias
        return (*self._turns.values(), *(() if bias is None else (bias,)))

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
        distances = np.arange(1 - config.max_length, config.max_length)
        if table is not None and config.buckets is not None:
            bias = table[distance_buckets(distances, config.buckets)].T.astype(np.float64)
        elif config.alibi:
            bias = -alibi_slopes(config.num_heads)[:, None] * np.abs(distances)
        else:
            return None
        scale = config.scale or 1 / math.sqrt(config.head_dim)
        return np.ascontiguousarray(bias / scale, np.float32)

    @classmethod
    def read(cls, source: Source, config: EncoderConfig) -> Standard:
        assert isinstance(config, StandardConfig)
        names = next(
            (names for names in config.layouts if _stored(source, names)), config.layouts[0]
        )
        hidden, pooler = config.hidden_size, None
        if names.pooler and source.rows("pooler.weight", f"{names.pooler}.weight") is not None:
            pooler = source.linear("pooler", [names.pooler], hidden, hidden, dtype="float32")
        layers = tuple(_read_layer(source, config, names, n) for n in range(config.num_layers))
        if config.relative is not None:
            stored = [names.layer.format(n=n) for n in range(config.num_layers)]
            tables = read_tables(source, config.relative, names.relative, stored, hidden)
            pairs = zip(layers, tables, strict=True)
            layers = tuple(replace(layer, relative=table) for layer, table in pairs)
        if config.convolution is not None:
            layers = (_with_convolution(source, config, names, layers[0]), *layers[1:])
        return cls(
            config,
            _read_embeddings(source, config, names),
            layers,
            pooler,
            _read_norm(source, config, "final_norm", names.final_norm),
        )


def _stored(source: Source, names: Names) -> bool:
    """Return whether the checkpoint calls its tensors so: some of them, as one may be missing."""
    layer = names.layer.format(n=0)
    first = names.qkv[0].name if isinstance(names.qkv[0], Part) else names.qkv[0]
    probes = (("qkv", first), ("attention_output", names.attention_output))
    return any(
        source.rows(f"layers.0.{field}.weight", f"{layer}.{name}.weight") is not None
        for field, name in probes
    )


def _read_norm(source: Source, config: StandardConfig, field: str, name: str | None) -> Norm | None:
    if name is None:
        return None
    if config.rms:
        size = config.hidden_size
        return source.rms_norm(field, name, size, config.norm_eps, config.norm_adds_one)
    bias = "norm" in config.biases
    return source.norm(field, name, config.hidden_size, config.norm_eps, bias=bias)


def _read_embeddings(source: Source, config: StandardConfig, names: Names) -> Embeddings:
    def table(field: str, name: str | None, rows: int, cols: int) -> Floats | None:
        return None if name is None else source.table(f"embeddings.{field}", name, rows, cols)

    hidden = config.hidden_size
    buckets = config.buckets.count if config.buckets is not None else 0
    scale = config.embedding_scale
    word = source.table("embeddings.word", names.word, config.vocab_size, hidden, scale=scale)
    return Embeddings(
        word=word,
        norm=_read_norm(source, config, "embeddings.norm", names.embedding_norm),
        position=table("position", names.position, config.max_positions, hidden),
        token_type=table("token_type", names.token_type, config.num_token_types, hidden),
        distance=table("distance", names.distance, buckets, config.num_heads),
    )


def _read_layer(source: Source, config: StandardConfig, names: Names, n: int) -> Layer:
    hidden, wide, dim = config.hidden_size, config.intermediate_size, config.head_dim
    queries, keys = config.num_heads * dim, config.kv_heads * dim

    def full(name: str) -> str:
        return f"{names.layer.format(n=n)}.{name}"

    def norm(field: str, name: str | None) -> Norm | None:
        return _read_norm(
            source, config, f"layers.{n}.{field}", None if name is None else full(name)
        )

    def required(field: str, name: str) -> Norm:
        found = norm(field, name)
        assert found is not None
        return found

    def head_norm(field: str, name: str | None) -> RmsNorm | None:
        if name is None:
            return None
        eps, adds_one = config.norm_eps, config.norm_adds_one
        return source.rms_norm(f"layers.{n}.{field}", full(name), dim, eps, adds_one)

    def linear(
        field: str, parts: Sequence[str | Part], inputs: int, outputs: Sequence[int]
    ) -> Linear:
        stored = [
            replace(part, name=full(part.name)) if isinstance(part, Part) else full(part)
            for part in parts
        ]
        total = sum(outputs)
        widths = outputs if len(parts) == len(outputs) else [total // len(parts)] * len(parts)
        bias = field in config.biases
        return source.linear(f"layers.{n}.{field}", stored, inputs, widths, bias=bias)

    qkv = linear("qkv", names.qkv, hidden, [queries, keys, keys])
    if names.qkv_biases:
        stored = [None if name is None else full(name) for name in names.qkv_biases]
        qkv = replace(qkv, bias=source.vectors(f"{qkv.name}.bias", stored, [queries, keys, keys]))
    return Layer(
        qkv=qkv,
        attention_output=linear("attention_output", (names.attention_output,), queries, [hidden]),
        q_norm=head_norm("q_norm", names.q_norm),
        k_norm=head_norm("k_norm", names.k_norm),
        attention_norm=required("attention_norm", names.attention_norm),
        attention_post_norm=norm("attention_post_norm", names.attention_post_norm),
        intermediate=linear(
            "intermediate", names.intermediate, hidden, [wide] * (1 + config.gated)
        ),
        output=linear("output", (names.output,), wide, [hidden]),
        mlp_norm=required("mlp_norm", names.mlp_norm),
        mlp_post_norm=norm("mlp_post_norm", names.mlp_post_norm),
        relative=None,
        convolution=None,
        convolution_norm=None,
    )


def _with_convolution(source: Source, config: StandardConfig, names: Names, layer: Layer) -> Layer:
    """Return the first layer with the convolution beside it."""
    assert config.convolution is not None
    hidden, width = config.hidden_size, config.convolution.width
    kernel = Kernel(f"{names.convolution}.conv", width, config.convolution.groups)
    field = "layers.0.convolution"
    norm = _read_norm(source, config, f"{field}_norm", f"{names.convolution}.LayerNorm")
    linear = source.linear(field, [kernel], width * hidden, hidden)
    return replace(layer, convolution=linear, convolution_norm=norm)


def distance_buckets(distances: npt.NDArray[np.int64], buckets: Buckets) -> npt.NDArray[np.int64]:
    """Return the row of the table for each place of a key minus that of a query."""
    half = buckets.count // 2
    exact, away = half // 2, np.abs(distances)
    with np.errstate(divide="ignore"):
        power = np.log(away.astype(np.float32) / exact) / math.log(buckets.longest / exact)
    far = exact + np.where(away < exact, 0, power * np.float32(half - exact)).astype(np.int64)
    near: npt.NDArray[np.int64] = np.where(away < exact, away, np.minimum(far, half - 1))
    return near + np.where(distances > 0, half, 0)


def alibi_slopes(heads: int) -> npt.NDArray[np.float64]:
    """Return the rate of each head: powers of 2^(-8 / heads); for other numbers than powers of two,
    those of the next smaller one, then every other one of twice that.
    """
    power = 1 << (heads.bit_length() - 1)
    first = 2.0 ** (-8.0 / power * np.arange(1, power + 1))
    between = 2.0 ** (-4.0 / power * np.arange(1, 2 * power, 2))
    return np.concatenate([first, between])[:heads]
