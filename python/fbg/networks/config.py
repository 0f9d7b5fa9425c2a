"""config.json of a transformer, checked: one description for all families, of the network, of what
a tower for pictures reads, and of the task that it was trained for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fbg.arrays import Floats, Indices
from fbg.checkpoints.quantized.formats import Quantization
from fbg.checkpoints.settings import Settings
from fbg.networks.names import HeadNames, Names
from fbg.networks.rotation import MAX_ROTATIONS, Rotation

# Far beyond any model, so that a damaged config.json cannot ask for an endless graph.
MAX_LAYERS = 4096

# Names in config.json, and names in the graph.
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
# Activations that gated layers may have, too.
GATES = {**ACTIVATIONS, "silu": "silu", "swish": "silu"}

# Kinds of layers in layer_types.
FULL, SLIDING = "full_attention", "sliding_attention"

# Fields of a layer whose linear layers may have biases.
ATTENTION = frozenset({"qkv", "attention_output"})
MLP = frozenset({"intermediate", "output"})
BIASES = ATTENTION | MLP | {"norm"}

# Heads by the end of their class name in transformers, and the methods of Model that need them.
KINDS = {
    "ForSequenceClassification": ("classify", "predict", "rerank", "zero_shot_classify"),
    "ForTokenClassification": ("ner",),
    "ForQuestionAnswering": ("answer",),
    "ForMaskedLM": ("fill_mask", "encode_sparse"),
    "ForCausalLM": ("predict", "rerank"),
    "JinaForRanking": ("rerank",),
    "HF_ColBERT": ("encode_multi", "rank"),
    "GLiNER": ("ner",),
    "ForImageClassification": ("classify_image",),
}
LABELLED = ("ForSequenceClassification", "ForTokenClassification", "ForImageClassification")
# Those with one row of results for a text or a picture, instead of one for each token.
PER_SEQUENCE = ("ForSequenceClassification", "ForCausalLM", "ForImageClassification")
# Models for pretraining have two heads, of which one is a masked LM; except ELECTRA's.
ENDINGS = {
    **{kind: kind for kind in KINDS},
    **dict.fromkeys(("ForPreTraining", "NeoBERTLMHead"), "ForMaskedLM"),
}

MAX_LABELS = 1 << 20  # without names: keeps a damaged file from asking for endless ones

PROBLEM_TYPES = ("regression", "single_label_classification", "multi_label_classification")

# The activation of a cross-encoder: a class of torch, of which the last name says enough.
PAIR_ACTIVATIONS = {"Sigmoid": "sigmoid", "Identity": "none"}

HALF = (0.5, 0.5, 0.5)


@dataclass(frozen=True)
class Buckets:
    """The mapping of distances of key and query to rows of a table of biases (T5, MPNet).

    Half of the rows are for keys after the query. In each half, the first half has a row for each
    distance, and the second grows by powers up to `longest`.
    """

    count: int
    longest: int


@dataclass(frozen=True)
class Relative:
    """The distances that have embeddings, and how these are used.

    span: half of the rows; distance 0 has the row `span` of the checkpoint.
    buckets: whether distances beyond span / 2 share rows, in steps that grow by powers up to
        `longest`.
    keys, queries: whether queries multiply keys of distances, and keys queries of distances.
    shared: they are made by the projections of the text's queries and keys.
    norm_eps: eps of the layer norm of the embeddings; None if there is none.
    """

    span: int
    buckets: bool
    longest: int
    keys: bool
    queries: bool
    shared: bool
    norm_eps: float | None


@dataclass(frozen=True)
class Mixture:
    """The layers with experts; how many experts these have, and to how many a token goes."""

    layers: frozenset[int]
    count: int
    chosen: int


@dataclass(frozen=True)
class Convolution:
    """A convolution over the sequence that reads what the first layer reads, and is added to what
    output of that layer (DeBERTa-v2).

    width: places that an output sees. groups: groups of channels that do not see each other.
    """

    width: int
    groups: int
    activation: str


@dataclass(frozen=True)
class SharedLayers:
    """Layers that share weights (ALBERT): each of `groups` groups of `inner` layers runs
    num_layers / groups times in a row.
    """

    groups: int
    inner: int


@dataclass(frozen=True)
class PictureInput:
    """How a picture becomes the input of a tower; the defaults are ViT's.

    resize: height and width, or the short side, or None. resample: the filter. crop: height and
    width of the middle that is kept, or None. A pixel p becomes (p * scale - mean) / std.
    """

    resize: tuple[int, int] | int | None = (224, 224)
    resample: str = "bilinear"
    crop: tuple[int, int] | None = None
    scale: float = 1 / 255
    mean: tuple[float, ...] = HALF
    std: tuple[float, ...] = HALF

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width of the input; None where they follow from the picture."""
        return self.crop or (self.resize if isinstance(self.resize, tuple) else None)


