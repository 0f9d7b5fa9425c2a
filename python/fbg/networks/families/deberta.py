"""DeBERTa, all versions: BERT with disentangled attention."""

from __future__ import annotations

from dataclasses import replace

from fbg.checkpoints.settings import Settings
from fbg.checkpoints.weights import Part
from fbg.networks.config import (
    ACTIVATIONS,
    Convolution,
    EncoderConfig,
    Family,
    Relative,
    read_common,
    read_token_types,
)
from fbg.networks.families.bert import BERT, BERT_HEADS
from fbg.networks.names import HeadNames, RelativeNames

NAMES = replace(
    BERT,
    qkv=("attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"),
    pooler=None,
)
MAX_WIDTH = 99  # tokens that an output of the convolution sees; models have 3
PACKED = "attention.self.in_proj"
TERMS = {"c2p", "p2c"}  # content to position, position to content


FIRST_RELATIVE = RelativeNames(
    own_query="attention.self.pos_q_proj", own_key="attention.self.pos_proj", key_biased=False
)


def _read_first(settings: Settings) -> EncoderConfig:
    """Read the settings of the first version: distances have separate embeddings, each layer has
    its own projections for them, and rows of heads alternate in one product.
    """
    if settings.flag("talking_head"):
        raise settings.error("talking_head", "false")
    own = settings.replaced(
        position_buckets=None, norm_rel_ebd=None, share_att_key=False, conv_kernel_size=None
    )
    config = _read(own)
    heads = config.num_heads
    names = replace(
        config.layouts[0],
        qkv=tuple(Part(PACKED, 3 * n + k, 3 * heads) for k in range(3) for n in range(heads)),
        qkv_biases=("attention.self.q_bias", None, "attention.self.v_bias"),
        relative=FIRST_RELATIVE,
    )
    return replace(config, layouts=(names,), biases=config.biases - {"qkv"})


def _read(settings: Settings) -> EncoderConfig:
    common = read_common(settings, eps=1e-7)
    hidden = common["hidden_size"]
    if common["num_heads"] * common["head_dim"] != hidden:
        raise settings.error("num_attention_heads", f"a divisor of hidden_size, {hidden}")
    if settings.get("embedding_size") not in (None, hidden):
        raise settings.error("embedding_size", f"hidden_size, {hidden}")
    if settings.get("attention_head_size") not in (None, common["head_dim"]):
        raise settings.error("attention_head_size", f"{common['head_dim']}, that of the heads")
    settings.choice("pooler_hidden_act", ("gelu",), default="gelu")
    relative = _read_relative(settings, common["max_positions"], common["norm_eps"])
    terms = 1 + (0 if relative is None else relative.keys + relative.queries)
    positions = settings.flag("position_biased_input", default=True)
    names = NAMES if positions else replace(NAMES, position=None)
    return EncoderConfig(
        **{**common, **read_token_types(settings, (names,), default=0)},
        relative=relative,
        convolution=_read_convolution(settings, hidden),
        scale=(common["head_dim"] * terms) ** -0.5,
    )


def _read_relative(settings: Settings, positions: int, eps: float) -> Relative | None:
    kinds = settings.get("pos_att_type")
    kinds = kinds.lower().split("|") if isinstance(kinds, str) else kinds or []
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise settings.error("pos_att_type", "a list of c2p and p2c")
    chosen = {kind.strip() for kind in kinds}
    if not chosen <= TERMS:
        raise settings.error("pos_att_type", "a list of c2p and p2c")
    for name in ("max_relative_positions", "position_buckets", "norm_rel_ebd", "share_att_key"):
        settings.get(name)  # without relative attention, they change nothing
    if not settings.flag("relative_attention"):
        if chosen:
            raise settings.error("pos_att_type", "null, as relative_attention is false")
        return None
    if not chosen:
        return None
    longest = settings.get("max_relative_positions")
    longest = positions if longest in (None, -1) else settings.size("max_relative_positions")
    buckets = settings.get("position_buckets") not in (None, -1)
    span = settings.size("position_buckets", at_least=2) if buckets else longest
    if buckets and longest - 1 <= span // 2:
        raise settings.error("max_relative_positions", f"more than {span // 2 + 1}")
    norms = settings.get("norm_rel_ebd")
    if norms not in (None, "none", "layer_norm"):
        raise settings.error("norm_rel_ebd", "none or layer_norm")
    return Relative(
        span,
        buckets,
        longest,
        keys="c2p" in chosen,
        queries="p2c" in chosen,
        shared=settings.flag("share_att_key"),
        norm_eps=eps if norms == "layer_norm" else None,
    )


def _read_convolution(settings: Settings, hidden: int) -> Convolution | None:
    """Read the layer of version 2 that adds a convolution over the nearest tokens."""
    key = "conv_kernel_size"
    width = 0 if settings.get(key) is None else settings.size(key, at_least=0)
    if width == 0:
        return None
    if width % 2 == 0 or width > MAX_WIDTH:
        raise settings.error(key, f"0 or an odd number, at most {MAX_WIDTH}")
    groups = settings.size("conv_groups", default=1)
    if hidden % groups:
        raise settings.error("conv_groups", f"a divisor of hidden_size, {hidden}")
    chosen = settings.choice("conv_act", ("tanh", *ACTIVATIONS), default="tanh")
    return Convolution(width, groups, ACTIVATIONS.get(chosen, chosen))


# Classifiers read the output of a dense layer on the first token.
HEADS = {
    **BERT_HEADS,
    "ForSequenceClassification": HeadNames("classifier", dense="pooler.dense", activation="gelu"),
}
FAMILIES = (
    Family("deberta", _read_first, HEADS),
    Family("deberta-v2", _read, HEADS),
)
