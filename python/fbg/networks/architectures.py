"""The families of encoders that can be read: one description each, as a difference from BERT's.

Nearly all of them compute the same network (bert.py); what differs is how config.json and the
tensors are called, and the few rules below. ModernBERT is a network of its own (modernbert.py), of
which only what every network has stands here. Names and rules are those of the family's modeling
file in Hugging Face transformers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

__all__ = ["ARCHITECTURES", "Architecture"]


@dataclass(frozen=True)
class Architecture:
    """Where a family keeps its settings and tensors; the defaults are BERT's.

    Names of tensors come without ".weight" and ".bias"; those after `layer` follow its name and a
    dot.
    """

    model_type: str
    network: str = "bert"  # or "modernbert"

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

    def key_of(self, setting: str) -> str:
        """Return the name in config.json of a setting, given BERT's."""
        return self.keys.get(setting, setting)


BERT = Architecture("bert")

ROBERTA = replace(BERT, model_type="roberta", positions_skip_padding=True)

DISTILBERT = Architecture(
    "distilbert",
    keys={
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
    },
    token_type=None,
    layer="transformer.layer.{group}",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attention_output="attention.out_lin",
    attention_norm="sa_layer_norm",
    intermediate="ffn.lin1",
    output="ffn.lin2",
    output_norm="output_layer_norm",
    pooler=None,
)

ELECTRA = replace(
    BERT,
    model_type="electra",
    narrow_embeddings=True,
    projection="embeddings_project",
    pooler=None,
)

ALBERT = Architecture(
    "albert",
    hidden_act="gelu_new",
    narrow_embeddings=True,
    projection="encoder.embedding_hidden_mapping_in",
    projection_of_equals=True,
    shared_layers=True,
    layer="encoder.albert_layer_groups.{group}.albert_layers.{inner}",
    query="attention.query",
    key="attention.key",
    value="attention.value",
    attention_output="attention.dense",
    attention_norm="attention.LayerNorm",
    intermediate="ffn",
    output="ffn_output",
    output_norm="full_layer_layer_norm",
    pooler="pooler",
)

MPNET = replace(
    ROBERTA,
    model_type="mpnet",
    padding=1,
    token_type=None,
    distance="encoder.relative_attention_bias",
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attention_output="attention.attn.o",
    attention_norm="attention.LayerNorm",
)

MODERNBERT = Architecture(
    "modernbert",
    network="modernbert",
    keys={"hidden_act": "hidden_activation", "layer_norm_eps": "norm_eps"},
    word="embeddings.tok_embeddings",
)

ARCHITECTURES = {
    architecture.model_type: architecture
    for architecture in (
        BERT,
        ROBERTA,
        replace(ROBERTA, model_type="xlm-roberta"),
        replace(ROBERTA, model_type="camembert"),
        DISTILBERT,
        ELECTRA,
        ALBERT,
        MPNET,
        MODERNBERT,
    )
}
