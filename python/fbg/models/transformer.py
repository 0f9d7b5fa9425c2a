"""The encoder of BERT (Devlin et al., 2018, arXiv:1810.04805) and its relatives: weights and graph.

The query, key and value projections of a layer are one matrix product: their weights lie side by
side. Everything else follows the paper; `describe_encoder` is the network. What a family calls its
tensors, and what it leaves out or adds, stands in architectures.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.models.config import ACTIVATIONS, EncoderConfig
from fbg.models.weights import Checkpoint

__all__ = [
    "Layer",
    "Linear",
    "Transformer",
    "describe_encoder",
    "describe_pooler",
    "read_transformer",
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
    bias: Floats
    channel_scale: Floats | None = None  # only of int8 weights


@dataclass(frozen=True)
class LayerNorm:
    weight: Floats
    bias: Floats
    eps: float


@dataclass(frozen=True)
class Embeddings:
    word: Floats
    position: Floats
    token_type: Floats | None
    norm: LayerNorm
    projection: Linear | None


@dataclass(frozen=True)
class Layer:
    """One transformer block."""

    qkv: Linear  # (H, 3 H): query, key and value side by side
    attention_output: Linear
    attention_norm: LayerNorm
    intermediate: Linear
    output: Linear
    output_norm: LayerNorm


@dataclass(frozen=True)
class Transformer:
    config: EncoderConfig
    dtype: str
    embeddings: Embeddings
    layers: tuple[Layer, ...]  # in the order in which they run; one may recur
    pooler: Linear | None


def describe_encoder(graph: _fbg.Graph, transformer: Transformer) -> int:
    """Add the encoder to a graph and return the buffer of its last hidden states."""
    config, embeddings = transformer.config, transformer.embeddings
    rounds = transformer.dtype in ROUNDED
    x = graph.embedding(embeddings.word, embeddings.position, embeddings.token_type)
    x = _layer_norm(graph, x, embeddings.norm)
    if embeddings.projection is not None:
        x = _linear(graph, x, embeddings.projection)
    for layer in transformer.layers:
        qkv = _linear(graph, x, layer.qkv)
        context = graph.attention(qkv, config.num_attention_heads, allow_bfloat16=rounds)
        attended = _linear(graph, context, layer.attention_output, residual=x)
        x = _layer_norm(graph, attended, layer.attention_norm)
        widened = _linear(graph, x, layer.intermediate, activation=ACTIVATIONS[config.hidden_act])
        narrowed = _linear(graph, widened, layer.output, residual=x)
        x = _layer_norm(graph, narrowed, layer.output_norm)
    return x


def describe_pooler(graph: _fbg.Graph, hidden: int, pooler: Linear) -> int:
    """Add the pooler, tanh of a linear layer on the first token; return its buffer."""
    return graph.tanh(_linear(graph, graph.first_token(hidden), pooler))


def _linear(
    graph: _fbg.Graph,
    x: int,
    linear: Linear,
    activation: str = "none",
    residual: int | None = None,
) -> int:
    return graph.linear(
        x, linear.weight, linear.bias, activation, residual, channel_scale=linear.channel_scale
    )


def _layer_norm(graph: _fbg.Graph, x: int, norm: LayerNorm) -> int:
    return graph.layer_norm(x, norm.weight, norm.bias, norm.eps)


def read_transformer(checkpoint: Checkpoint, config: EncoderConfig, dtype: str) -> Transformer:
    """Read and pack the weights of a Hugging Face model; raises ModelError.

    With dtype "int8" the linear layers of the encoder are quantized, symmetric with one scale per
    output column; "bfloat16" and "float16" round them. The pooler stays float32: one row per
    sequence has nothing to gain.
    """
    names = config.architecture
    width, hidden, intermediate = (
        config.embedding_size,
        config.hidden_size,
        config.intermediate_size,
    )

    def linear(parts: tuple[str, ...], inputs: int, outputs: int, kind: str = dtype) -> Linear:
        # The safetensors layout is (outputs, inputs); ours is (K, N) = (inputs, all outputs).
        limit = WEIGHT_LIMITS[kind]
        weights = [
            checkpoint.tensor(f"{name}.weight", outputs, inputs, limit=limit) for name in parts
        ]
        bias = np.concatenate([checkpoint.tensor(f"{name}.bias", outputs) for name in parts])
        return Linear(_pack(np.concatenate(weights), kind), bias)

    def norm(name: str, size: int = hidden) -> LayerNorm:
        weight = checkpoint.tensor(f"{name}.weight", size)
        return LayerNorm(weight, checkpoint.tensor(f"{name}.bias", size), config.layer_norm_eps)

    def layer(prefix: str) -> Layer:
        qkv = tuple(f"{prefix}.{part}" for part in (names.query, names.key, names.value))
        return Layer(
            qkv=linear(qkv, hidden, hidden),
            attention_output=linear((f"{prefix}.{names.attention_output}",), hidden, hidden),
            attention_norm=norm(f"{prefix}.{names.attention_norm}"),
            intermediate=linear((f"{prefix}.{names.intermediate}",), hidden, intermediate),
            output=linear((f"{prefix}.{names.output}",), intermediate, hidden),
            output_norm=norm(f"{prefix}.{names.output_norm}"),
        )

    def table(name: str, rows: int) -> Floats:
        return checkpoint.tensor(f"{name}.weight", rows, width)

    projection, token_type = None, None
    if names.projection is not None and (width != hidden or names.projection_of_equals):
        projection = linear((names.projection,), width, hidden)
    if names.token_type is not None:
        token_type = table(names.token_type, config.type_vocab_size)
    embeddings = Embeddings(
        word=table(names.word, config.vocab_size),
        position=table(names.position, config.max_position_embeddings),
        token_type=token_type,
        norm=norm(names.embedding_norm, width),
        projection=projection,
    )
    distinct = {name: layer(name) for name in dict.fromkeys(config.layer_names)}
    layers = tuple(distinct[name] for name in config.layer_names)
    pooler = None
    if names.pooler is not None and f"{names.pooler}.weight" in checkpoint:
        pooler = linear((names.pooler,), hidden, hidden, kind="float32")
    return Transformer(config, dtype, embeddings, layers, pooler)


def _pack(weight: Floats, dtype: str) -> PackedWeight:
    if dtype == "int8":
        return _fbg.pack_b_quantize(weight.T, per_column=True, symmetric=True)
    if dtype == "bfloat16":
        return _fbg.pack_b_bfloat16(weight.T)
    if dtype == "float16":
        return _fbg.pack_b_float16(weight.T)
    return _fbg.pack_b_float32(weight.T)
