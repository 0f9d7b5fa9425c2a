"""Decoders that embed texts, and EuroBERT and EmbeddingGemma, which are built like them.

They have RMSNorm before each half of a layer, rotary positions, gated feed-forward parts, and fewer
heads of keys and values than of queries. Names and rules follow the family's modeling file in
Hugging Face transformers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fbg.checkpoints.files import Settings
from fbg.networks.config import (
    ATTENTION,
    FULL,
    MLP,
    SLIDING,
    EncoderConfig,
    layer_kinds,
    read_biases,
    read_common,
)
from fbg.networks.family import Family
from fbg.networks.heads import HeadNames
from fbg.networks.names import Names
from fbg.networks.rotation import Rotation, read_rotation

NAMES = Names(
    word="embed_tokens",
    position=None,
    token_type=None,
    embedding_norm=None,
    final_norm="norm",
    pooler=None,
    layer="layers.{n}",
    qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    attention_output="self_attn.o_proj",
    attention_norm="input_layernorm",
    intermediate=("mlp.gate_proj", "mlp.up_proj"),
    output="mlp.down_proj",
    mlp_norm="post_attention_layernorm",
)
NORMED_HEADS = replace(NAMES, q_norm="self_attn.q_norm", k_norm="self_attn.k_norm")
GEMMA = replace(
    NORMED_HEADS,
    attention_post_norm="post_attention_layernorm",
    mlp_norm="pre_feedforward_layernorm",
    mlp_post_norm="post_feedforward_layernorm",
)

# The poolings of EuroBERT's classifiers.
POOLINGS = {"bos": "cls", "mean": "mean", "late": "late"}
DECODER: dict[str, Any] = {"rms": True, "place": "before", "gated": True, "biases": frozenset()}
KEYS = {"layer_norm_eps": "rms_norm_eps"}


def _read_llama(settings: Settings, *, causal: bool = True) -> EncoderConfig:
    """Read Llama's settings, or EuroBERT's, which is not a decoder."""
    pooling = ""
    if not causal:
        pooling = settings.choice("classifier_pooling", tuple(POOLINGS), default="late")
        settings = settings.replaced(classifier_pooling="cls")
    common = _read_common(settings, eps=1e-6 if causal else 1e-5)
    biases = read_biases(settings, attention_bias=ATTENTION, mlp_bias=MLP)
    rotation = read_rotation(settings, common["head_dim"], 10_000.0)
    if not causal:
        common["tasks"] = replace(common["tasks"], pooling=POOLINGS[pooling])
    return _decoder(common, rotation, causal=causal, layouts=(NAMES,), biases=biases)


def _read_qwen(settings: Settings, *, names: Names) -> EncoderConfig:
    """Read the settings of Qwen2, whose queries, keys and values have biases, or of Qwen3."""
    common = _read_common(settings)
    layers = common["num_layers"]
    window = _window(settings, common) if settings.flag("use_sliding_window") else None
    first = settings.size("max_window_layers", default=28, at_least=0)
    default = [FULL if window is None or n < first else SLIDING for n in range(layers)]
    kinds = layer_kinds(settings, layers, default)
    if names.q_norm is None:
        biases = frozenset({"qkv"})
    else:
        biases = read_biases(settings, attention_bias=ATTENTION)
    return _decoder(
        common,
        read_rotation(settings, common["head_dim"], 10_000.0),
        causal=not settings.flag("is_bidirectional") and settings.flag("is_causal", default=True),
        layouts=(names,),
        biases=biases,
        windows=tuple(None if kind == FULL else window for kind in kinds),
    )


def _read_mistral(settings: Settings) -> EncoderConfig:
    common = _read_common(settings)
    rotation = read_rotation(settings, common["head_dim"], 10_000.0)
    windows = (_window(settings, common),) * common["num_layers"]
    return _decoder(common, rotation, causal=True, layouts=(NAMES,), windows=windows)


def _read_gemma(settings: Settings, *, third: bool) -> EncoderConfig:
    """Read the settings of Gemma 2 or 3: two kinds of layers, and norms on both sides of halves."""
    activations = ("gelu_pytorch_tanh", "gelu", "gelu_new")
    keys = {**KEYS, "hidden_act": "hidden_activation"}
    common = _read_common(settings, activations=activations, keys=keys)
    layers = common["num_layers"]
    every = settings.size("_sliding_window_pattern", default=6 if third else 2)
    every = settings.size("sliding_window_pattern", default=every)
    kinds = layer_kinds(
        settings, layers, [SLIDING if n % every else FULL for n in range(1, layers + 1)]
    )
    key, size = "use_bidirectional_attention", common["head_dim"]
    causal = settings.get(key) is None or not settings.flag(key)
    window = settings.size("sliding_window", default=4096)
    # A bidirectional model sees half of its window on either side.
    reach = min(window - 1 if causal else window // 2, common["max_positions"])
    if third:
        near = read_rotation(
            settings, size, 1e4, layers=SLIDING, theta_key="rope_local_base_freq", scaled=False
        )
        rotations = {FULL: read_rotation(settings, size, 1e6, layers=FULL), SLIDING: near}
        if settings.get("attn_logit_softcapping") is not None:
            raise settings.error("attn_logit_softcapping", "null")
    else:
        rotations = dict.fromkeys((FULL, SLIDING), read_rotation(settings, size, 1e4))
    if len({rotation.long_from for rotation in rotations.values()}) > 1:
        raise settings.error("rope_parameters", "longrope in all kinds of layers alike, or in none")
    scale = settings.number("query_pre_attn_scalar", default=256)
    if scale <= 0:
        raise settings.error("query_pre_attn_scalar", "more than 0")
    return _decoder(
        common,
        layouts=(GEMMA if third else replace(GEMMA, q_norm=None, k_norm=None),),
        norm_adds_one=True,
        place="around",
        causal=causal,
        windows=tuple(None if kind == FULL else reach for kind in kinds),
        rotations=tuple(rotations[kind] for kind in kinds),
        scale=scale**-0.5,
        softcap=None if third else _softcap(settings),
        embedding_scale=common["hidden_size"] ** 0.5,
        biases=read_biases(settings, attention_bias=ATTENTION),
    )


def _read_common(
    settings: Settings,
    *,
    eps: float = 1e-6,
    activations: Sequence[str] = ("silu", "swish", "gelu"),
    keys: Mapping[str, str] = KEYS,
) -> dict[str, Any]:
    common = read_common(settings, keys=keys, activations=activations, eps=eps)
    if common["head_dim"] % 2:
        raise settings.error("head_dim", f"an even number, here {common['head_dim']}")
    return common


def _decoder(
    common: dict[str, Any], rotation: Rotation | None = None, **options: Any
) -> EncoderConfig:
    """Return the settings of a decoder. rotation: used by all layers, if they have the same one."""
    if rotation is not None:
        options["rotations"] = (rotation,) * common["num_layers"]
    return EncoderConfig(**{**DECODER, **common, **options})


def _window(settings: Settings, common: dict[str, Any]) -> int | None:
    """Return how far a token sees; None: everywhere."""
    if settings.get("sliding_window") is None:
        return None
    return int(min(settings.size("sliding_window"), common["max_positions"])) - 1


def _softcap(settings: Settings) -> float | None:
    key = "attn_logit_softcapping"
    if key in settings and settings.get(key) is None:
        return None
    value = settings.number(key, default=50)
    if value <= 0:
        raise settings.error(key, "null or more than 0")
    return value


SEQUENCE = {"ForSequenceClassification": HeadNames("score", output_biased=False, last=True)}
CLASSIFIERS = {**SEQUENCE, "ForTokenClassification": HeadNames("score")}
CAUSAL = {
    **CLASSIFIERS,
    "ForQuestionAnswering": HeadNames("qa_outputs"),
    "ForCausalLM": HeadNames("lm_head", output_biased=False, last=True),
}
EUROBERT = {
    "ForSequenceClassification": HeadNames(
        "classifier", dense="dense", activation="gelu", mean_or_first=True
    ),
    "ForTokenClassification": HeadNames("classifier"),
    "ForMaskedLM": HeadNames("lm_head", output_biased=False),
}

FAMILIES = (
    Family("llama", _read_llama, CAUSAL),
    Family("mistral", _read_mistral, CAUSAL),
    Family("qwen2", partial(_read_qwen, names=NAMES), CAUSAL),
    Family("qwen3", partial(_read_qwen, names=NORMED_HEADS), CAUSAL),
    Family("gemma2", partial(_read_gemma, third=False), CLASSIFIERS),
    Family("gemma3_text", partial(_read_gemma, third=True), SEQUENCE),
    Family("eurobert", partial(_read_llama, causal=False), EUROBERT),
)
