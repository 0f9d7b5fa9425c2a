"""A family of models: one model_type of config.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fbg.checkpoints.files import Settings
from fbg.networks.config import EncoderConfig
from fbg.networks.heads import HeadNames
from fbg.networks.transformer import Transformer

__all__ = ["Family"]


@dataclass(frozen=True)
class Family:
    """What is known of a family; registry.py has them all.

    network: computes it. read_config: reads and checks its settings; raises ModelError.
    anchor: a tensor that every checkpoint has, without the prefix of models with a head.
    heads: names of the tensors of its heads, by task_config.KINDS.
    positions: what position_embedding_type may be, the default first.
    """

    model_type: str
    network: type[Transformer]
    read_config: Callable[[Settings], EncoderConfig]
    anchor: str
    heads: Mapping[str, HeadNames] = field(default_factory=dict)
    positions: tuple[str, ...] = ("absolute",)
