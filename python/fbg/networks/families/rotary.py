"""Rotary encoders between BERT and today's decoders.

nomic_bert and gte have two layouts: one of Hugging Face transformers, and one of the files on the
hub, which were made by code of their own. NeoBERT (Le Breton et al., 2025, arXiv:2502.19587) is
made like a decoder without a causal mask; neighbouring elements of its heads are turned together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from fbg.checkpoints.settings import Settings
from fbg.checkpoints.weights import HeadPart, Part
from fbg.networks.config import (
    ATTENTION,
    BIASES,
    GATES,
    EncoderConfig,
    Family,
    Mixture,
    read_biases,
    read_common,
    read_token_types,
    require_even_heads,
)
from fbg.networks.experts import MAX_EXPERTS
from fbg.networks.families.bert import BERT, BERT_HEADS
from fbg.networks.names import HeadNames, Names
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
NEOBERT = Names(
    word="encoder",
    position=None,
    token_type=None,
    embedding_norm=None,
    final_norm="layer_norm",
    pooler=None,
    layer="transformer_encoder.{n}",
    attention_output="wo",
    attention_norm="attention_norm",
    intermediate=("ffn.w12",),
    output="ffn.w3",
    mlp_norm="ffn_norm",
)
NEOBERT_KEYS = {"max_position_embeddings": "max_length", "layer_norm_eps": "norm_eps"}
NEOBERT_MULTIPLE = 8  # of columns between the two halves of a feed-forward layer
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
    *("moe_normalize_expert_weights", "expert_choice_router", "num_shared_experts"),
)
NOMIC_GATES = {"swiglu": "silu", "geglu": "gelu"}


def _read_nomic(settings: Settings) -> EncoderConfig:
    if settings.get("n_embd") is None:
        common = _read_common(settings, tuple(GATES), "silu")
        rotation = read_rotation(settings, common["head_dim"], 1000.0)
        return _rotary(settings, common, rotation, (ROTARY, NOMIC), frozenset({"norm"}), 2)
    names = (*NOMIC_GATES, "gelu")
    name = settings.choice("activation_function", names, default="swiglu")
    gated = name in NOMIC_GATES
    own = settings.replaced(activation_function=NOMIC_GATES.get(name, name))
    _require_false(settings, *NOMIC_VARIANTS)
    if settings.get("rotary_scaling_factor") is not None:
        raise settings.error("rotary_scaling_factor", "null")
    common = read_common(own, keys=NOMIC_KEYS, activations=("silu", "gelu"))
    part = settings.number("rotary_emb_fraction", default=1)
    size = int(common["head_dim"] * part) if part <= 1 else 0
    if size % 2 or size == 0:
        raise settings.error("rotary_emb_fraction", "a part of a head that has an even size")
    rotation = read_rotation(settings, size, 10_000.0, theta_key="rotary_emb_base")
    biases = read_biases(
        settings,
        qkv_proj_bias=ATTENTION,
        mlp_fc1_bias=frozenset({"intermediate"}),
        mlp_fc2_bias=frozenset({"output"}),
    )
    layouts = (NOMIC, ROTARY) if gated else (replace(NOMIC, intermediate=("mlp.fc1",)),)
    config = _rotary(settings, common, rotation, layouts, biases | {"norm"}, 2)
    mixture = _read_mixture(settings, common["num_layers"], gated)
    return replace(config, gated=gated, mixture=mixture)


def _read_mixture(settings: Settings, layers: int, gated: bool) -> Mixture | None:
    if settings.number("ffn_div", 1) != 1:
        raise settings.error("ffn_div", "1")
    if settings.get("moe_every_n_layers") in (None, 0, -1):
        if settings.get("num_experts") not in (None, 0):
            raise settings.error("num_experts", "null without moe_every_n_layers")
        for key in ("moe_top_k", "moe_impl"):
            settings.get(key)  # of experts, which there are not
        return None
    every = settings.size("moe_every_n_layers")
    settings.choice("moe_impl", ("megablocks", "torch"), default="megablocks")
    count, chosen = settings.size("num_experts"), settings.size("moe_top_k", 1)
    if count > MAX_EXPERTS:
        raise settings.error("num_experts", f"at most {MAX_EXPERTS}")
    if chosen > count:
        raise settings.error("moe_top_k", f"at most num_experts, {count}")
    if gated:
        raise settings.error("activation_function", "gelu, that of experts")
    # As in the model's own code, of which the first layer never has experts.
    return Mixture(frozenset(n for n in range(layers) if n % every == 1), count, chosen)


def _read_gte(settings: Settings, *, theta: float) -> EncoderConfig:
    common = _read_common(settings, ("gelu", "silu"))
    settings.choice("layer_norm_type", ("layer_norm",), default="layer_norm")
    _require_false(settings, "logn_attention_scale", "logn_attention_clip1")
    rotation = read_rotation(settings, common["head_dim"], theta)
    return _rotary(settings, common, rotation, (ROTARY, NEW), BIASES - {"intermediate"})


def _read_neobert(settings: Settings) -> EncoderConfig:
    for key in ("rope", "rms_norm"):
        if not settings.flag(key, default=True):
            raise settings.error(key, "true")
    settings.choice("hidden_act", ("swiglu", "SwiGLU"), default="swiglu")
    own = settings.replaced(hidden_act="silu")
    common = read_common(
        own, keys=NEOBERT_KEYS, activations=("silu",), eps=1e-6, own_heads=False, max_positions=1024
    )
    require_even_heads(settings, common)
    heads, size = common["num_heads"], common["head_dim"]
    if settings.size("dim_head", size) != size:
        raise settings.error("dim_head", f"hidden_size / num_attention_heads, {size}")
    # A gate is half of its layer: two thirds of the columns make as many weights as without one.
    common["intermediate_size"] = (
        -(2 * common["intermediate_size"] // 3 // -NEOBERT_MULTIPLE) * NEOBERT_MULTIPLE
    )
    parts = tuple(HeadPart("qkv", n, 3, heads, turned=n < 2) for n in range(3))
    return EncoderConfig(
        **{**common, "tasks": replace(common["tasks"], tied=False)},
        layouts=(replace(NEOBERT, qkv=parts),),
        rms=True,
        place="before",
        rotations=(Rotation(size, 10_000.0),) * common["num_layers"],
        gated=True,
        biases=frozenset(),
    )


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
        if settings.get(key) not in (None, False, 0):
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


NEOBERT_HEADS = {
    "ForSequenceClassification": HeadNames("classifier", dense="dense", activation="tanh"),
    "ForMaskedLM": HeadNames("decoder"),
}


def _gte_heads(norm: str) -> dict[str, HeadNames]:
    masked = HeadNames("lm_head.decoder", dense="lm_head.dense", activation="gelu", norm=norm)
    return {
        **CLASSIFIERS,
        "ForQuestionAnswering": HeadNames("qa_outputs"),
        "ForMaskedLM": masked,
    }


FAMILIES = (
    Family("nomic_bert", _read_nomic, NOMIC_HEADS),
    Family("neobert", _read_neobert, NEOBERT_HEADS),
    *(
        Family(name, partial(_read_gte, theta=theta), _gte_heads(norm), ("rope", "absolute"))
        for name, theta, norm in (
            ("gte", 160_000.0, "lm_head.layer_norm"),
            ("new", 10_000.0, "lm_head.norm"),
        )
    ),
)
