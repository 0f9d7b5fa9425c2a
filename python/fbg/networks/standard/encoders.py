"""Encoders between BERT and today's decoders: rotary ones, and those of BERT's kind that normalise
before each half of a layer.

nomic_bert and gte have two layouts: that of Hugging Face transformers, and that of the files on the
hub, which were made by code of their own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from fbg.checkpoints.checkpoint import Part
from fbg.checkpoints.files import Settings
from fbg.networks.bert.families import BERT_HEADS, ROBERTA_HEADS
from fbg.networks.config import ACTIVATIONS, GATES
from fbg.networks.family import Family
from fbg.networks.heads import HeadNames
from fbg.networks.rotation import read_rotation
from fbg.networks.standard.config import Names, StandardConfig, read_standard
from fbg.networks.standard.network import Standard

__all__ = ["FAMILIES"]

WORD, TOKEN_TYPE = "embeddings.word_embeddings", "embeddings.token_type_embeddings"
POSITION = "embeddings.position_embeddings"
ALL = frozenset({"qkv", "attention_output", "intermediate", "output", "norm"})

ROTARY = Names(
    word=WORD,
    token_type=TOKEN_TYPE,
    embedding_norm="embeddings.LayerNorm",
    final_norm=None,
    pooler="pooler.dense",
    attention_norm="post_attention_layernorm",
    mlp_norm="post_mlp_layernorm",
)
NOMIC = Names(
    word=WORD,
    token_type=TOKEN_TYPE,
    embedding_norm="emb_ln",
    final_norm=None,
    layer="encoder.layers.{n}",
    qkv=("attn.Wqkv",),
    attention_output="attn.out_proj",
    attention_norm="norm1",
    mlp_norm="norm2",
    intermediate=("mlp.fc12", "mlp.fc11"),
    output="mlp.fc2",
)
NEW = Names(
    word=WORD,
    token_type=TOKEN_TYPE,
    embedding_norm="embeddings.LayerNorm",
    final_norm=None,
    pooler="pooler.dense",
    layer="encoder.layer.{n}",
    qkv=("attention.qkv_proj",),
    attention_output="attention.o_proj",
    attention_norm="attn_ln",
    mlp_norm="mlp_ln",
    # The gate comes second.
    intermediate=(Part("mlp.up_gate_proj", 1, 2), Part("mlp.up_gate_proj", 0, 2)),
    output="mlp.down_proj",
)
MEGATRON = Names(
    word=WORD,
    position=POSITION,
    token_type=TOKEN_TYPE,
    final_norm="encoder.ln",
    pooler="pooler.dense",
    layer="encoder.layer.{n}",
    qkv=("attention.self.query", "attention.self.key", "attention.self.value"),
    attention_output="attention.output.dense",
    attention_norm="attention.ln",
    mlp_norm="ln",
    intermediate=("intermediate.dense",),
    output="output.dense",
)
XLM_ROBERTA_XL = replace(
    MEGATRON,
    final_norm="encoder.LayerNorm",
    attention_norm="attention.self_attn_layer_norm",
    mlp_norm="LayerNorm",
)
# Keys of nomic's own files, which are GPT-2's.
NOMIC_KEYS = {
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "n_positions",
    "layer_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function",
}
# What its code can do besides, and no published model of this kind does.
NOMIC_VARIANTS = (
    *("prenorm", "parallel_block", "causal", "use_rms_norm", "rotary_emb_interleaved"),
    *("qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias"),
)
NOMIC_GATES = {"swiglu": "silu", "geglu": "gelu"}


def _read_nomic(settings: Settings) -> StandardConfig:
    if settings.get("n_embd") is None:
        common = _read_common(settings, eps=1e-12)
        rotation = read_rotation(settings, common["head_dim"], 1000.0)
        return _rotary(settings, common, rotation, (ROTARY, NOMIC), biases=frozenset({"norm"}))
    name = settings.choice("activation_function", tuple(NOMIC_GATES), default="swiglu")
    own = settings.replaced(activation_function=NOMIC_GATES[name])
    _require_false(settings, *NOMIC_VARIANTS)
    for key in ("rotary_scaling_factor", "num_experts"):
        if settings.get(key) is not None:
            raise settings.error(key, "null")
    common = read_standard(own, keys=NOMIC_KEYS, activations=("silu", "gelu"), eps=1e-12)
    part = settings.number("rotary_emb_fraction", default=1)
    size = int(common["head_dim"] * part) if part <= 1 else 0
    if size % 2 or size == 0:
        raise settings.error("rotary_emb_fraction", "a part of a head that has an even size")
    rotation = read_rotation(settings, size, 10_000.0, theta_key="rotary_emb_base")
    return _rotary(settings, common, rotation, (NOMIC, ROTARY), biases=frozenset({"norm"}))


def _read_gte(settings: Settings, *, theta: float) -> StandardConfig:
    common = _read_common(settings, activations=("gelu", "silu"))
    settings.choice("layer_norm_type", ("layer_norm",), default="layer_norm")
    _require_false(settings, "logn_attention_scale", "logn_attention_clip1")
    rotation = read_rotation(settings, common["head_dim"], theta)
    biases = frozenset({"qkv", "attention_output", "output", "norm"})
    return _rotary(settings, common, rotation, (ROTARY, NEW), biases=biases)


def _rotary(
    settings: Settings, common: dict[str, Any], rotation: Any, layouts: Any, **options: Any
) -> StandardConfig:
    """Return the settings of an encoder whose norms follow each half; it may lack token types."""
    types = settings.size("type_vocab_size", default=1, at_least=0)
    if types == 0:
        layouts = tuple(replace(names, token_type=None) for names in layouts)
    return StandardConfig(
        **{**common, "num_token_types": max(types, 1)},
        layouts=layouts,
        rms=False,
        place="after",
        rotations=(rotation,) * common["num_layers"],
        **options,
    )


def _read_before(
    settings: Settings, *, names: Names, eps: float, skips_padding: bool
) -> StandardConfig:
    """Read the settings of an encoder like BERT whose norms precede each half of a layer."""
    common = read_standard(settings, activations=tuple(ACTIVATIONS), eps=eps)
    padding = settings.size("pad_token_id", default=1, at_least=0) if skips_padding else None
    types = settings.size("type_vocab_size", default=1 if skips_padding else 2)
    return StandardConfig(
        **{**common, "num_token_types": types, "pad_token_id": padding},
        layouts=(names,),
        rms=False,
        gated=False,
        biases=ALL,
    )


def _require_false(settings: Settings, *keys: str) -> None:
    for key in keys:
        if settings.flag(key):
            raise settings.error(key, "false")


def _read_common(
    settings: Settings, *, activations: tuple[str, ...] = tuple(GATES), eps: float = 1e-12
) -> dict[str, Any]:
    common = read_standard(settings, activations=activations, eps=eps)
    if common["head_dim"] % 2:
        raise settings.error("num_attention_heads", "such that the heads have an even size")
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
    Family("nomic_bert", Standard, _read_nomic, f"{WORD}.weight", NOMIC_HEADS),
    *(
        Family(
            name,
            Standard,
            partial(_read_gte, theta=theta),
            f"{WORD}.weight",
            _gte_heads(norm),
            positions=("rope", "absolute"),
        )
        for name, theta, norm in (
            ("gte", 160_000.0, "lm_head.layer_norm"),
            ("new", 10_000.0, "lm_head.norm"),
        )
    ),
    Family(
        "megatron-bert",
        Standard,
        partial(_read_before, names=MEGATRON, eps=1e-12, skips_padding=False),
        f"{WORD}.weight",
        BERT_HEADS,
    ),
    Family(
        "xlm-roberta-xl",
        Standard,
        partial(_read_before, names=XLM_ROBERTA_XL, eps=1e-5, skips_padding=True),
        f"{WORD}.weight",
        ROBERTA_HEADS,
    ),
)
