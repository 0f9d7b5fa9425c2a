"""DeBERTa of the second and third version: BERT with disentangled attention."""

from __future__ import annotations

from dataclasses import replace

from fbg.checkpoints.files import Settings
from fbg.networks.bert.families import BERT_HEADS
from fbg.networks.config import ACTIVATIONS
from fbg.networks.family import Family
from fbg.networks.heads import HeadNames
from fbg.networks.standard.config import Names, StandardConfig, read_standard
from fbg.networks.standard.disentangled import Relative
from fbg.networks.standard.network import Standard

__all__ = ["FAMILIES"]

NAMES = Names(
    word="embeddings.word_embeddings",
    embedding_norm="embeddings.LayerNorm",
    final_norm=None,
    layer="encoder.layer.{n}",
    qkv=("attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"),
    attention_output="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    mlp_norm="output.LayerNorm",
    intermediate=("intermediate.dense",),
    output="output.dense",
)
TERMS = {"c2p", "p2c"}  # content to position, position to content


def _read(settings: Settings) -> StandardConfig:
    common = read_standard(settings, activations=("gelu", *ACTIVATIONS), eps=1e-7)
    hidden = common["hidden_size"]
    if common["num_heads"] * common["head_dim"] != hidden:
        raise settings.error("num_attention_heads", f"a divisor of hidden_size, {hidden}")
    if settings.get("embedding_size") not in (None, hidden):
        raise settings.error("embedding_size", f"hidden_size, {hidden}")
    if settings.get("conv_kernel_size") not in (None, 0):
        raise settings.error("conv_kernel_size", "0: layers with a convolution are not supported")
    settings.choice("pooler_hidden_act", ("gelu",), default="gelu")
    relative = _read_relative(settings, common["max_positions"], common["norm_eps"])
    terms = 1 + (0 if relative is None else relative.keys + relative.queries)
    types = settings.size("type_vocab_size", default=0, at_least=0)
    positions = settings.flag("position_biased_input", default=True)
    names = replace(
        NAMES,
        token_type="embeddings.token_type_embeddings" if types else None,
        position="embeddings.position_embeddings" if positions else None,
    )
    return StandardConfig(
        **{**common, "num_token_types": max(types, 1)},
        layouts=(names,),
        rms=False,
        place="after",
        gated=False,
        relative=relative,
        scale=(common["head_dim"] * terms) ** -0.5,
        biases=frozenset({"qkv", "attention_output", "intermediate", "output", "norm"}),
    )


def _read_relative(settings: Settings, positions: int, eps: float) -> Relative | None:
    kinds = settings.get("pos_att_type")
    kinds = kinds.lower().split("|") if isinstance(kinds, str) else kinds or []
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise settings.error("pos_att_type", "a list of c2p and p2c")
    chosen = {kind.strip() for kind in kinds}
    if not chosen <= TERMS:
        raise settings.error("pos_att_type", "a list of c2p and p2c")
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


# Classifiers read what a dense layer makes of the first token.
HEADS = {
    **BERT_HEADS,
    "ForSequenceClassification": HeadNames("classifier", dense="pooler.dense", activation="gelu"),
}
FAMILIES = (Family("deberta-v2", Standard, _read, f"{NAMES.word}.weight", HEADS),)
