"""Jina's encoders: BERT with ALiBi and a gate (version 2), XLM-RoBERTa with rotations (version 3).

The third version and its reranker have two layouts: that of Hugging Face transformers, and that of
the files on the hub, which call themselves xlm-roberta.
"""

from __future__ import annotations

from dataclasses import replace

from fbg.checkpoints.files import Settings
from fbg.networks.bert.families import BERT_HEADS, ROBERTA_HEADS
from fbg.networks.config import ACTIVATIONS
from fbg.networks.family import Family
from fbg.networks.rotation import Rotation, read_rotation
from fbg.networks.standard.config import Names, StandardConfig, read_standard
from fbg.networks.standard.network import Standard

__all__ = ["FAMILIES"]

WORD = "embeddings.word_embeddings"
ALL = frozenset({"qkv", "attention_output", "intermediate", "output", "norm"})

V2 = Names(
    word=WORD,
    token_type="embeddings.token_type_embeddings",
    embedding_norm="embeddings.LayerNorm",
    final_norm=None,
    pooler="pooler.dense",
    layer="encoder.layer.{n}",
    qkv=("attention.self.query", "attention.self.key", "attention.self.value"),
    attention_output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    mlp_norm="mlp.layernorm",
    intermediate=("mlp.gated_layers",),
    output="mlp.wo",
)
V3 = Names(
    word=WORD,
    token_type="embeddings.token_type_embeddings",
    embedding_norm="embeddings.LayerNorm",
    final_norm=None,
    pooler="pooler.dense",
    attention_norm="post_attention_layernorm",
    mlp_norm="post_mlp_layernorm",
    intermediate=("mlp.fc1",),
    output="mlp.fc2",
)
HUB = replace(
    V3,
    embedding_norm="emb_ln",
    layer="encoder.layers.{n}",
    qkv=("mixer.Wqkv",),
    attention_output="mixer.out_proj",
    attention_norm="norm1",
    mlp_norm="norm2",
)


def _read_v2(settings: Settings) -> StandardConfig:
    """Read the settings of jina's second embedding models: BERT with ALiBi and a gate."""
    settings.choice("feed_forward_type", ("geglu",), default="geglu")
    common = read_standard(settings, activations=("gelu", *ACTIVATIONS), eps=1e-12)
    return StandardConfig(
        **{
            **common,
            "activation": "gelu",
            "num_token_types": settings.size("type_vocab_size", default=2),
        },
        layouts=(V2,),
        rms=False,
        place="after",
        alibi=True,
        biases=frozenset({"qkv", "attention_output", "output", "norm"}),
    )


def _read_v3(settings: Settings) -> StandardConfig:
    """Read the settings of a model with rotations."""
    common = read_standard(settings, activations=("gelu", *ACTIVATIONS), eps=1e-5)
    if common["head_dim"] % 2:
        raise settings.error("num_attention_heads", "such that the heads have an even size")
    rotation = read_rotation(settings, common["head_dim"], 20_000.0, theta_key="rotary_emb_base")
    return _third(settings, common, (V3, HUB), rotation)


def _read_hub(settings: Settings) -> StandardConfig:
    """Read the settings of files on the hub: with rotations, or with RoBERTa's positions."""
    if settings.get("position_embedding_type") == "rotary":
        return _read_v3(settings)
    common = read_standard(settings, activations=("gelu", *ACTIVATIONS), eps=1e-12)
    common["pad_token_id"] = settings.size("pad_token_id", default=1, at_least=0)
    names = replace(HUB, position="embeddings.position_embeddings")
    return _third(settings, common, (names,), None)


def _third(
    settings: Settings, common: dict[str, object], layouts: tuple[Names, ...], turn: Rotation | None
) -> StandardConfig:
    types = settings.size("type_vocab_size", default=1, at_least=0)
    if types == 0:
        layouts = tuple(replace(names, token_type=None) for names in layouts)
    fields: dict[str, object] = {**common, "num_token_types": max(types, 1)}
    rotations = () if turn is None else (turn,) * settings.size("num_hidden_layers")
    return StandardConfig(
        **fields,  # type: ignore[arg-type]
        layouts=layouts,
        rms=False,
        place="after",
        gated=False,
        biases=ALL,
        rotations=rotations,
    )


ANCHOR = f"{WORD}.weight"
FAMILIES = (
    Family("jina_bert", Standard, _read_v2, ANCHOR, BERT_HEADS, positions=("alibi",)),
    Family(
        "jina_embeddings_v3",
        Standard,
        _read_v3,
        ANCHOR,
        ROBERTA_HEADS,
        positions=("rotary", "absolute"),
    ),
    Family(
        "xlm-roberta-flash",
        Standard,
        _read_hub,
        ANCHOR,
        ROBERTA_HEADS,
        positions=("absolute", "rotary"),
    ),
)
