"""BERT and its relatives (Devlin et al., 2018, arXiv:1810.04805), and code that others share.

Names and rules follow the family's modeling file in Hugging Face transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from fbg.checkpoints.settings import Settings
from fbg.networks.config import (
    MAX_LAYERS,
    Buckets,
    EncoderConfig,
    Family,
    SharedLayers,
    read_common,
)
from fbg.networks.names import HeadNames, Names

BERT = Names()
DISTILBERT = replace(
    BERT,
    token_type=None,
    layer="transformer.layer.{n}",
    qkv=("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    attention_output="attention.out_lin",
    attention_norm="sa_layer_norm",
    intermediate=("ffn.lin1",),
    output="ffn.lin2",
    mlp_norm="output_layer_norm",
    pooler=None,
)
ELECTRA = replace(BERT, projection="embeddings_project", pooler=None)
REMBERT = replace(BERT, projection="encoder.embedding_hidden_mapping_in")
ALBERT = replace(
    REMBERT,
    layer="encoder.albert_layer_groups.{group}.albert_layers.{inner}",
    qkv=("attention.query", "attention.key", "attention.value"),
    attention_output="attention.dense",
    attention_norm="attention.LayerNorm",
    intermediate=("ffn",),
    output="ffn_output",
    mlp_norm="full_layer_layer_norm",
    pooler="pooler",
)
MPNET = replace(
    BERT,
    token_type=None,
    distance="encoder.relative_attention_bias",
    qkv=("attention.attn.q", "attention.attn.k", "attention.attn.v"),
    attention_output="attention.attn.o",
    attention_norm="attention.LayerNorm",
)
MEGATRON = replace(
    BERT,
    embedding_norm=None,
    final_norm="encoder.ln",
    attention_norm="attention.ln",
    mlp_norm="ln",
)
XLM_ROBERTA_XL = replace(
    MEGATRON,
    final_norm="encoder.LayerNorm",
    attention_norm="attention.self_attn_layer_norm",
    mlp_norm="LayerNorm",
)

DISTILBERT_KEYS = {
    "hidden_size": "dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim",
    "hidden_act": "activation",
}
# MPNet's distances have 32 buckets in transformers, whatever config.json says.
MPNET_BUCKETS = Buckets(32, 128)


def _read(
    settings: Settings,
    names: Names = BERT,
    *,
    keys: Mapping[str, str] | None = None,
    activation: str = "gelu",
    eps: float = 1e-12,
    place: str = "after",
    types: int = 2,
    skips_padding: bool = False,
) -> EncoderConfig:
    """Read the settings of a family; raises ModelError.

    keys, activation, eps: as in `read_common`. types: kinds of segments if config.json says
    nothing. skips_padding: positions count the tokens that are not padding (id p), from p + 1;
    padding has position p.
    """
    common = read_common(settings, keys=keys, activation=activation, eps=eps, own_heads=False)
    if names.token_type is not None:
        common["num_token_types"] = settings.size("type_vocab_size", default=types)
    if skips_padding:
        common["pad_token_id"] = settings.size("pad_token_id", default=1, at_least=0)
    config = EncoderConfig(**common, layouts=(names,), place=place)
    if config.max_length < 1:
        least = f"more than {config.max_positions - config.max_length}"
        raise settings.error("max_position_embeddings", f"{least}, pad_token_id + 1")
    return config


def _read_narrow(
    settings: Settings,
    names: Names,
    *,
    key: str = "embedding_size",
    of_equals: bool = True,
    activation: str = "gelu",
) -> EncoderConfig:
    """Read the settings of a family whose embeddings may be narrower than its layers.

    key: names their width. of_equals: whether embeddings of equal width are projected, too.
    """
    width = settings.size(key)
    config = _read(settings, names, activation=activation)
    if width == config.hidden_size and not of_equals:
        names = replace(names, projection=None)
    return replace(config, embedding_size=width, layouts=(names,))


def _read_albert(settings: Settings) -> EncoderConfig:
    config = _read_narrow(settings, ALBERT, activation="gelu_new")
    layers = config.num_layers
    groups = settings.size("num_hidden_groups", default=1)
    inner = settings.size("inner_group_num", default=1)
    if groups > layers:
        raise settings.error("num_hidden_groups", f"at most num_hidden_layers, {layers}")
    if layers * inner > MAX_LAYERS:
        raise settings.error("inner_group_num", f"at most {MAX_LAYERS // layers}")
    return replace(config, shared=SharedLayers(groups, inner))


def _read_mpnet(settings: Settings) -> EncoderConfig:
    key, count = "relative_attention_num_buckets", MPNET_BUCKETS.count
    if settings.size(key, count) != count:
        raise settings.error(key, str(count))
    # Padding has this id, whatever config.json says.
    config = _read(settings.replaced(pad_token_id=1), MPNET, skips_padding=True)
    return replace(config, buckets=MPNET_BUCKETS)


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
# The decoder of masked tokens is not the table of embeddings.
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


ROBERTA = partial(_read, skips_padding=True)
FAMILIES = (
    Family("bert", _read, BERT_HEADS),
    Family("roberta", ROBERTA, ROBERTA_HEADS),
    Family("xlm-roberta", ROBERTA, ROBERTA_HEADS),
    Family("camembert", ROBERTA, ROBERTA_HEADS),
    Family("distilbert", partial(_read, names=DISTILBERT, keys=DISTILBERT_KEYS), DISTILBERT_HEADS),
    Family("electra", partial(_read_narrow, names=ELECTRA, of_equals=False), ELECTRA_HEADS),
    Family("albert", _read_albert, ALBERT_HEADS),
    Family("mpnet", _read_mpnet, ROBERTA_HEADS),
    Family(
        "rembert",
        partial(_read_narrow, names=REMBERT, key="input_embedding_size"),
        REMBERT_HEADS,
    ),
    Family("megatron-bert", partial(_read, names=MEGATRON, place="before"), BERT_HEADS),
    Family(
        "xlm-roberta-xl",
        partial(_read, names=XLM_ROBERTA_XL, place="before", eps=1e-5, types=1, skips_padding=True),
        ROBERTA_HEADS,
    ),
)
