"""What every network is told by config.json: its sizes, checked, under names of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fbg.checkpoints.files import Settings
from fbg.networks.task_config import TaskConfig, read_task_config

__all__ = ["ACTIVATIONS", "GATES", "MAX_LAYERS", "EncoderConfig", "read_common"]

# Far beyond any model: keeps a damaged config.json from asking for an endless graph.
MAX_LAYERS = 4096

# Names in config.json, and those of the graph.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
# Of a gated layer too.
GATES = {**ACTIVATIONS, "silu": "silu", "swish": "silu"}


@dataclass(frozen=True)
class EncoderConfig:
    """The settings that every network has; a kind of network adds its own.

    model_type: of config.json, which names the family.
    num_layers: layers that run one after the other, whether or not they share weights.
    head_dim: columns of one head of queries, keys or values.
    intermediate_size: columns between the two halves of a feed-forward layer.
    max_positions: rows of the position table, or places that rotations are made for.
    num_token_types: kinds of segments that a token can belong to; 1 where there are none.
    activation: as the graph calls it.
    norm_eps: what layer norms add to the variance.
    pad_token_id: the token that positions skip; None where they count every token.
    """

    model_type: str
    vocab_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    head_dim: int
    intermediate_size: int
    max_positions: int
    num_token_types: int
    activation: str
    norm_eps: float
    pad_token_id: int | None
    tasks: TaskConfig

    @property
    def max_length(self) -> int:
        """Tokens of the longest sequence that has a position for each."""
        unused = 0 if self.pad_token_id is None else self.pad_token_id + 1
        return self.max_positions - unused

    @property
    def long_from(self) -> int | None:
        """The length beyond which sequences are rotated otherwise; None where none are."""
        return None


def read_common(
    settings: Settings,
    *,
    activations: tuple[str, ...],
    activation: str | None,
    eps: float,
    renamed: Mapping[str, str],
    own_head_dim: bool = False,
    max_positions: int | None = None,
) -> dict[str, Any]:
    """Return the members of EncoderConfig that all networks read alike; raises ModelError.

    Those that differ are num_token_types and pad_token_id. Keys of config.json are BERT's, but for
    those that `renamed` maps to the family's. activations: those that the network supports;
    activation, eps, max_positions: what holds where config.json says nothing. own_head_dim: it may
    say how large heads are; else they divide the hidden size.
    """

    def key(name: str) -> str:
        return renamed.get(name, name)

    hidden_size = settings.size(key("hidden_size"))
    heads, layers = (settings.size(key(k)) for k in ("num_attention_heads", "num_hidden_layers"))
    head_dim = None
    if own_head_dim and settings.get(key("head_dim")) is not None:
        head_dim = settings.size(key("head_dim"))
    elif hidden_size % heads:
        divisor = f"a divisor of {key('hidden_size')}, {hidden_size}"
        raise settings.error(key("num_attention_heads"), divisor)
    if layers > MAX_LAYERS:
        raise settings.error(key("num_hidden_layers"), f"at most {MAX_LAYERS}")
    chosen = settings.choice(key("hidden_act"), activations, default=activation)
    return {
        "model_type": settings.get("model_type"),
        "vocab_size": settings.size("vocab_size"),
        "hidden_size": hidden_size,
        "num_layers": layers,
        "num_heads": heads,
        "head_dim": head_dim or hidden_size // heads,
        "intermediate_size": settings.size(key("intermediate_size")),
        "max_positions": settings.size(key("max_position_embeddings"), max_positions),
        "activation": GATES[chosen],
        "norm_eps": settings.number(key("layer_norm_eps"), default=eps),
        "tasks": read_task_config(settings),
    }
