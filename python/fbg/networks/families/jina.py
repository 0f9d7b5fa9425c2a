"""Jina's encoders: BERT with ALiBi and a gate (version 2), XLM-RoBERTa with rotations (version 3).

The third version and its reranker have two layouts: one of Hugging Face transformers, and one of
the files on the hub, which call themselves xlm-roberta.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fbg.checkpoints.settings import Settings
from fbg.networks.config import (
    BIASES,
    EncoderConfig,
    Family,
    read_common,
    read_token_types,
    require_even_heads,
)
from fbg.networks.families.bert import BERT, BERT_HEADS, ROBERTA_HEADS
from fbg.networks.families.rotary import ROTARY
from fbg.networks.rotation import read_rotation

V2 = replace(
    BERT,
    position=None,
    intermediate=("mlp.gated_layers",),
    output="mlp.wo",
    mlp_norm="mlp.layernorm",
)
V2_APART = replace(V2, intermediate=("mlp.gate_proj", "mlp.up_proj"))
V3 = replace(ROTARY, intermediate=("mlp.fc1",), output="mlp.fc2")
HUB = replace(
    V3,
    embedding_norm="emb_ln",
    layer="encoder.layers.{n}",
    qkv=("mixer.Wqkv",),
    attention_output="mixer.out_proj",
    attention_norm="norm1",
    mlp_norm="norm2",
)
HUB_POSITIONS = replace(HUB, position=BERT.position)


def _read_v2(settings: Settings) -> EncoderConfig:
    settings.choice("feed_forward_type", ("geglu",), default="geglu")
    common: dict[str, Any] = {**read_common(settings), "activation": "gelu"}
    common["num_token_types"] = settings.size("type_vocab_size", default=2)
    return EncoderConfig(
        **common, layouts=(V2, V2_APART), alibi=True, gated=True, biases=BIASES - {"intermediate"}
    )


def _read_v3(settings: Settings) -> EncoderConfig:
    """Read the settings of a model with rotations."""
    common = read_common(settings, eps=1e-5)
    require_even_heads(settings, common)
    rotation = read_rotation(settings, common["head_dim"], 20_000.0, theta_key="rotary_emb_base")
    return EncoderConfig(
        **{**common, **read_token_types(settings, (V3, HUB))},
        rotations=(rotation,) * common["num_layers"],
    )


def _read_hub(settings: Settings) -> EncoderConfig:
    """Read the settings of files on the hub: with rotations, or with RoBERTa's positions."""
    if settings.get("position_embedding_type") == "rotary":
        return _read_v3(settings)
    common = {**read_common(settings), **read_token_types(settings, (HUB_POSITIONS,))}
    common["pad_token_id"] = settings.size("pad_token_id", default=1, at_least=0)
    return EncoderConfig(**common)


FAMILIES = (
    Family("jina_bert", _read_v2, BERT_HEADS, ("alibi",)),
    Family("jina_embeddings_v3", _read_v3, ROBERTA_HEADS, ("rotary", "absolute")),
    Family("xlm-roberta-flash", _read_hub, ROBERTA_HEADS, ("absolute", "rotary")),
)
