"""config.json of the networks that `Standard` computes, checked: one description for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fbg.checkpoints.checkpoint import Part
from fbg.checkpoints.files import Settings
from fbg.networks.config import EncoderConfig, read_common
from fbg.networks.rotation import MAX_ROTATIONS, Rotation
from fbg.networks.standard.disentangled import Relative, RelativeNames

__all__ = [
    "FULL",
    "SLIDING",
    "Buckets",
    "Convolution",
    "Names",
    "StandardConfig",
    "layer_kinds",
    "read_standard",
]

# Kinds of layers, in layer_types.
FULL, SLIDING = "full_attention", "sliding_attention"


@dataclass(frozen=True)
class Names:
    """What a family calls its tensors, without ".weight" and ".bias".

    Those after `layer` follow its name and a dot. qkv: three tensors, one in which they follow each
    other, or equal parts that are put together so. qkv_biases: of queries, keys and values, where
    they have names of their own; None stands for zeros. intermediate: of a gated layer the gate,
    then the other half; or both in one tensor.
    """

    word: str = "embed_tokens"
    position: str | None = None
    token_type: str | None = None
    embedding_norm: str | None = None
    final_norm: str | None = "norm"
    distance: str | None = None
    pooler: str | None = None
    convolution: str = "encoder.conv"
    layer: str = "layers.{n}"
    qkv: tuple[str | Part, ...] = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
    qkv_biases: tuple[str | None, ...] = ()
    q_norm: str | None = None
    k_norm: str | None = None
    attention_output: str = "self_attn.o_proj"
    attention_norm: str = "input_layernorm"
    attention_post_norm: str | None = None
    mlp_norm: str = "post_attention_layernorm"
    mlp_post_norm: str | None = None
    intermediate: tuple[str | Part, ...] = ("mlp.gate_proj", "mlp.up_proj")
    output: str = "mlp.down_proj"
    relative: RelativeNames = field(default_factory=RelativeNames)


@dataclass(frozen=True)
class Buckets:
    """How distances of key and query fall into the rows of a table of biases (T5).

    Half of the rows are for keys after the query. Of each half, the first half has a row for each
    distance, and the second grows by powers up to `longest`.
    """

    count: int
    longest: int


@dataclass(frozen=True)
class Convolution:
    """A convolution over the sequence that reads what the first layer reads, and is added to what
    that gives (DeBERTa-v2).

    width: places that an output sees. groups: of channels that do not see each other.
    """

    width: int
    groups: int
    activation: str


@dataclass(frozen=True)
class StandardConfig(EncoderConfig):
    """The settings of a network.

    layouts: the names of its tensors; the first that fits the checkpoint is taken.
    rms: norms divide by the root mean square, and neither subtract a mean nor add a bias.
    norm_adds_one: norms multiply by 1 + weight.
    place: of the norms: "before" or "after" each half of a layer, or "around" it, which is both.
    kv_heads: heads of keys and values, shared by num_heads / kv_heads heads of queries each.
    causal: a token does not see those after it. windows: how far each layer sees; None: everywhere.
    rotations: of each layer. alibi: scores fall with the distance, in each head at another rate
        (Press et al., 2021, arXiv:2108.12409).
    relative: embeddings of distances, which queries and keys meet.
    convolution: beside the first layer.
    scale: factor of the scores; None: 1 / sqrt(head_dim). softcap: bound of the scores, or None.
    gated: the feed-forward part has a gate, to which the activation is applied.
    embedding_scale: factor of word embeddings.
    biases: fields of a layer whose linear layers have one, and "norm" where layer norms have one.
    """

    layouts: tuple[Names, ...] = field(kw_only=True)
    rms: bool = field(default=True, kw_only=True)
    norm_adds_one: bool = field(default=False, kw_only=True)
    place: str = field(default="before", kw_only=True)
    kv_heads: int = field(kw_only=True)
    causal: bool = field(default=False, kw_only=True)
    windows: tuple[int | None, ...] = field(default=(), kw_only=True)
    rotations: tuple[Rotation, ...] = field(default=(), kw_only=True)
    alibi: bool = field(default=False, kw_only=True)
    buckets: Buckets | None = field(default=None, kw_only=True)
    relative: Relative | None = field(default=None, kw_only=True)
    convolution: Convolution | None = field(default=None, kw_only=True)
    scale: float | None = field(default=None, kw_only=True)
    softcap: float | None = field(default=None, kw_only=True)
    gated: bool = field(default=True, kw_only=True)
    embedding_scale: float = field(default=1.0, kw_only=True)
    biases: frozenset[str] = field(default=frozenset(), kw_only=True)

    @property
    def long_from(self) -> int | None:
        return next((r.long_from for r in self.rotations if r.long_from is not None), None)


def read_standard(
    settings: Settings,
    *,
    keys: Mapping[str, str] | None = None,
    activations: Sequence[str] = ("silu",),
    eps: float = 1e-6,
    max_positions: int | None = None,
) -> dict[str, Any]:
    """Return the members of StandardConfig that families read alike; raises ModelError.

    keys: names of settings that differ from BERT's. eps, max_positions: where config.json has none.
    """
    common = read_common(
        settings,
        activations=tuple(activations),
        activation=activations[0],
        eps=eps,
        renamed=keys or {},
        own_head_dim=True,
        max_positions=max_positions,
    )
    if common["max_positions"] > MAX_ROTATIONS:
        raise settings.error("max_position_embeddings", f"at most {MAX_ROTATIONS}")
    heads, key = common["num_heads"], "num_key_value_heads"
    kv_heads = heads if settings.get(key) is None else settings.size(key)
    if heads % kv_heads:
        raise settings.error(key, f"a divisor of the number of heads, {heads}")
    return {**common, "num_token_types": 1, "pad_token_id": None, "kv_heads": kv_heads}


def layer_kinds(settings: Settings, layers: int, default: Sequence[str]) -> Sequence[str]:
    """Return layer_types, which says of each layer whether it sees a window; raises ModelError."""
    kinds = settings.get("layer_types")
    if kinds is None:
        return default
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise settings.error("layer_types", f"a list for {layers} layers")
    if not all(kind in (FULL, SLIDING) for kind in kinds):
        raise settings.error("layer_types", f"a list of {FULL} and {SLIDING}")
    return kinds
