"""What a relative of BERT calls its settings and tensors, and the few rules in which it differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["BertNames"]


@dataclass(frozen=True)
class BertNames:
    """Where a family keeps its settings and tensors; the defaults are BERT's.

    Names of tensors come without ".weight" and ".bias"; those after `layer` follow its name and a
    dot.
    """

    # config.json
    keys: Mapping[str, str] = field(default_factory=dict)  # of settings that have another name
    hidden_act: str = "gelu"  # where config.json has none
    narrow_embeddings: bool = False  # embedding_size may differ from hidden_size
    # Positions count the tokens that are not padding (id p), from p + 1; padding has position p.
    positions_skip_padding: bool = False
    padding: int | None = None  # that id, where it is not for config.json to say

    # Embeddings
    word: str = "embeddings.word_embeddings"
    position: str = "embeddings.position_embeddings"
    token_type: str | None = "embeddings.token_type_embeddings"
    embedding_norm: str = "embeddings.LayerNorm"
    # From embedding_size to hidden_size; where the two are equal, some families have none.
    projection: str | None = None
    projection_of_equals: bool = False
    # A bias of attention for the distance of key and query, a row for each bucket of distances.
    distance: str | None = None

    # Layers. If they are shared, config.json says how many groups of `inner` layers there are, and
    # each group runs several times; else every layer is a group of its own.
    shared_layers: bool = False
    layer: str = "encoder.layer.{group}"
    query: str = "attention.self.query"
    key: str = "attention.self.key"
    value: str = "attention.self.value"
    attention_output: str = "attention.output.dense"
    attention_norm: str = "attention.output.LayerNorm"
    intermediate: str = "intermediate.dense"
    output: str = "output.dense"
    output_norm: str = "output.LayerNorm"

    # Tanh of a linear layer on the first token; checkpoints may lack it.
    pooler: str | None = "pooler.dense"
