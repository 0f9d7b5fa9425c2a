"""ModernBERT (Warner et al., 2024, arXiv:2412.13663).

It differs from BERT: queries and keys are rotated by the places of their tokens, and there is
no position table; most layers see only near tokens; each half of a layer normalises its input,
not its output; the feed-forward part has a gate.
"""

from __future__ import annotations

from dataclasses import replace

from fbg.checkpoints.settings import Settings
from fbg.networks.config import (
    ATTENTION,
    FULL,
    MLP,
    SLIDING,
    EncoderConfig,
    Family,
    layer_kinds,
    read_biases,
    read_common,
    require_even_heads,
)
from fbg.networks.names import HeadNames, Names
from fbg.networks.rotation import MAX_THETA, Rotation

NAMES = Names(
    word="embeddings.tok_embeddings",
    position=None,
    token_type=None,
    embedding_norm="embeddings.norm",
    final_norm="final_norm",
    pooler=None,
    layer="layers.{n}",
    qkv=("attn.Wqkv",),
    attention_output="attn.Wo",
    attention_norm="attn_norm",
    intermediate=("mlp.Wi",),
    output="mlp.Wo",
    mlp_norm="mlp_norm",
)
KEYS = {"hidden_act": "hidden_activation", "layer_norm_eps": "norm_eps"}


def _read(settings: Settings) -> EncoderConfig:
    common = read_common(settings, keys=KEYS, activations=("gelu",), eps=1e-5, own_heads=False)
    require_even_heads(settings, common)
    every = settings.size("global_attn_every_n_layers", default=3)
    default = [SLIDING if n % every else FULL for n in range(common["num_layers"])]
    kinds = layer_kinds(settings, common["num_layers"], default)
    if settings.get("rope_scaling") is not None:
        raise settings.error("rope_scaling", "null")
    size = common["head_dim"]
    rotations = {
        FULL: Rotation(size, _theta(settings, FULL, "global_rope_theta", 160_000.0)),
        SLIDING: Rotation(size, _theta(settings, SLIDING, "local_rope_theta", 10_000.0)),
    }
    # No two tokens are further apart than there are positions.
    window = min(settings.size("local_attention", default=128) // 2, common["max_positions"])
    biases = read_biases(
        settings,
        attention_bias=ATTENTION,
        mlp_bias=MLP,
        norm_bias=frozenset({"norm"}),
        classifier_bias=frozenset({"dense"}),
    )
    if settings.flag("decoder_bias", default=True):
        biases |= {"decoder"}
    return EncoderConfig(
        **common,
        layouts=(NAMES,),
        place="before",
        first_attention_norm=False,
        windows=tuple(None if kind == FULL else window for kind in kinds),
        rotations=tuple(rotations[kind] for kind in kinds),
        gated=True,
        biases=biases,
    )


def _theta(settings: Settings, kind: str, old: str, default: float) -> float:
    """Return the base of the frequencies of a kind of layer.

    old: its key in the files of transformers 4.
    """
    rope = settings.section("rope_parameters").section(kind)
    rope.choice("rope_type", ("default",), default="default")
    settings.get(old)  # it yields to the newer key
    where, key = (rope, "rope_theta") if rope.get("rope_theta") is not None else (settings, old)
    theta = where.number(key, default)
    if not 1 <= theta <= MAX_THETA:
        raise where.error(key, f"from 1 to {MAX_THETA:g}")
    return theta


HEAD = HeadNames(
    "classifier", dense="head.dense", activation="gelu", norm="head.norm", biases=False
)
HEADS = {
    "ForSequenceClassification": replace(HEAD, mean_or_first=True),
    "ForTokenClassification": HEAD,
    "ForQuestionAnswering": HEAD,
    "ForMaskedLM": replace(HEAD, output="decoder", output_biased=False),
}
FAMILIES = (Family("modernbert", _read, HEADS),)
