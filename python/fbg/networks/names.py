"""A family's names of the tensors of a transformer and of its head in its checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field

from fbg.checkpoints.weights import Part


@dataclass(frozen=True)
class ExpertNames:
    """A family's names of the tensors, which follow the name of the layer and a dot. Those of all
    but the router are complete.

    intermediate: of all experts, one below the other, (experts * wide, hidden). output: the same,
        of the transposed weights.
    """

    router: str = "mlp.router.layer"
    intermediate: str = "mlp.experts.mlp.w1"
    output: str = "mlp.experts.mlp.w2"
    bias: str = "mlp.experts.bias"


@dataclass(frozen=True)
class RelativeNames:
    """A family's names of the tensors; projections follow the name of their layer and a dot.

    key_biased: whether the projection to keys has a bias.
    """

    embeddings: str = "encoder.rel_embeddings"
    norm: str = "encoder.LayerNorm"
    query: str = "attention.self.query_proj"
    key: str = "attention.self.key_proj"
    own_query: str = "attention.self.pos_query_proj"
    own_key: str = "attention.self.pos_key_proj"
    key_biased: bool = True


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


@dataclass(frozen=True)
class HeadNames:
    """A family's names of the tensors of a head.

    Names come without ".weight" and ".bias", and are those in the file: no prefix is put before
    them.

    pooled: the head reads the output of the encoder's pooler.
    activation: after the dense layer; "encoder": the activation of the encoder's layers.
    mean_or_first: config.json says whether the head reads the mean of all tokens or the first one;
        or "late": each token by itself, until the output layer reads the mean of their results.
    biases: whether the dense layer and the norm always have one; else config.json says it.
    bias: the bias of the output, if its name is not the weight's; output_biased: whether there
        is one; of a decoder without, config.json says it.
    last: the head reads the last token of a sequence instead of the first.
    """

    output: str
    pooled: bool = False
    dense: str | None = None
    activation: str = "none"
    norm: str | None = None
    mean_or_first: bool = False
    biases: bool = True
    bias: str | None = None
    output_biased: bool = True
    last: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The layers of the head."""
        return tuple(part for part in (self.output, self.dense, self.norm) if part is not None)

    @property
    def output_bias(self) -> str:
        return self.bias or f"{self.output}.bias"
