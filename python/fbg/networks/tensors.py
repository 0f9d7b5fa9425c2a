"""The tensors of a transformer, read from a checkpoint or from a saved model.

Names (names.py) are used by checkpoints; fields, the names in saved models, are those of
transformer.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.weights import Kernel, Named, Part, Read, Scaled
from fbg.graph.linear import Linear
from fbg.graph.ops.common import NormKind, RmsNorm
from fbg.networks.config import EncoderConfig
from fbg.networks.distances import read_tables
from fbg.networks.experts import read_experts
from fbg.networks.names import Names
from fbg.networks.source import Source
from fbg.networks.towers import read_attention_pool, read_picture_embeddings
from fbg.networks.transformer import Embeddings, Layer, Transformer

# Layers whose outputs may be multiplied by a tensor, in the order of Names.layer_scales.
SCALED = ("attention_output", "output")


def read_transformer(source: Source, config: EncoderConfig) -> Transformer:
    """Read the weights of a network without its head; raises ModelError.

    The pooler is float32: a single row gains nothing from less precision.
    """
    names = max(config.layouts, key=lambda names: _count_stored(source, names, config.scope))
    hidden, pooler = config.hidden_size, None
    scope, vector, attention_pool = config.scope, None, None
    if names.pooler and source.has("pooler.weight", f"{names.pooler}.weight"):
        pooler = source.linear("pooler", [names.pooler], hidden, hidden, dtype="float32")
    if names.vector is not None:
        sizes, bias = (hidden, config.vector_size), "vector" in config.biases
        vector = source.linear(f"{scope}vector", [names.vector], *sizes, bias=bias, dtype="float32")
    if names.attention_pool is not None:
        attention_pool = read_attention_pool(source, config, names.attention_pool)
    # Layers that share weights are read once, and numbered as they first run.
    order = _layer_names(config, names)
    stored = list(dict.fromkeys(order))
    layers = [_read_layer(source, config, names, n, name) for n, name in enumerate(stored)]
    if config.relative is not None:
        tables = read_tables(source, config.relative, names.relative, stored, hidden)
        pairs = zip(layers, tables, strict=True)
        layers = [replace(layer, relative=table) for layer, table in pairs]
    if config.convolution is not None:
        layers[0] = _with_convolution(source, config, names, layers[0])
    distinct = dict(zip(stored, layers, strict=True))
    return Transformer(
        config,
        _read_embeddings(source, config, names),
        tuple(distinct[name] for name in order),
        pooler,
        _read_norm(source, config, f"{scope}final_norm", names.final_norm),
        attention_pool=attention_pool,
        vector=vector,
    )


def _layer_names(config: EncoderConfig, names: Names) -> list[str]:
    """Return the names of the layers in checkpoints, in the order in which they run."""
    shared = config.shared
    if shared is None:
        return [names.layer.format(n=n) for n in range(config.num_layers)]
    repeats = config.num_layers / shared.groups
    return [
        names.layer.format(group=int(n / repeats), inner=inner)
        for n in range(config.num_layers)
        for inner in range(shared.inner)
    ]


def _count_stored(source: Source, names: Names, scope: str) -> int:
    """Return how many tensors of the first layer have these names, as one may be missing."""
    layer = names.layer.format(n=0, group=0, inner=0)
    probes = {
        "qkv": names.qkv[0],
        "attention_output": names.attention_output,
        "intermediate": names.intermediate[0],
    }
    return sum(
        source.has(
            f"{scope}layers.0.{field}.weight",
            f"{layer}.{name.name if isinstance(name, Part) else name}.weight",
        )
        for field, name in probes.items()
    )


def _read_norm(
    source: Source, config: EncoderConfig, field: str, name: str | None, width: int | None = None
) -> NormKind | None:
    """Return a norm of hidden states, or of a width of its own."""
    if name is None:
        return None
    width = width or config.hidden_size
    if config.rms:
        return source.rms_norm(field, name, width, config.norm_eps, config.norm_adds_one)
    return source.norm(field, name, width, config.norm_eps, bias="norm" in config.biases)


def _read_embeddings(source: Source, config: EncoderConfig, names: Names) -> Embeddings:
    width, hidden, projection = config.embedding_size, config.hidden_size, None
    buckets = config.buckets.count if config.buckets is not None else 0
    scale = config.embedding_scale

    if config.picture is not None:
        norm = _read_norm(source, config, f"{config.scope}embeddings.norm", names.embedding_norm)
        return replace(read_picture_embeddings(source, config, names), norm=norm)

    def table(field: str, name: str | None, rows: int, cols: int = width) -> Floats | None:
        return None if name is None else source.table(f"embeddings.{field}", name, rows, cols)

    if names.projection is not None:
        projection = source.linear("embeddings.projection", [names.projection], width, hidden)
    return Embeddings(
        word=source.vocabulary("embeddings.word", names.word, config.vocab_size, width, scale),
        norm=_read_norm(source, config, "embeddings.norm", names.embedding_norm, width),
        position=table("position", names.position, config.max_positions),
        token_type=table("token_type", names.token_type, config.num_token_types),
        projection=projection,
        distance=table("distance", names.distance, buckets, config.num_heads),
    )


def _read_layer(source: Source, config: EncoderConfig, names: Names, n: int, stored: str) -> Layer:
    """Return the n-th layer, named `stored` in the checkpoint."""
    hidden, wide, dim = config.hidden_size, config.intermediate_size, config.head_dim
    queries, keys = config.num_heads * dim, config.kv_heads * dim
    attention_norm = names.attention_norm if n > 0 or config.first_attention_norm else None
    place = f"{config.scope}layers.{n}"

    def full(name: str | None) -> str | None:
        return None if name is None else f"{stored}.{name}"

    def norm(field: str, name: str | None) -> NormKind | None:
        return _read_norm(source, config, f"{place}.{field}", full(name))

    def head_norm(field: str, name: str | None) -> RmsNorm | None:
        if name is None:
            return None
        eps, adds_one = config.norm_eps, config.norm_adds_one
        return source.rms_norm(f"{place}.{field}", f"{stored}.{name}", dim, eps, adds_one)

    def linear(
        field: str, parts: Sequence[str | Part], inputs: int, outputs: Sequence[int]
    ) -> Linear:
        return _read_linear(source, config, names, (place, stored), field, parts, inputs, outputs)

    qkv = linear("qkv", names.qkv, hidden, [queries, keys, keys])
    if names.qkv_biases:

        def biases(read: Read) -> Floats:
            sizes = zip(map(full, names.qkv_biases), (queries, keys, keys), strict=True)
            parts = [np.zeros(n, np.float32) if b is None else read(b, n) for b, n in sizes]
            return np.concatenate(parts)

        added = source.computed(f"{qkv.name}.bias", (queries + 2 * keys,), biases)
        qkv = replace(qkv, bias=added)
    mixture, experts, intermediate, output = config.mixture, None, None, None
    if mixture is not None and n in mixture.layers:
        experts = read_experts(source, mixture, names.experts, (place, stored), (hidden, wide))
    else:
        columns = [wide] * (1 + config.gated)
        intermediate = linear("intermediate", names.intermediate, hidden, columns)
        output = linear("output", (names.output,), wide, [hidden])
    return Layer(
        qkv=qkv,
        attention_output=linear("attention_output", (names.attention_output,), queries, [hidden]),
        q_norm=head_norm("q_norm", names.q_norm),
        k_norm=head_norm("k_norm", names.k_norm),
        attention_norm=norm("attention_norm", attention_norm),
        attention_post_norm=norm("attention_post_norm", names.attention_post_norm),
        intermediate=intermediate,
        output=output,
        mlp_norm=norm("mlp_norm", names.mlp_norm),
        mlp_post_norm=norm("mlp_post_norm", names.mlp_post_norm),
        experts=experts,
    )


def _read_linear(
    source: Source,
    config: EncoderConfig,
    names: Names,
    places: tuple[str, str],
    field: str,
    layers: Sequence[str | Part],
    inputs: int,
    outputs: Sequence[int],
) -> Linear:
    """Return a linear layer of a layer. places: that layer in saved models and in checkpoints."""
    place, stored = places
    parts = [
        replace(name, name=f"{stored}.{name.name}")
        if isinstance(name, Part)
        else Part(f"{stored}.{name}")
        for name in layers
    ]
    total = sum(outputs)
    widths = outputs if len(parts) == len(outputs) else [total // len(parts)] * len(parts)
    named: Sequence[Named] = parts
    factor, scale = config.activation_factor, dict(zip(SCALED, names.layer_scales, strict=True))
    by = None if scale.get(field) is None else f"{stored}.{scale[field]}"
    if field == "intermediate" and factor != 1:
        named = [Scaled(part, factor, factor) for part in parts]
    elif by is not None or (field == "output" and factor != 1):
        weight = 1 / factor if field == "output" else 1.0
        named = [Scaled(part, weight, by=by) for part in parts]
    return source.linear(f"{place}.{field}", named, inputs, widths, bias=field in config.biases)


def _with_convolution(source: Source, config: EncoderConfig, names: Names, layer: Layer) -> Layer:
    """Return the first layer with the convolution parallel to it."""
    assert config.convolution is not None
    hidden, width = config.hidden_size, config.convolution.width
    kernel = Kernel(f"{names.convolution}.conv", width=width, groups=config.convolution.groups)
    field = "layers.0.convolution"
    norm = _read_norm(source, config, f"{field}_norm", f"{names.convolution}.LayerNorm")
    linear = source.linear(field, [kernel], width * hidden, hidden)
    return replace(layer, convolution=linear, convolution_norm=norm)