@dataclass(frozen=True)
class PictureConfig:
    """What a tower reads: patches of pictures of one size, row by row, behind some other tokens.

    channels: of a picture. patch, size: height and width. positions: of the checkpoint's table, in
    rows and columns of patches; antialias: whether they are averaged where it is larger than
    the picture. leading: tokens before the patches that have positions. registers: tokens behind
    those, without. input: how a picture is prepared; None: no file says it.
    """

    channels: int
    patch: tuple[int, int]
    size: tuple[int, int]
    positions: tuple[int, int]
    antialias: bool
    leading: int
    registers: int
    input: PictureInput | None

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return self.size[0] // self.patch[0], self.size[1] // self.patch[1]

    @property
    def tokens(self) -> int:
        return self.leading + self.registers + self.grid[0] * self.grid[1]

    def rows(self, pixels: Floats) -> Floats:
        """Return the patches of pictures (n, channels, height, width): (n, tokens, columns), with
        zeros for tokens that are no patches. Pixels beyond the last whole patch are left out.
        """
        (high, wide), (height, width) = self.grid, self.patch
        whole = pixels[..., : high * height, : wide * width]
        split = whole.reshape(-1, self.channels, high, height, wide, width)
        rows = np.zeros((len(pixels), self.tokens, self.columns), np.float32)
        patches = split.transpose(0, 2, 4, 1, 3, 5).reshape(len(pixels), high * wide, self.columns)
        rows[:, self.leading + self.registers :] = patches
        return rows

    @property
    def columns(self) -> int:
        """Numbers of a patch."""
        return self.channels * self.patch[0] * self.patch[1]


@dataclass(frozen=True)
class SpanConfig:
    """Settings of GLiNER.

    hidden: width behind the encoder. lstm_layers: layers over words, in both directions.
    max_width: the most words of a span; max_words: the most of a text.
    marker, separator: tokens before each label and after all of them. marker_id: in the vocabulary;
        None if the tokenizer defines it. reads_marker: the vector of a label is its marker's,
        otherwise the vector of the token behind it. by_token: words are scored instead of spans.
    """

    hidden: int
    lstm_layers: int
    max_width: int
    max_words: int
    marker: str
    separator: str
    marker_id: int | None
    reads_marker: bool
    by_token: bool


