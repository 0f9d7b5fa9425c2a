"""config.json of ModernBERT, checked."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.checkpoints.files import Settings
from fbg.networks.config import EncoderConfig, read_common
from fbg.networks.rotation import MAX_ROTATIONS

__all__ = ["ModernBertConfig", "read_modernbert_config"]

MAX_THETA = 1e30  # base of its frequencies

# Kinds of layers, in layer_types.
FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True)
class ModernBertConfig(EncoderConfig):
    """The settings of ModernBERT.

    rope_thetas: base of the frequencies of each layer's rotations.
    windows: how far each layer sees; None: everywhere.
    """

    rope_thetas: tuple[float, ...]
    windows: tuple[int | None, ...]
    norm_bias: bool
    attention_bias: bool
    mlp_bias: bool


def read_modernbert_config(settings: Settings) -> ModernBertConfig:
    """Read the settings; raises ModelError."""
    common = read_common(
        settings,
        activations=("gelu",),
        activation="gelu",
        eps=1e-5,
        renamed={"hidden_act": "hidden_activation", "layer_norm_eps": "norm_eps"},
    )
    if common["head_dim"] % 2:
        raise settings.error("num_attention_heads", "such that the heads have an even size")
    if common["max_positions"] > MAX_ROTATIONS:
        raise settings.error("max_position_embeddings", f"at most {MAX_ROTATIONS}")
    kinds = _layer_kinds(settings, common["num_layers"])
    if settings.get("rope_scaling") is not None:
        raise settings.error("rope_scaling", "null")
    full = _rope_theta(settings, FULL, "global_rope_theta", 160_000.0)
    sliding = _rope_theta(settings, SLIDING, "local_rope_theta", 10_000.0)
    # No two tokens are further apart than there are positions.
    window = min(settings.size("local_attention", default=128) // 2, common["max_positions"])
    return ModernBertConfig(
        **common,
        num_token_types=1,
        pad_token_id=None,
        rope_thetas=tuple(full if kind == FULL else sliding for kind in kinds),
        windows=tuple(None if kind == FULL else window for kind in kinds),
        norm_bias=settings.flag("norm_bias"),
        attention_bias=settings.flag("attention_bias"),
        mlp_bias=settings.flag("mlp_bias"),
    )


def _layer_kinds(settings: Settings, layers: int) -> list[str]:
    every = settings.size("global_attn_every_n_layers", default=3)
    kinds = settings.get("layer_types")
    if kinds is None:
        return [SLIDING if n % every else FULL for n in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise settings.error("layer_types", f"a list for {layers} layers")
    if not all(kind in (FULL, SLIDING) for kind in kinds):
        raise settings.error("layer_types", f"a list of {FULL} and {SLIDING}")
    return kinds


def _rope_theta(settings: Settings, kind: str, old: str, default: float) -> float:
    """Return the base of the frequencies of a kind of layer.

    old: its key in the files of transformers 4.
    """
    rope = settings.section("rope_parameters").section(kind)
    rope.choice("rope_type", ("default",), default="default")
    where, key = (rope, "rope_theta") if rope.get("rope_theta") is not None else (settings, old)
    theta = where.number(key, default)
    if not 1 <= theta <= MAX_THETA:
        raise where.error(key, f"from 1 to {MAX_THETA:g}")
    return theta
