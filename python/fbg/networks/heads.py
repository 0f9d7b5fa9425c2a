"""Heads: the layers behind the encoder in models for a task.

All of them are [linear layer, activation, [layer norm,]] linear layer, on the first or the last
token, on the mean of all tokens or on every token. HeadNames says how a family calls their tensors,
as in its modeling file in Hugging Face transformers. The last layer of a masked language model is
as large as the table of word embeddings, and mostly is that table: it stays out of the graph, to be
computed for masked tokens only (tasks/).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.weights import Named, Ones, Part
from fbg.errors import ModelError
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import LayerNorm, Map, Norm, NormKind
from fbg.graph.ops.op import Value
from fbg.networks.config import LABELLED, MAX_LABELS, PER_SEQUENCE, EncoderConfig, default_labels
from fbg.networks.names import HeadNames
from fbg.networks.source import Source

LISTWISE_COLUMNS = 512  # of the vectors that JinaForRanking compares

TIED = ("model.embed_tokens", "embed_tokens")  # the decoder of a model without its own


@dataclass(frozen=True)
class Head:
    """The weights of a head, in float32.

    kind: as in config.KINDS.
    reads: "tokens", all hidden states; "cls", the first one; "lasttoken"; "mean";
        "late", the mean of the outputs of the dense layer; or "pooler".
    labels: names of the outputs of the last layer.
    activation: after `dense`.
    output: None for a masked language model, which has a decoder instead.
    decoder: (V, E); None: the table of word embeddings.
    """

    kind: str
    reads: str
    labels: tuple[str, ...] = ()
    activation: str = "none"
    dense: Linear | None = None
    norm: LayerNorm | None = None
    output: Linear | None = None
    decoder: Floats | None = None
    decoder_bias: Floats | None = None


def read_head(
    source: Source, config: EncoderConfig, names: HeadNames, width: int, has_pooler: bool
) -> Head | None:
    """Read the head that config.json names; raises ModelError.

    source: gives tensors by their full names. If no tensor of the head exists, the checkpoint is an
        encoder that was saved alone, and the head is None.
    width: columns of the table of word embeddings, which a masked language model multiplies with.
    """
    kind = config.tasks.kind
    if kind == "ForCausalLM":
        return _read_score_head(source, config, names)
    if kind == "HF_ColBERT":
        return _read_projection(source, config, names)
    if kind == "JinaForRanking":
        return _read_projector(source, config, names)
    masked = kind == "ForMaskedLM"
    width = width if masked else config.hidden_size
    bias = _output_bias(source, names, "head.decoder_bias" if masked else "head.output.bias")
    own: list[tuple[str, ...]] = [bias, ("head.output.weight", f"{names.output}.weight")]
    own += [("head.dense.weight", f"{names.dense}.weight")] if names.dense else []
    if masked and config.tasks.tied and names.dense is None:
        own.append((bias[0],))  # a decoder that is tied and nothing else is made of no tensors
    if not any(source.has(*tensor) for tensor in own):
        return None
    if names.pooled and not has_pooler:
        needs = f"{names.output}.weight requires a pooler"
        raise ModelError(f"{source.path}: {needs}, which is missing")

    labels = _labels(source, config, bias)
    activation = config.activation if names.activation == "encoder" else names.activation
    dense, norm, output, decoder, decoder_bias = None, None, None, None, None
    if names.dense is not None:
        has_bias = names.biases or "dense" in config.biases
        # silu is an activation of gates: the gated factor is 1.
        parts: list[Named] = [names.dense]
        if activation == "silu":
            parts.append(Ones(names.dense))
        sizes = config.hidden_size, width
        dense = source.linear("head.dense", parts, *sizes, bias=has_bias, dtype="float32")
    if names.norm is not None:
        has_bias = names.biases or "norm" in config.biases
        norm = source.norm("head.norm", names.norm, width, config.norm_eps, bias=has_bias)
    if masked:
        wanted = names.output_biased or "decoder" in config.biases
        n = config.vocab_size
        decoder_bias = source.computed(
            bias[0], (n,), lambda read: read(bias[1], n) if wanted else np.zeros(n, np.float32)
        )
        if not config.tasks.tied:
            decoder = source.table("head.decoder", names.output, n, width)
    else:
        has_bias, count = names.output_biased, len(labels)
        output = source.linear(
            "head.output", [names.output], width, count, bias=has_bias, dtype="float32"
        )
    reads = _reads(config, names)
    return Head(kind, reads, labels, activation, dense, norm, output, decoder, decoder_bias)


def _output_bias(source: Source, names: HeadNames, field: str) -> tuple[str, str]:
    """Return the field and the tensor of the last bias, which has one of two names."""
    bias, other = (field, names.output_bias), (field, f"{names.output}.bias")
    return other if source.has(*other) and not source.has(*bias) else bias


def _read_projection(source: Source, config: EncoderConfig, names: HeadNames) -> Head | None:
    """Read the linear layer that makes the vectors of tokens, if the model is of that layout."""
    columns = config.tasks.columns
    if columns == 0:
        return None
    output = source.linear(
        "head.output", [names.output], config.hidden_size, columns, bias=False, dtype="float32"
    )
    return Head("HF_ColBERT", "tokens", output=output)


def _read_projector(source: Source, config: EncoderConfig, names: HeadNames) -> Head | None:
    """Read the layers that make the vectors of a query and of documents in one prompt."""
    if not source.has("head.output.weight", f"{names.output}.weight"):
        return None
    hidden, width = config.hidden_size, config.hidden_size // 2
    parts = (
        ("dense", names.dense, hidden, width),
        ("output", names.output, width, LISTWISE_COLUMNS),
    )
    dense, output = (
        source.linear(f"head.{field}", [str(name)], *shape, bias=False, dtype="float32")
        for field, name, *shape in parts
    )
    labels = default_labels(1)
    return Head(config.tasks.kind, "tokens", labels, "relu", dense, output=output)


def _read_score_head(source: Source, config: EncoderConfig, names: HeadNames) -> Head | None:
    """Read the columns of a decoder's head for the tokens whose logits are a score."""
    tokens, field = config.tasks.score_tokens, "head.output"
    if not tokens:
        return None
    known = (names.output, *TIED)
    found = (name for name in known if source.has(f"{field}.weight", f"{name}.weight"))
    name = next(found, names.output)
    columns = [Part(name, token, config.vocab_size) for token in tokens]
    output = source.linear(field, columns, config.hidden_size, 1, bias=False, dtype="float32")
    return Head("ForCausalLM", "lasttoken", default_labels(1), output=output)


