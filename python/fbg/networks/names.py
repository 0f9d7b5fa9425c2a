"""A family's names of the tensors of a transformer in its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field

from fbg.checkpoints.kernel_tensor import Part
from fbg.networks.disentangled import RelativeNames
from fbg.networks.experts import ExpertNames


@dataclass(frozen=True)
class Names:
    """Names come without ".weight" and ".bias"; the defaults are BERT's. None: there is no such
    tensor.

    projection: from the width of the embeddings to the width of the layers.
    distance: a table of biases of attention, with a row for each bucket of distances.
    last_projection: of the last hidden states; no prefix is put before it.
    pooler: tanh of a linear layer on the first token; checkpoints may lack it.
    layer: the n-th layer; the names below follow it and a dot. If layers share weights, it has
        {group} and {inner} instead of {n}.
    qkv: three tensors, one in which they are concatenated, or equal parts that are
        concatenated. qkv_biases: for queries, keys and values with names of their own; None stands
        for zeros.
    q_norm, k_norm: norms of each head.
    attention_post_norm, mlp_post_norm: norms of the output of half a layer, if another norm comes
        before it.
    intermediate: in a gated layer the gate, then the other half; or both in one tensor.
    patches: a picture's first layer, which reads patches. leading: full names of the tensors of
        the tokens before them; `position` and `word` are full names, too.
    vector: projection of the pooled state to the space of embeddings.
    attention_pool: a layer of attention that pools the states of a picture.
    layer_scales: tensors by which the outputs of both halves of a layer are multiplied.
    """

    word: str = "embeddings.word_embeddings"
    position: str | None = "embeddings.position_embeddings"
    token_type: str | None = "embeddings.token_type_embeddings"
    embedding_norm: str | None = "embeddings.LayerNorm"
    projection: str | None = None
    distance: str | None = None
    final_norm: str | None = None
    last_projection: str = "linear"
    pooler: str | None = "pooler.dense"
    convolution: str = "encoder.conv"
    layer: str = "encoder.layer.{n}"
    qkv: tuple[str | Part, ...] = (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
    )
    qkv_biases: tuple[str | None, ...] = ()
    q_norm: str | None = None
    k_norm: str | None = None
    attention_output: str = "attention.output.dense"
    attention_norm: str = "attention.output.LayerNorm"
    attention_post_norm: str | None = None
    intermediate: tuple[str | Part, ...] = ("intermediate.dense",)
    output: str = "output.dense"
    mlp_norm: str = "output.LayerNorm"
    mlp_post_norm: str | None = None
    patches: str | None = None
    leading: tuple[str, ...] = ()
    vector: str | None = None
    attention_pool: str | None = None
    layer_scales: tuple[str | None, str | None] = (None, None)
    experts: ExpertNames = field(default_factory=ExpertNames)
    relative: RelativeNames = field(default_factory=RelativeNames)
