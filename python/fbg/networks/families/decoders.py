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

from fbg.checkpoints.settings import Settings
from fbg.checkpoints.weights import HeadPart
from fbg.networks.config import (
    ATTENTION,
    FULL,
    LABELLED,
    MLP,
    SLIDING,
    EncoderConfig,
    Family,
    TaskConfig,
    layer_kinds,
    read_biases,
    read_common,
)
from fbg.networks.names import HeadNames, Names
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
    """Read Llama's settings, or EuroBERT's, which is not a decoder.

    rope_interleaved: rotations turn neighbouring rows of queries and keys, as in GGUF files.
    """
    pooling, names = "", NAMES
    if causal:
        causal = _is_causal(settings)
    else:
        key = "classifier_pooling" if settings.get("clf_pooling") is None else "clf_pooling"
        pooling = settings.choice(key, tuple(POOLINGS), default="late")
        settings = settings.replaced(classifier_pooling="cls")
    common = _read_common(settings, eps=1e-5 if pooling else 1e-6)
    biases = read_biases(settings, attention_bias=ATTENTION, mlp_bias=MLP | {"decoder"})
    rotation = read_rotation(settings, common["head_dim"], 10_000.0)
    if pooling:
        common["tasks"] = replace(common["tasks"], pooling=POOLINGS[pooling])
    if settings.flag("rope_interleaved"):
        *turned, values = NAMES.qkv
        heads = common["num_heads"], common["kv_heads"]
        parts = [HeadPart(str(n), 0, 1, h, turned=True) for n, h in zip(turned, heads, strict=True)]
        names = replace(NAMES, qkv=(*parts, values))
        if "qkv" in biases:
            raise settings.error("attention_bias", "false where rope_interleaved is true")
    return _decoder(common, rotation, causal=causal, layouts=(names,), biases=biases)


def _read_qwen(settings: Settings, *, names: Names) -> EncoderConfig:
    """Read the settings of Qwen2, whose queries, keys and values have biases, or of Qwen3.

    Where tokens see later ones, the states may be projected to `num_labels` columns, as in
    voyage-4-nano.
    """
    common = _read_common(settings)
    layers = common["num_layers"]
    causal = _is_causal(settings)
    window = None
    if settings.flag("use_sliding_window"):
        window = _window(settings, common, causal)
    first = settings.size("max_window_layers", default=28, at_least=0)
    default = [FULL if window is None or n < first else SLIDING for n in range(layers)]
    kinds = layer_kinds(settings, layers, default)
    if SLIDING in kinds and window is None:
        raise settings.error("layer_types", "without windows, which sliding_window does not size")
    if names.q_norm is None:
        biases = frozenset({"qkv"})
    else:
        biases = read_biases(settings, attention_bias=ATTENTION)
    return _decoder(
        common,
        read_rotation(settings, common["head_dim"], 10_000.0),
        causal=causal,
        projected=0 if causal else _projected(settings, common),
        layouts=(names,),
        biases=biases,
        windows=tuple(None if kind == FULL else window for kind in kinds),
    )


def _read_mistral(settings: Settings) -> EncoderConfig:
    common = _read_common(settings)
    rotation = read_rotation(settings, common["head_dim"], 10_000.0)
    causal = _is_causal(settings)
    windows = (_window(settings, common, causal),) * common["num_layers"]
    return _decoder(common, rotation, causal=causal, layouts=(NAMES,), windows=windows)


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
    if not (causal or third):
        raise settings.error(key, "false or null, as transformers attends one way all the same")
    if settings.get("is_causal") is False:  # windows would be wider than with the key above
        raise settings.error("is_causal", "left out")
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
        norm_adds_one=settings.flag("norm_adds_one", default=True),
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


def _is_causal(settings: Settings) -> bool:
    """Whether tokens see no later ones; the code of some models on the hub has a key of its own."""
    both_ways = any(
        settings.get(key) is not None and settings.flag(key)
        for key in ("is_bidirectional", "use_bidirectional_attention")
    )
    return not both_ways and (
        settings.get("is_causal") is None or settings.flag("is_causal", default=True)
    )


def _decoder(
    common: dict[str, Any], rotation: Rotation | None = None, **options: Any
) -> EncoderConfig:
    """Return the settings of a decoder. rotation: used by all layers, if they have the same one."""
    if rotation is not None:
        options["rotations"] = (rotation,) * common["num_layers"]
    return EncoderConfig(**{**DECODER, **common, **options})


def _window(settings: Settings, common: dict[str, Any], causal: bool) -> int | None:
    """Return how far a token sees; None: everywhere. A causal window includes the token itself."""
    if settings.get("sliding_window") is None:
        return None
    return int(min(settings.size("sliding_window"), common["max_positions"])) - causal


def _projected(settings: Settings, common: dict[str, Any]) -> int:
    """Return the columns of the projection of the last states; 0 where there is none."""
    tasks: TaskConfig = common["tasks"]
    names = settings.get("id2label")
    if tasks.kind in LABELLED or (names is None and settings.get("num_labels") is None):
        return 0
    return len(names) if isinstance(names, dict) else settings.size("num_labels")


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
LISTWISE = {"JinaForRanking": HeadNames("projector.2", dense="projector.0")}
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
    Family("qwen3", partial(_read_qwen, names=NORMED_HEADS), CAUSAL | LISTWISE),
    Family("gemma2", partial(_read_gemma, third=False), CLASSIFIERS),
    Family("gemma3_text", partial(_read_gemma, third=True), SEQUENCE),
    Family("eurobert", partial(_read_llama, causal=False), EUROBERT),
)
