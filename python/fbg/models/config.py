"""config.json: the family and the sizes of an encoder, checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fbg.models.architectures import ARCHITECTURES, Architecture
from fbg.models.files import Settings, read_settings

__all__ = ["ACTIVATIONS", "EncoderConfig", "read_config"]

# Far beyond any model: keeps a damaged config.json from asking for an endless graph.
MAX_LAYERS = 4096

# Names in config.json, and those of the graph.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


@dataclass(frozen=True)
class EncoderConfig:
    """The settings of config.json that matter for inference, under the names that BERT has there.

    num_hidden_groups, inner_group_num: a group is inner_group_num layers, and runs
        num_hidden_layers / num_hidden_groups times in a row. One layer, once, if not shared.
    pad_token_id: the padding that positions skip; None where they count every token.
    """

    architecture: Architecture
    vocab_size: int
    embedding_size: int
    hidden_size: int
    num_hidden_layers: int
    num_hidden_groups: int
    inner_group_num: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    hidden_act: str
    layer_norm_eps: float
    pad_token_id: int | None

    @property
    def model_type(self) -> str:
        return self.architecture.model_type

    @property
    def max_length(self) -> int:
        """Tokens of the longest sequence that has a position for each."""
        unused = 0 if self.pad_token_id is None else self.pad_token_id + 1
        return self.max_position_embeddings - unused

    @property
    def layer_names(self) -> list[str]:
        """The layers in the order in which they run; names that recur share their weights."""
        repeats = self.num_hidden_layers / self.num_hidden_groups
        return [
            self.architecture.layer.format(group=int(n / repeats), inner=inner)
            for n in range(self.num_hidden_layers)
            for inner in range(self.inner_group_num)
        ]


def read_config(path: Path) -> EncoderConfig:
    """Read and check config.json; raises ModelError."""
    settings = read_settings(path)
    architecture = ARCHITECTURES[settings.choice("model_type", tuple(ARCHITECTURES))]
    settings.choice("position_embedding_type", ("absolute",), default="absolute")
    for decoding in ("is_decoder", "add_cross_attention"):
        if settings.flag(decoding):
            raise settings.error(decoding, "false: only encoders are supported")

    key = architecture.key_of
    hidden_size = settings.size(key("hidden_size"))
    layers = settings.size(key("num_hidden_layers"))
    shared = architecture.shared_layers
    config = EncoderConfig(
        architecture,
        vocab_size=settings.size("vocab_size"),
        embedding_size=(
            settings.size("embedding_size") if architecture.narrow_embeddings else hidden_size
        ),
        hidden_size=hidden_size,
        num_hidden_layers=layers,
        num_hidden_groups=settings.size("num_hidden_groups", default=1) if shared else layers,
        inner_group_num=settings.size("inner_group_num", default=1) if shared else 1,
        num_attention_heads=settings.size(key("num_attention_heads")),
        intermediate_size=settings.size(key("intermediate_size")),
        max_position_embeddings=settings.size("max_position_embeddings"),
        type_vocab_size=(
            1 if architecture.token_type is None else settings.size("type_vocab_size", default=2)
        ),
        hidden_act=settings.choice(
            key("hidden_act"), tuple(ACTIVATIONS), default=architecture.hidden_act
        ),
        layer_norm_eps=settings.number("layer_norm_eps", default=1e-12),
        pad_token_id=(
            settings.size("pad_token_id", default=1, at_least=0)
            if architecture.positions_skip_padding
            else None
        ),
    )
    _check(config, settings)
    return config


def _check(config: EncoderConfig, settings: Settings) -> None:
    key = config.architecture.key_of
    if config.hidden_size % config.num_attention_heads:
        divisor = f"a divisor of {key('hidden_size')}, {config.hidden_size}"
        raise settings.error(key("num_attention_heads"), divisor)
    if config.num_hidden_layers > MAX_LAYERS:
        raise settings.error(key("num_hidden_layers"), f"at most {MAX_LAYERS}")
    if config.num_hidden_groups > config.num_hidden_layers:
        at_most = f"at most num_hidden_layers, {config.num_hidden_layers}"
        raise settings.error("num_hidden_groups", at_most)
    if config.num_hidden_layers * config.inner_group_num > MAX_LAYERS:
        most = MAX_LAYERS // config.num_hidden_layers
        raise settings.error("inner_group_num", f"at most {most}")
    if config.max_length < 1:
        least = f"more than {config.max_position_embeddings - config.max_length}"
        raise settings.error("max_position_embeddings", f"{least}, pad_token_id + 1")