@dataclass(frozen=True)
class TaskConfig:
    """Settings of a head.

    kind: one of KINDS, or "" for an encoder without a head.
    labels: in the order of the logits; None where config.json says nothing about them.
    problem_type: one of PROBLEM_TYPES or None.
    pair_activation: for cross-encoders, "sigmoid" or "none"; None if config.json does not say.
    tied: the decoder of a masked language model is the table of word embeddings.
    pooling: for ModernBERT's classifiers, "cls" or "mean".
    score_tokens: for decoders that rerank, the token whose logit is the score, and the one whose
        logit is subtracted, if there is one. Empty: the decoder is not a reranker.
    columns: width of the projection of each token in ColBERT's first layout; 0 in all others.
    spans: settings of GLiNER.
    """

    architectures: tuple[str, ...] = ()
    kind: str = ""
    labels: tuple[str, ...] | None = None
    problem_type: str | None = None
    pair_activation: str | None = None
    tied: bool = True
    pooling: str = "cls"
    score_tokens: tuple[int, ...] = ()
    columns: int = 0
    spans: SpanConfig | None = None


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """The settings of a network; the defaults are BERT's.

    model_type: the name of the family in config.json.
    embedding_size: columns of the embedding tables.
    num_layers: layers that run one after the other, whether or not they share weights.
    kv_heads: heads of keys and values, shared by num_heads / kv_heads heads of queries each.
    head_dim: columns of one head of queries, keys or values.
    intermediate_size: columns between the two halves of a feed-forward layer.
    max_positions: rows of the position table, or places for which rotations are made.
    num_token_types: kinds of segments that a token can belong to; 1 where there are none.
    activation: its name in the graph.
    norm_eps: the number that norms add to the variance.
    pad_token_id: the token that positions skip; None where they count every token.

    layouts: the names of its tensors; the first that fits the checkpoint is taken.
    shared: which layers share weights; None: each has its own.
    rms: norms divide by the root mean square, and neither subtract a mean nor add a bias.
    norm_adds_one: norms multiply by 1 + weight.
    place: of norms: "before" or "after" each half of a layer, or "around" it, which is both.
    first_attention_norm: whether the first layer has a norm before attention; if not, the norm of
        the embeddings serves.
    causal: a token does not see later tokens. windows: how far each layer sees; None: everywhere.
    rotations: one a layer. alibi: scores fall with the distance, in each head at another rate
        (Press et al., 2021, arXiv:2108.12409). buckets: for distances, each with a bias of scores.
    relative: embeddings of distances, which queries and keys multiply.
    convolution: in parallel to the first layer.
    scale: factor of the scores; None: 1 / sqrt(head_dim). softcap: bound of the scores, or None.
    mixture: the layers whose feed-forward part is a mixture of experts; None: there are none.
    gated: the feed-forward part has a gate, to which the activation is applied.
    embedding_scale: factor of word embeddings.
    projected: columns of a projection of the last hidden states; 0: there is none.
    quantization: how the weights of the checkpoint are quantized; None: they are floats.
    picture: what a tower for pictures reads; None: the network reads token ids.
    image: the tower for pictures beside this one, with a vector space in common. scope: what the
        names of the tensors of such a tower begin with in saved models.
    pooling: of hidden states to a vector, if modules.json does not say it. vector_size: columns of
        the projection that follows; 0: there is none.
    activation_factor: of the input of the activation, by which its output is divided.
    end_token: sequences end at the first one; -1: at the first of the largest ids.
    filler: the token that fills up sequences to the maximum length.
    biases: fields of a layer whose linear layers have one, and "norm" where layer norms have one;
        for heads that may lack them, "dense" and "decoder".
    """

    model_type: str
    vocab_size: int
    hidden_size: int
    embedding_size: int
    num_layers: int
    num_heads: int
    kv_heads: int
    head_dim: int
    intermediate_size: int
    max_positions: int
    num_token_types: int
    activation: str
    norm_eps: float
    pad_token_id: int | None
    tasks: TaskConfig

    layouts: tuple[Names, ...] = (Names(),)
    shared: SharedLayers | None = None
    rms: bool = False
    norm_adds_one: bool = False
    place: str = "after"
    first_attention_norm: bool = True
    causal: bool = False
    windows: tuple[int | None, ...] = ()
    rotations: tuple[Rotation, ...] = ()
    alibi: bool = False
    buckets: Buckets | None = None
    relative: Relative | None = None
    convolution: Convolution | None = None
    scale: float | None = None
    softcap: float | None = None
    mixture: Mixture | None = None
    gated: bool = False
    embedding_scale: float = 1.0
    projected: int = 0
    quantization: Quantization | None = None
    picture: PictureConfig | None = None
    image: EncoderConfig | None = None
    scope: str = ""
    pooling: str = "mean"
    vector_size: int = 0
    activation_factor: float = 1.0
    end_token: int | None = None
    filler: int | None = None
    biases: frozenset[str] = field(default=BIASES)

    @property
    def max_length(self) -> int:
        """Tokens of the longest sequence that has a position for each."""
        unused = 0 if self.pad_token_id is None else self.pad_token_id + 1
        return self.max_positions - unused

    @property
    def output_size(self) -> int:
        """Columns of the last hidden states."""
        return self.projected or self.hidden_size

    @property
    def dimension(self) -> int:
        """Columns of the vector of a text or a picture."""
        return self.vector_size or self.output_size

    def arranged(self, ids: Indices) -> Indices:
        """Return the tokens that the network takes for those of a text."""
        if self.end_token is not None and ids.size:
            found = ids == (ids.max() if self.end_token < 0 else self.end_token)
            # Without an end, the code of CLIP takes the state of the first token.
            ids = ids[: int(found.argmax()) + 1]
        if self.filler is not None:
            ids = np.pad(ids, (0, self.max_length - ids.size), constant_values=self.filler)
        return ids

    @property
    def long_from(self) -> int | None:
        """The length beyond which sequences are rotated differently; None if none are."""
        return next((r.long_from for r in self.rotations if r.long_from is not None), None)