def _labels(source: Source, config: EncoderConfig, bias: tuple[str, str]) -> tuple[str, ...]:
    if config.tasks.kind not in LABELLED:
        return () if config.tasks.kind == "ForMaskedLM" else ("start", "end")
    # A shape may claim any number of rows until `linear` checks it.
    rows = min(source.rows(*bias) or 2, MAX_LABELS)
    return config.tasks.labels or default_labels(rows)


def _reads(config: EncoderConfig, names: HeadNames) -> str:
    if names.pooled:
        return "pooler"
    if config.tasks.kind not in PER_SEQUENCE:
        return "tokens"
    if names.last:
        return "lasttoken"
    return config.tasks.pooling if names.mean_or_first else "cls"


def add_activated(graph: Graph, x: Value, layer: Linear, activation: str) -> Value:
    """Add activation(layer(x)), tanh among the activations."""
    if activation == "tanh":
        return graph.add(Map.of("tanh", (graph.add(ops.Linear(x, layer)),)))
    return graph.add(ops.Linear(x, layer, activation))


def add_norm(graph: Graph, x: Value, norm: NormKind | None) -> Value:
    """Add a norm; None leaves x as it is."""
    return x if norm is None else graph.add(Norm(x, norm))


def build_pooler(graph: Graph, hidden: Value, pooler: Linear) -> Value:
    """Add the pooler, tanh of a linear layer on the first token."""
    return add_activated(graph, graph.add(ops.Pool(hidden, "cls")), pooler, "tanh")


def build_head(graph: Graph, hidden: Value, head: Head, pooler: Linear | None) -> Value:
    """Add a head to a graph that has the encoder. Its rows:
    logits of each sequence (sequences, labels) or of each token (tokens, labels); of a
    masked language model, the input of its decoder: (tokens, embedding_size).
    """
    x = hidden
    if head.reads == "pooler":
        assert pooler is not None
        x = build_pooler(graph, x, pooler)
    elif head.reads not in ("tokens", "late"):
        x = graph.add(ops.Pool(x, head.reads))
    if head.dense is not None:
        if head.activation == "silu":
            x = graph.add(ops.Linear(x, head.dense, gate="silu"))
        else:
            x = add_activated(graph, x, head.dense, head.activation)
    if head.reads == "late":
        x = graph.add(ops.Pool(x, "mean"))
    if head.norm is not None:
        x = add_norm(graph, x, head.norm)
    return x if head.output is None else graph.add(ops.Linear(x, head.output))
