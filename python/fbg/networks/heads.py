"""Heads: what follows the encoder in models for a task; one description per kind and family.

All of them are [linear layer, activation, [layer norm,]] linear layer, on the first token or on
every token. Names are those of the family's modeling file in Hugging Face transformers. The last
layer of a masked language model is as large as the table of word embeddings, and mostly is that
table: it stays out of the graph, to be computed for masked tokens only (task_runner.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fbg import _fbg
from fbg.networks.config import ACTIVATIONS, BertConfig, EncoderConfig
from fbg.networks.task_config import LABELLED, MAX_LABELS, default_labels
from fbg.networks.transformer import (
    Head,
    Source,
    Transformer,
    add_linear,
    add_norm,
    describe_pooler,
)

__all__ = ["HEADS", "HeadNames", "describe_head", "read_head"]


@dataclass(frozen=True)
class HeadNames:
    """Where a family keeps the tensors of a head.

    Names come without ".weight" and ".bias", and are those in the file: no prefix is put before
    them.
    """

    output: str
    pooled: bool = False  # on the encoder's pooler, which is its dense layer
    dense: str | None = None
    activation: str = "none"  # after the dense layer; "hidden_act": as in the encoder's layers
    norm: str | None = None
    mean_or_first: bool = False  # config.json says which, the mean of all tokens or the first one
    biases: bool = True  # of the dense layer and the norm; False: perhaps
    bias: str | None = None  # of the output, where it is not called as its weight

    @property
    def output_bias(self) -> str:
        return self.bias or f"{self.output}.bias"


def _roberta(classifier: str, activation: str) -> HeadNames:
    return HeadNames(f"{classifier}.out_proj", dense=f"{classifier}.dense", activation=activation)


CLASSIFIER = HeadNames("classifier")
POOLED = replace(CLASSIFIER, pooled=True)
ANSWERS = HeadNames("qa_outputs")

ROBERTA_LM = HeadNames(
    "lm_head.decoder",
    dense="lm_head.dense",
    activation="gelu",
    norm="lm_head.layer_norm",
    bias="lm_head.bias",
)

MODERNBERT = HeadNames(
    "classifier", dense="head.dense", activation="gelu", norm="head.norm", biases=False
)

# A family is added with a line in each of the kinds that it has.
HEADS: Mapping[str, Mapping[str, HeadNames]] = {
    "ForSequenceClassification": {
        "bert": POOLED,
        "roberta": _roberta("classifier", "tanh"),
        "xlm-roberta": _roberta("classifier", "tanh"),
        "camembert": _roberta("classifier", "tanh"),
        "distilbert": HeadNames("classifier", dense="pre_classifier", activation="relu"),
        "electra": _roberta("classifier", "gelu"),
        "albert": POOLED,
        "mpnet": _roberta("classifier", "tanh"),
        "modernbert": replace(MODERNBERT, mean_or_first=True),
    },
    "ForTokenClassification": {
        "bert": CLASSIFIER,
        "roberta": CLASSIFIER,
        "xlm-roberta": CLASSIFIER,
        "camembert": CLASSIFIER,
        "distilbert": CLASSIFIER,
        "electra": CLASSIFIER,
        "albert": CLASSIFIER,
        "mpnet": CLASSIFIER,
        "modernbert": MODERNBERT,
    },
    "ForQuestionAnswering": {
        "bert": ANSWERS,
        "roberta": ANSWERS,
        "xlm-roberta": ANSWERS,
        "camembert": ANSWERS,
        "distilbert": ANSWERS,
        "electra": ANSWERS,
        "albert": ANSWERS,
        "mpnet": ANSWERS,
        "modernbert": MODERNBERT,
    },
    "ForMaskedLM": {
        "bert": HeadNames(
            "cls.predictions.decoder",
            dense="cls.predictions.transform.dense",
            activation="hidden_act",
            norm="cls.predictions.transform.LayerNorm",
            bias="cls.predictions.bias",
        ),
        "roberta": ROBERTA_LM,
        "xlm-roberta": ROBERTA_LM,
        "camembert": ROBERTA_LM,
        "distilbert": HeadNames(
            "vocab_projector",
            dense="vocab_transform",
            activation="hidden_act",
            norm="vocab_layer_norm",
        ),
        "electra": HeadNames(
            "generator_lm_head",
            dense="generator_predictions.dense",
            activation="gelu",
            norm="generator_predictions.LayerNorm",
        ),
        "albert": HeadNames(
            "predictions.decoder",
            dense="predictions.dense",
            activation="hidden_act",
            norm="predictions.LayerNorm",
            bias="predictions.bias",
        ),
        "mpnet": ROBERTA_LM,
        "modernbert": replace(MODERNBERT, output="decoder"),
    },
}


def read_head(source: Source, config: EncoderConfig) -> Head | None:
    """Read the head that config.json names, in float32; raises ModelError.

    source: gives tensors by their full names. Without a single tensor of the head it is of an
        encoder that was saved alone, and the head is None.
    """
    kind = config.tasks.kind
    names = HEADS.get(kind, {}).get(config.model_type)
    if names is None:
        return None
    masked = kind == "ForMaskedLM"
    hidden = config.hidden_size
    width = config.embedding_size if masked and isinstance(config, BertConfig) else hidden
    bias = ("head.decoder_bias" if masked else "head.output.bias", names.output_bias)
    own = [bias, ("head.output.weight", f"{names.output}.weight")]
    own += [("head.dense.weight", f"{names.dense}.weight")] if names.dense else []
    if all(source.rows(*tensor) is None for tensor in own):
        return None
    if kind in LABELLED:
        # A shape may claim any number of rows until `linear` checks it.
        rows = min(source.rows(*bias) or 2, MAX_LABELS)
        labels = config.tasks.labels or default_labels(rows)
    else:
        labels = () if masked else ("start", "end")

    def biased(field: str, name: str) -> bool:
        return names.biases or source.rows(f"{field}.bias", f"{name}.bias") is not None

    dense, norm, output, decoder, decoder_bias = None, None, None, None, None
    if names.dense is not None:
        bias_too = biased("head.dense", names.dense)
        dense = source.linear("head.dense", (names.dense,), hidden, width, bias=bias_too)
    if names.norm is not None:
        bias_too = biased("head.norm", names.norm)
        norm = source.norm("head.norm", names.norm, width, config.layer_norm_eps, bias=bias_too)
    if masked:
        decoder_bias = source.vector(*bias, config.vocab_size)
        if not config.tasks.tied:
            decoder = source.table("head.decoder", names.output, config.vocab_size, width)
    else:
        output = source.linear("head.output", (names.output,), width, len(labels))
    activation = names.activation
    if activation == "hidden_act":
        activation = ACTIVATIONS[config.hidden_act]
    return Head(kind, labels, activation, dense, norm, output, decoder, decoder_bias)


def describe_head(graph: _fbg.Graph, transformer: Transformer, head: Head) -> None:
    """Add the encoder and the head to a graph.

    The output: logits of each sequence (sequences, labels) or of each token (tokens, labels); of a
    masked language model, what its decoder multiplies: (tokens, embedding_size).
    """
    names = HEADS[head.kind][transformer.config.model_type]
    x = transformer.describe(graph)
    if names.pooled:
        assert transformer.pooler is not None
        x = describe_pooler(graph, x, transformer.pooler)
    elif head.kind == "ForSequenceClassification":
        mean = names.mean_or_first and transformer.config.tasks.pooling == "mean"
        x = graph.pool(x, "mean") if mean else graph.first_token(x)
    if head.dense is not None:
        tanh = head.activation == "tanh"
        x = add_linear(graph, x, head.dense, "none" if tanh else head.activation)
        x = graph.tanh(x) if tanh else x
    if head.norm is not None:
        x = add_norm(graph, x, head.norm)
    if head.output is not None:
        x = add_linear(graph, x, head.output)
    graph.output(x)