@dataclass(frozen=True)
class Family:
    """The description of a family; families/ has them all.

    read_config: reads and checks its settings; raises ModelError.
    heads: names of the tensors of its heads, by KINDS.
    positions: values allowed for position_embedding_type, the default first.
    """

    model_type: str
    read_config: Callable[[Settings], EncoderConfig]
    heads: Mapping[str, HeadNames]
    positions: tuple[str, ...] = ("absolute",)


def read_common(
    settings: Settings,
    *,
    keys: Mapping[str, str] | None = None,
    activations: Sequence[str] = tuple(ACTIVATIONS),
    activation: str | None = None,
    eps: float = 1e-12,
    own_heads: bool = True,
    max_positions: int | None = None,
) -> dict[str, Any]:
    """Return the members of EncoderConfig that all families read alike; raises ModelError.

    keys: names in config.json, where they differ from BERT's. activations: those that the family
    supports; activation (else the first of them), eps, max_positions: defaults if config.json
    says nothing. own_heads: it may set the size of heads and how many have keys and values; else
    heads divide the hidden size.
    """
    renamed = keys or {}

    def key(name: str) -> str:
        return renamed.get(name, name)

    hidden_size = settings.size(key("hidden_size"))
    heads, layers = (settings.size(key(k)) for k in ("num_attention_heads", "num_hidden_layers"))
    head_dim, kv_heads = None, heads
    if own_heads and settings.get(key("head_dim")) is not None:
        head_dim = settings.size(key("head_dim"))
    elif hidden_size % heads:
        divisor = f"a divisor of {key('hidden_size')}, {hidden_size}"
        raise settings.error(key("num_attention_heads"), divisor)
    if own_heads and settings.get("num_key_value_heads") is not None:
        kv_heads = settings.size("num_key_value_heads")
    if heads % kv_heads:
        divisor = f"a divisor of the number of heads, {heads}"
        raise settings.error("num_key_value_heads", divisor)
    if layers > MAX_LAYERS:
        raise settings.error(key("num_hidden_layers"), f"at most {MAX_LAYERS}")
    positions = settings.size(key("max_position_embeddings"), max_positions)
    if positions > MAX_ROTATIONS:
        raise settings.error(key("max_position_embeddings"), f"at most {MAX_ROTATIONS}")
    _require_same(settings, renamed)
    default = activations[0] if activation is None else activation
    chosen = settings.choice(key("hidden_act"), tuple(activations), default=default)
    return {
        "model_type": settings.get("model_type"),
        "vocab_size": settings.size("vocab_size"),
        "hidden_size": hidden_size,
        "embedding_size": hidden_size,
        "num_layers": layers,
        "num_heads": heads,
        "kv_heads": kv_heads,
        "head_dim": head_dim or hidden_size // heads,
        "intermediate_size": settings.size(key("intermediate_size")),
        "max_positions": positions,
        "num_token_types": 1,
        "activation": GATES[chosen],
        "norm_eps": settings.number(key("layer_norm_eps"), default=eps),
        "pad_token_id": None,
        "tasks": read_task_config(settings),
    }


