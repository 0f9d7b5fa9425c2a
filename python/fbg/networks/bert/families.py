"""BERT and its relatives: one entry each, as a difference from BERT.

Names and rules are those of the family's modeling file in Hugging Face transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fbg.networks.bert.config import read_bert_config
from fbg.networks.bert.names import BertNames
from fbg.networks.bert.network import Bert
from fbg.networks.family import Family
from fbg.networks.heads import HeadNames

__all__ = ["FAMILIES"]

BERT = BertNames()
ROBERTA = replace(BERT, positions_skip_padding=True)
DISTILBERT = BertNames(
    keys={
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
    },
    token_type=None,
    layer="transformer.layer.{group}",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attention_output="attention.out_lin",
    attention_norm="sa_layer_norm",
    intermediate="ffn.lin1",
    output="ffn.lin2",
    output_norm="output_layer_norm",
    pooler=None,
)
ELECTRA = replace(BERT, narrow_embeddings=True, projection="embeddings_project", pooler=None)
ALBERT = BertNames(
    hidden_act="gelu_new",
    narrow_embeddings=True,
    projection="encoder.embedding_hidden_mapping_in",
    projection_of_equals=True,
    shared_layers=True,
    layer="encoder.albert_layer_groups.{group}.albert_layers.{inner}",
    query="attention.query",
    key="attention.key",
    value="attention.value",
    attention_output="attention.dense",
    attention_norm="attention.LayerNorm",
    intermediate="ffn",
    output="ffn_output",
    output_norm="full_layer_layer_norm",
    pooler="pooler",
)
REMBERT = replace(
    BERT,
    keys={"embedding_size": "input_embedding_size"},
    narrow_embeddings=True,
    projection="encoder.embedding_hidden_mapping_in",
    projection_of_equals=True,
)
MPNET = replace(
    ROBERTA,
    padding=1,
    token_type=None,
    distance="encoder.relative_attention_bias",
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attention_output="attention.attn.o",
    attention_norm="attention.LayerNorm",
)

SEQUENCE, TOKENS = "ForSequenceClassification", "ForTokenClassification"
ANSWERS, MASKED = "ForQuestionAnswering", "ForMaskedLM"

CLASSIFIER = HeadNames("classifier")
POOLED = replace(CLASSIFIER, pooled=True)


def _dense_classifier(activation: str) -> HeadNames:
    return HeadNames("classifier.out_proj", dense="classifier.dense", activation=activation)


def _heads(sequence: HeadNames, masked: HeadNames) -> Mapping[str, HeadNames]:
    return {
        SEQUENCE: sequence,
        TOKENS: CLASSIFIER,
        ANSWERS: HeadNames("qa_outputs"),
        MASKED: masked,
    }


BERT_HEADS = _heads(
    POOLED,
    HeadNames(
        "cls.predictions.decoder",
        dense="cls.predictions.transform.dense",
        activation="encoder",
        norm="cls.predictions.transform.LayerNorm",
        bias="cls.predictions.bias",
    ),
)
# What it predicts masked tokens from is not the table of its embeddings.
REMBERT_HEADS = {kind: names for kind, names in BERT_HEADS.items() if kind != MASKED}
ROBERTA_HEADS = _heads(
    _dense_classifier("tanh"),
    HeadNames(
        "lm_head.decoder",
        dense="lm_head.dense",
        activation="gelu",
        norm="lm_head.layer_norm",
        bias="lm_head.bias",
    ),
)
DISTILBERT_HEADS = _heads(
    HeadNames("classifier", dense="pre_classifier", activation="relu"),
    HeadNames(
        "vocab_projector", dense="vocab_transform", activation="encoder", norm="vocab_layer_norm"
    ),
)
ELECTRA_HEADS = _heads(
    _dense_classifier("gelu"),
    HeadNames(
        "generator_lm_head",
        dense="generator_predictions.dense",
        activation="gelu",
        norm="generator_predictions.LayerNorm",
    ),
)
ALBERT_HEADS = _heads(
    POOLED,
    HeadNames(
        "predictions.decoder",
        dense="predictions.dense",
        activation="encoder",
        norm="predictions.LayerNorm",
        bias="predictions.bias",
    ),
)


def _family(model_type: str, names: BertNames, heads: Mapping[str, HeadNames]) -> Family:
    read_config = partial(read_bert_config, names=names)
    return Family(model_type, Bert, read_config, f"{names.word}.weight", heads)


FAMILIES = (
    _family("bert", BERT, BERT_HEADS),
    _family("roberta", ROBERTA, ROBERTA_HEADS),
    _family("xlm-roberta", ROBERTA, ROBERTA_HEADS),
    _family("camembert", ROBERTA, ROBERTA_HEADS),
    _family("distilbert", DISTILBERT, DISTILBERT_HEADS),
    _family("electra", ELECTRA, ELECTRA_HEADS),
    _family("albert", ALBERT, ALBERT_HEADS),
    _family("mpnet", MPNET, ROBERTA_HEADS),
    _family("rembert", REMBERT, REMBERT_HEADS),
)
