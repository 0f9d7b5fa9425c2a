"""BERT (Devlin et al., 2018, arXiv:1810.04805): its weights, and the network as a graph of ops.

The query, key and value projections of a layer are one matrix product: their weights lie side by
side. Everything else follows the paper; `describe_encoder` is the network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.models.config import BertConfig
from fbg.models.weights import Checkpoint

__all__ = ["Bert", "describe_encoder", "describe_pooler", "read_bert"]

Floats = npt.NDArray[np.float32]
PackedWeight = _fbg.PackedBInt8 | _fbg.PackedBFloat32


@dataclass(frozen=True)
class Linear:
    """y = x @ weight + bias, the weight packed."""

    weight: PackedWeight
    bias: Floats


@dataclass(frozen=True)
class LayerNorm:
    weight: Floats
    bias: Floats
    eps: float


@dataclass(frozen=True)
class Embeddings:
    word: Floats
    position: Floats
    token_type: Floats
    norm: LayerNorm


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
class Bert:
    config: BertConfig
    embeddings: Embeddings
    layers: tuple[Layer, ...]
    pooler: Linear | None


def describe_encoder(graph: _fbg.Graph, bert: Bert) -> int:
    """Add the encoder to a graph and return the buffer of its last hidden states."""
    embeddings = bert.embeddings
    x = graph.embedding(embeddings.word, embeddings.position, embeddings.token_type)
    x = _layer_norm(graph, x, embeddings.norm)
    for layer in bert.layers:
        qkv = _linear(graph, x, layer.qkv)
        context = graph.attention(qkv, bert.config.num_attention_heads)
        attended = _linear(graph, context, layer.attention_output, residual=x)
        x = _layer_norm(graph, attended, layer.attention_norm)
        widened = _linear(graph, x, layer.intermediate, activation=bert.config.hidden_act)
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
    return graph.linear(x, linear.weight, linear.bias, activation, residual)


def _layer_norm(graph: _fbg.Graph, x: int, norm: LayerNorm) -> int:
    return graph.layer_norm(x, norm.weight, norm.bias, norm.eps)


def read_bert(checkpoint: Checkpoint, config: BertConfig, dtype: str) -> Bert:
    """Read and pack the weights of a Hugging Face BertModel; raises ModelError.

    With dtype "int8" the linear layers of the encoder are quantized, symmetric with one scale per
    output column. The pooler stays float32: one row per sequence has nothing to gain.
    """
    hidden, intermediate = config.hidden_size, config.intermediate_size

    def linear(names: tuple[str, ...], inputs: int, outputs: int, kind: str = dtype) -> Linear:
        # The safetensors layout is (outputs, inputs); ours is (K, N) = (inputs, all outputs).
        weights = [checkpoint.tensor(f"{name}.weight", outputs, inputs) for name in names]
        bias = np.concatenate([checkpoint.tensor(f"{name}.bias", outputs) for name in names])
        return Linear(_pack(np.concatenate(weights), kind), bias)

    def norm(name: str) -> LayerNorm:
        weight = checkpoint.tensor(f"{name}.weight", hidden)
        return LayerNorm(weight, checkpoint.tensor(f"{name}.bias", hidden), config.layer_norm_eps)

    def layer(prefix: str) -> Layer:
        attention = f"{prefix}.attention"
        qkv = tuple(f"{attention}.self.{part}" for part in ("query", "key", "value"))
        return Layer(
            qkv=linear(qkv, hidden, hidden),
            attention_output=linear((f"{attention}.output.dense",), hidden, hidden),
            attention_norm=norm(f"{attention}.output.LayerNorm"),
            intermediate=linear((f"{prefix}.intermediate.dense",), hidden, intermediate),
            output=linear((f"{prefix}.output.dense",), intermediate, hidden),
            output_norm=norm(f"{prefix}.output.LayerNorm"),
        )

    def table(name: str, rows: int) -> Floats:
        return checkpoint.tensor(f"embeddings.{name}.weight", rows, hidden)

    embeddings = Embeddings(
        word=table("word_embeddings", config.vocab_size),
        position=table("position_embeddings", config.max_position_embeddings),
        token_type=table("token_type_embeddings", config.type_vocab_size),
        norm=norm("embeddings.LayerNorm"),
    )
    layers = tuple(layer(f"encoder.layer.{n}") for n in range(config.num_hidden_layers))
    pooler = None
    if "pooler.dense.weight" in checkpoint:
        pooler = linear(("pooler.dense",), hidden, hidden, kind="float32")
    return Bert(config, embeddings, layers, pooler)


def _pack(weight: Floats, dtype: str) -> PackedWeight:
    if dtype == "int8":
        return _fbg.pack_b_quantize(weight.T, per_column=True, symmetric=True)
    return _fbg.pack_b_float32(weight.T)
