"""Rotary encoders between BERT and today's decoders.

nomic_bert and gte have two layouts: one of Hugging Face transformers, and one of the files on the
hub, which were made by code of their own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from fbg.checkpoints.kernel_tensor import Part
from fbg.checkpoints.settings import Settings
from fbg.networks.config import (
    BIASES,
    GATES,
    EncoderConfig,
    read_common,
    read_token_types,
    require_even_heads,
)
from fbg.networks.families.bert import BERT, BERT_HEADS
from fbg.networks.family import Family
from fbg.networks.heads import HeadNames
from fbg.networks.names import Names
from fbg.networks.rotation import Rotation, read_rotation

ROTARY = replace(
    BERT,
    position=None,
    layer="layers.{n}",
    qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    attention_output="self_attn.o_proj",
    attention_norm="post_attention_layernorm",
    intermediate=("mlp.gate_proj", "mlp.up_proj"),
    output="mlp.down_proj",
    mlp_norm="post_mlp_layernorm",
)
NOMIC = replace(
    BERT,
    position=None,
    embedding_norm="emb_ln",
    pooler=None,
    layer="encoder.layers.{n}",
    qkv=("attn.Wqkv",),
    attention_output="attn.out_proj",
    attention_norm="norm1",
    intermediate=("mlp.fc12", "mlp.fc11"),
    output="mlp.fc2",
    mlp_norm="norm2",
)
NEW = replace(
    BERT,
    position=None,
    qkv=("attention.qkv_proj",),
    attention_output="attention.o_proj",
    attention_norm="attn_ln",
    # The gate comes second.
    intermediate=(Part("mlp.up_gate_proj", 1, 2), Part("mlp.up_gate_proj", 0, 2)),
    output="mlp.down_proj",
    mlp_norm="mlp_ln",
)
# Keys of nomic's own files, which follow GPT-2.
NOMIC_KEYS = {
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "n_positions",
    "layer_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function",
}
# Features of its code that no published model of this kind uses.
NOMIC_VARIANTS = (
    *("prenorm", "parallel_block", "causal", "use_rms_norm", "rotary_emb_interleaved"),
    *("qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias"),
)
NOMIC_GATES = {"swiglu": "silu", "geglu": "gelu"}


def _read_nomic(settings: Settings) -> EncoderConfig:
    if settings.get("n_embd") is None:
        common = _read_common(settings, tuple(GATES), "silu")
        rotation = read_rotation(settings, common["head_dim"], 1000.0)
        return _rotary(settings, common, rotation, (ROTARY, NOMIC), frozenset({"norm"}), 2)
    name = settings.choice("activation_function", tuple(NOMIC_GATES), default="swiglu")
    own = settings.replaced(activation_function=NOMIC_GATES[name])
    _require_false(settings, *NOMIC_VARIANTS)
    for key in ("rotary_scaling_factor", "num_experts"):
        if settings.get(key) is not None:
            raise settings.error(key, "null")
    common = read_common(own, keys=NOMIC_KEYS, activations=("silu", "gelu"))
    part = settings.number("rotary_emb_fraction", default=1)
    size = int(common["head_dim"] * part) if part <= 1 else 0
    if size % 2 or size == 0:
        raise settings.error("rotary_emb_fraction", "a part of a head that has an even size")
    rotation = read_rotation(settings, size, 10_000.0, theta_key="rotary_emb_base")
    return _rotary(settings, common, rotation, (NOMIC, ROTARY), frozenset({"norm"}), 2)


def _read_gte(settings: Settings, *, theta: float) -> EncoderConfig:
    common = _read_common(settings, ("gelu", "silu"))
    settings.choice("layer_norm_type", ("layer_norm",), default="layer_norm")
    _require_false(settings, "logn_attention_scale", "logn_attention_clip1")
    rotation = read_rotation(settings, common["head_dim"], theta)
    return _rotary(settings, common, rotation, (ROTARY, NEW), BIASES - {"intermediate"})


def _rotary(
    settings: Settings,
    common: dict[str, Any],
    rotation: Rotation,
    layouts: tuple[Names, ...],
    biases: frozenset[str],
    types: int = 1,
) -> EncoderConfig:
    """Return the settings of an encoder with a gate and a rotation; it may lack token types.

    types: kinds of segments if config.json says nothing.
    """
    return EncoderConfig(
        **{**common, **read_token_types(settings, layouts, types)},
        rotations=(rotation,) * common["num_layers"],
        gated=True,
        biases=biases,
    )


def _require_false(settings: Settings, *keys: str) -> None:
    for key in keys:
        if settings.flag(key):
            raise settings.error(key, "false")


def _read_common(
    settings: Settings, activations: tuple[str, ...], default: str = "gelu"
) -> dict[str, Any]:
    common = read_common(settings, activations=activations, activation=default)
    require_even_heads(settings, common)
    return common


CLASSIFIERS = {
    "ForSequenceClassification": HeadNames("classifier", pooled=True),
    "ForTokenClassification": HeadNames("classifier"),
}
PREDICTIONS = replace(BERT_HEADS["ForMaskedLM"], norm="cls.predictions.transform.layer_norm")
NOMIC_HEADS = {**CLASSIFIERS, "ForMaskedLM": PREDICTIONS}


def _gte_heads(norm: str) -> dict[str, HeadNames]:
    masked = HeadNames("lm_head.decoder", dense="lm_head.dense", activation="gelu", norm=norm)
    return {
        **CLASSIFIERS,
        "ForQuestionAnswering": HeadNames("qa_outputs"),
        "ForMaskedLM": masked,
    }


FAMILIES = (
    Family("nomic_bert", _read_nomic, NOMIC_HEADS),
    *(
        Family(name, partial(_read_gte, theta=theta), _gte_heads(norm), ("rope", "absolute"))
        for name, theta, norm in (
            ("gte", 160_000.0, "lm_head.layer_norm"),
            ("new", 10_000.0, "lm_head.norm"),
        )
    ),
)
