"""A family of models: one model_type of config.json."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fbg.checkpoints.settings import Settings
from fbg.networks.config import EncoderConfig
from fbg.networks.heads import HeadNames


@dataclass(frozen=True)
class Family:
    """The description of a family; families/ has them all.

    read_config: reads and checks its settings; raises ModelError.
    heads: names of the tensors of its heads, by task_config.KINDS.
    positions: values allowed for position_embedding_type, the default first.
    """

    model_type: str
    read_config: Callable[[Settings], EncoderConfig]
    heads: Mapping[str, HeadNames]
    positions: tuple[str, ...] = ("absolute",)
