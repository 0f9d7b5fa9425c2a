"""config.json: the sizes of a BERT encoder, checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fbg.models.files import read_settings

__all__ = ["BertConfig", "read_config"]

MODEL_TYPES = ("bert",)
ACTIVATIONS = ("gelu", "relu")


@dataclass(frozen=True)
class BertConfig:
    """The settings of config.json that matter for inference, under their names there."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    hidden_act: str
    layer_norm_eps: float


def read_config(path: Path) -> BertConfig:
    """Read and check config.json; raises ModelError."""
    settings = read_settings(path)
    settings.choice("model_type", MODEL_TYPES)
    settings.choice("position_embedding_type", ("absolute",), default="absolute")
    if settings.flag("is_decoder"):
        raise settings.error("is_decoder", "false: only encoders are supported")
    config = BertConfig(
        vocab_size=settings.size("vocab_size"),
        hidden_size=settings.size("hidden_size"),
        num_hidden_layers=settings.size("num_hidden_layers"),
        num_attention_heads=settings.size("num_attention_heads"),
        intermediate_size=settings.size("intermediate_size"),
        max_position_embeddings=settings.size("max_position_embeddings"),
        type_vocab_size=settings.size("type_vocab_size", default=2),
        hidden_act=settings.choice("hidden_act", ACTIVATIONS, default="gelu"),
        layer_norm_eps=settings.number("layer_norm_eps", default=1e-12),
    )
    if config.hidden_size % config.num_attention_heads:
        heads = f"a divisor of hidden_size, {config.hidden_size}"
        raise settings.error("num_attention_heads", heads)
    return config
