"""config.json: the family and the sizes of an encoder, checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fbg.checkpoints.files import Settings, read_settings
from fbg.networks.architectures import ARCHITECTURES, Architecture
from fbg.networks.task_config import TaskConfig, read_task_config

__all__ = [
    "ACTIVATIONS",
    "DISTANCE_BUCKETS",
    "BertConfig",
    "EncoderConfig",
    "ModernBertConfig",
    "read_config",
]

# Far beyond any model: keeps a damaged config.json from asking for an endless graph.
MAX_LAYERS = 4096
MAX_ROTATIONS = 1 << 17  # places with a rotation
MAX_THETA = 1e30  # base of its frequencies

# Names in config.json, and those of the graph.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


# Kinds of layers of ModernBERT, in layer_types.
FULL, SLIDING = "full_attention", "sliding_attention"

# Rows of MPNet's table of distances, whatever its config.json says: transformers counts in 32.
DISTANCE_BUCKETS = 32


@dataclass(frozen=True)
class EncoderConfig:
    """The settings of config.json that every network has, under the names that BERT has there.

    pad_token_id: the padding that positions skip; None where they count every token.
    """

    architecture: Architecture
    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    hidden_act: str
    layer_norm_eps: float
    pad_token_id: int | None
    tasks: TaskConfig

    @property
    def model_type(self) -> str:
        return self.architecture.model_type

    @property
    def max_length(self) -> int:
        """Tokens of the longest sequence that has a position for each."""
        unused = 0 if self.pad_token_id is None else self.pad_token_id + 1
        return self.max_position_embeddings - unused


@dataclass(frozen=True)
class BertConfig(EncoderConfig):
    """num_hidden_groups, inner_group_num: a group is inner_group_num layers, and runs
    num_hidden_layers / num_hidden_groups times in a row. One layer, once, if not shared.
    """

    embedding_size: int
    num_hidden_groups: int
    inner_group_num: int

    @property
    def layer_names(self) -> list[str]:
        """The layers in the order in which they run; names that recur share their weights."""
        repeats = self.num_hidden_layers / self.num_hidden_groups
        return [
            self.architecture.layer.format(group=int(n / repeats), inner=inner)
            for n in range(self.num_hidden_layers)
            for inner in range(self.inner_group_num)
        ]


@dataclass(frozen=True)
class ModernBertConfig(EncoderConfig):
    """rope_thetas: of each layer. windows: how far each layer sees; None: everywhere."""

    rope_thetas: tuple[float, ...]
    windows: tuple[int | None, ...]
    norm_bias: bool
    attention_bias: bool
    mlp_bias: bool


def read_config(path: Path) -> EncoderConfig:
    """Read and check config.json; raises ModelError."""
    settings = read_settings(path)
    architecture = ARCHITECTURES[settings.choice("model_type", tuple(ARCHITECTURES))]
    settings.choice("position_embedding_type", ("absolute",), default="absolute")
    for decoding in ("is_decoder", "add_cross_attention"):
        if settings.flag(decoding):
            raise settings.error(decoding, "false: only encoders are supported")
    read = _read_modernbert if architecture.network == "modernbert" else _read_bert
    return read(settings, architecture)


def _read_bert(settings: Settings, architecture: Architecture) -> BertConfig:
    common = _read_common(settings, architecture, tuple(ACTIVATIONS), eps=1e-12)
    hidden_size, layers = common["hidden_size"], common["num_hidden_layers"]
    shared = architecture.shared_layers
    config = BertConfig(
        **common,
        type_vocab_size=(
            1 if architecture.token_type is None else settings.size("type_vocab_size", default=2)
        ),
        pad_token_id=_skipped_padding(settings, architecture),
        embedding_size=(
            settings.size("embedding_size") if architecture.narrow_embeddings else hidden_size
        ),
        num_hidden_groups=settings.size("num_hidden_groups", default=1) if shared else layers,
        inner_group_num=settings.size("inner_group_num", default=1) if shared else 1,
    )
    if config.num_hidden_groups > layers:
        raise settings.error("num_hidden_groups", f"at most num_hidden_layers, {layers}")
    if layers * config.inner_group_num > MAX_LAYERS:
        raise settings.error("inner_group_num", f"at most {MAX_LAYERS // layers}")
    if config.max_length < 1:
        least = f"more than {config.max_position_embeddings - config.max_length}"
        raise settings.error("max_position_embeddings", f"{least}, pad_token_id + 1")
    if architecture.distance is not None:
        buckets = "relative_attention_num_buckets"
        if settings.size(buckets, DISTANCE_BUCKETS) != DISTANCE_BUCKETS:
            raise settings.error(buckets, str(DISTANCE_BUCKETS))
    return config


def _skipped_padding(settings: Settings, architecture: Architecture) -> int | None:
    if not architecture.positions_skip_padding or architecture.padding is not None:
        return architecture.padding
    return settings.size("pad_token_id", default=1, at_least=0)


def _read_modernbert(settings: Settings, architecture: Architecture) -> ModernBertConfig:
    common = _read_common(settings, architecture, ("gelu",), eps=1e-5)
    layers, heads = common["num_hidden_layers"], common["num_attention_heads"]
    if common["hidden_size"] // heads % 2:
        raise settings.error("num_attention_heads", "such that heads have an even size")
    if common["max_position_embeddings"] > MAX_ROTATIONS:
        raise settings.error("max_position_embeddings", f"at most {MAX_ROTATIONS}")
    every = settings.size("global_attn_every_n_layers", default=3)
    kinds = settings.get("layer_types")
    if kinds is None:
        kinds = [SLIDING if n % every else FULL for n in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise settings.error("layer_types", f"a list for {layers} layers")
    if not all(kind in (FULL, SLIDING) for kind in kinds):
        raise settings.error("layer_types", f"a list of {FULL} and {SLIDING}")
    if settings.get("rope_scaling") is not None:
        raise settings.error("rope_scaling", "null")
    full = _rope_theta(settings, FULL, "global_rope_theta", 160_000.0)
    sliding = _rope_theta(settings, SLIDING, "local_rope_theta", 10_000.0)
    # No two tokens are further apart than there are positions.
    window = min(
        settings.size("local_attention", default=128) // 2, common["max_position_embeddings"]
    )
    return ModernBertConfig(
        **common,
        type_vocab_size=1,
        pad_token_id=None,
        rope_thetas=tuple(full if kind == FULL else sliding for kind in kinds),
        windows=tuple(None if kind == FULL else window for kind in kinds),
        norm_bias=settings.flag("norm_bias"),
        attention_bias=settings.flag("attention_bias"),
        mlp_bias=settings.flag("mlp_bias"),
    )


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


def _read_common(
    settings: Settings, architecture: Architecture, activations: tuple[str, ...], eps: float
) -> dict[str, Any]:
    """Return what settings of every network are called in EncoderConfig."""
    key = architecture.key_of
    hidden_size = settings.size(key("hidden_size"))
    heads, layers = (settings.size(key(k)) for k in ("num_attention_heads", "num_hidden_layers"))
    if hidden_size % heads:
        divisor = f"a divisor of {key('hidden_size')}, {hidden_size}"
        raise settings.error(key("num_attention_heads"), divisor)
    if layers > MAX_LAYERS:
        raise settings.error(key("num_hidden_layers"), f"at most {MAX_LAYERS}")
    return {
        "architecture": architecture,
        "vocab_size": settings.size("vocab_size"),
        "hidden_size": hidden_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": settings.size(key("intermediate_size")),
        "max_position_embeddings": settings.size("max_position_embeddings"),
        "hidden_act": settings.choice(
            key("hidden_act"), activations, default=architecture.hidden_act
        ),
        "layer_norm_eps": settings.number(key("layer_norm_eps"), default=eps),
        "tasks": read_task_config(settings),
    }