def _require_same(settings: Settings, renamed: Mapping[str, str]) -> None:
    """Raise ModelError if a setting has two names, both of which transformers takes, and values."""
    for name, own in renamed.items():
        if settings.get(name) not in (None, settings.get(own)):
            raise settings.error(name, f"{own}, {settings.get(own)!r}")


def read_token_types(
    settings: Settings, layouts: Sequence[Names], default: int = 1
) -> dict[str, Any]:
    """Return the kinds of segments and the names of tensors, with no table if there are no
    kinds; raises ModelError.
    """
    types = settings.size("type_vocab_size", default=default, at_least=0)
    if types == 0:
        layouts = [replace(names, token_type=None) for names in layouts]
    return {"num_token_types": max(types, 1), "layouts": tuple(layouts)}


def read_biases(settings: Settings, **fields: frozenset[str]) -> frozenset[str]:
    """Return the fields that have biases: all that keys of config.json switch on."""
    return frozenset().union(*(names for key, names in fields.items() if settings.flag(key)))


def require_even_heads(settings: Settings, common: Mapping[str, Any]) -> None:
    """Raise ModelError if heads cannot be rotated."""
    if common["head_dim"] % 2:
        raise settings.error("num_attention_heads", "such that the heads have an even size")


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


def read_task_config(settings: Settings) -> TaskConfig:
    """Read the settings of a head in config.json; raises ModelError."""
    architectures = settings.get("architectures") or []
    if not isinstance(architectures, list) or not all(isinstance(a, str) for a in architectures):
        raise settings.error("architectures", "a list of names")
    kind = _kind(architectures)
    settings.choice("classifier_activation", ("gelu",), default="gelu")  # for ModernBERT
    problem_type = None
    if kind == "ForSequenceClassification" and settings.get("problem_type") is not None:
        problem_type = settings.choice("problem_type", PROBLEM_TYPES)
    return TaskConfig(
        tuple(architectures),
        kind,
        _labels(settings) if kind in LABELLED else None,
        problem_type,
        read_pair_activation(settings, nested="sentence_transformers"),
        settings.flag("tie_word_embeddings", default=True),
        settings.choice("classifier_pooling", ("cls", "mean"), default="cls"),
    )


def _kind(architectures: list[str]) -> str:
    for name in architectures:
        for ending, kind in ENDINGS.items():
            if name.endswith(ending) and name != "ElectraForPreTraining":
                return kind
    return ""


def _labels(settings: Settings) -> tuple[str, ...] | None:
    """Return the labels by number; without a map, LABEL_0 and so on, as transformers does."""
    names, count = settings.get("id2label"), None
    if settings.get("num_labels") is not None:
        count = settings.size("num_labels")
        if count > MAX_LABELS:
            raise settings.error("num_labels", f"at most {MAX_LABELS}")
    if names is None:
        return None if count is None else default_labels(count)
    if not isinstance(names, dict) or not names:
        raise settings.error("id2label", "an object that names the label of each number")
    try:
        labels = tuple(names[str(n)] for n in range(len(names)))
    except KeyError as error:
        raise settings.error("id2label", f"an object with a label for {error}") from None
    if not all(isinstance(label, str) for label in labels):
        raise settings.error("id2label", "an object whose values are strings")
    if count not in (None, len(labels)):
        raise settings.error("num_labels", f"the number of labels in id2label, {len(labels)}")
    return labels


def default_labels(count: int) -> tuple[str, ...]:
    return tuple(f"LABEL_{n}" for n in range(count))


def read_pair_activation(settings: Settings, *, nested: str = "") -> str | None:
    """Return the activation that sentence-transformers wrote for a cross-encoder, or None.

    nested: the key of the object that may hold it; "": the settings themselves do.
    """
    key = nested or "activation_fn"
    name = settings.get(key)
    if nested:
        name = name.get("activation_fn") if isinstance(name, dict) else None
    if name is None and nested:
        key = "sbert_ce_default_activation_function"  # before version 4
        name = settings.get(key)
    if name is None:
        return None
    activation = PAIR_ACTIVATIONS.get(name.rpartition(".")[2]) if isinstance(name, str) else None
    if activation is None:
        raise settings.error(key, "one of the activations " + ", ".join(PAIR_ACTIVATIONS))
    return activation
