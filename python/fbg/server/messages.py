"""The bodies of requests, as msgspec checks them: types, unions, required fields, no unknown ones.

A key that is mistyped, or that would change the answer elsewhere, is refused. Those that an API
documents and that have no effect here are declared as `Ignored`. `model`, which TEI does not have,
chooses among several models.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

import msgspec

# A text, a list of texts, token ids, or a list of them: inputs.py checks that all are of one kind.
Input = str | list[str | int | list[int]]


MOST_AXES = 64  # of a tensor, as in NumPy

Direction = Literal["Left", "Right", "left", "right"]

# A key that an API has, and that is accepted without any effect.
Ignored = Annotated[Any, msgspec.Meta(description="ignored")]


class Part(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An object in a message."""


class Message(Part, kw_only=True):
    """model: the name of one of the models that are served; None: the first that has the task."""

    model: str | None = None

    @property
    def cuts(self) -> str | None:
        """Where long texts are cut, "left" or "right"; None: where the model cuts them."""
        side = getattr(self, "truncation_direction", None)
        return None if side is None else side.lower()


# --- OpenAI ---------------------------------------------------------------------------------------


class Modality(Part, kw_only=True):
    """An item of an input in Jina's form: a text, or a picture as a data URI or in base64."""

    text: str | None = None
    image: str | None = None


class OpenAIEmbedding(Message, kw_only=True):
    """`POST /v1/embeddings`."""

    input: str | list[str | int | list[int] | Modality]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: Ignored = None


# --- text-embeddings-inference --------------------------------------------------------------------


class HubMessage(Message, kw_only=True):
    """options: of the clients of Hugging Face, whether to wait for a model and to use a cache."""

    options: Ignored = None


class Cutting(HubMessage, kw_only=True):
    """truncate: False makes a text that is too long an error; None and True cut it."""

    truncate: bool | None = None


class Truncating(Cutting, kw_only=True):
    """truncation_direction: where texts are cut; None: where the model does."""

    truncation_direction: Direction | None = None


class Embedding(Truncating, kw_only=True):
    """`POST /embed`."""

    inputs: Input
    normalize: bool = True
    prompt_name: str | None = None
    dimensions: int | None = None
    encoding_format: Literal["float"] = "float"


class TokenEmbedding(Truncating, kw_only=True):
    """`POST /embed_all`."""

    inputs: Input
    prompt_name: str | None = None


class RetrievalEmbedding(TokenEmbedding, kw_only=True):
    """`POST /embed_sparse` and `/embed_multi`. kind: some models embed queries in another way."""

    kind: Literal["query", "document"] = "document"


class ChunkEmbedding(HubMessage, kw_only=True):
    """`POST /embed_chunks`. inputs: a document. spans: the first character of each chunk and the
    one after its last; without them, chunks have at most so many tokens."""

    inputs: str
    spans: list[tuple[int, int]] | None = None
    tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    normalize: bool = True
    prompt_name: str | None = None
    dimensions: int | None = None


class ImageEmbedding(HubMessage, kw_only=True):
    """`POST /embed_image`. inputs: pictures as data URIs or in base64."""

    inputs: str | list[str]
    normalize: bool = True


class ImageClassification(HubMessage, kw_only=True):
    """`POST /classify_image`. inputs: as above. candidate_labels: of models without labels."""

    class Parameters(Part):
        top_k: int | None = None
        candidate_labels: list[str] | None = None
        hypothesis_template: str | None = None

    inputs: str | list[str]
    parameters: Parameters | None = None


class Classification(Truncating, kw_only=True):
    """`POST /predict`: a text, a pair of texts, or a list of lists of one or two texts."""

    class Parameters(Part):
        top_k: int | None = None
        function_to_apply: Literal["sigmoid", "softmax", "none"] | None = None

    inputs: str | list[str | list[str]]
    raw_scores: bool = False
    parameters: Parameters | None = None


class AnyInputs(msgspec.Struct):
    """`POST /`: what it asks for shows in its inputs."""

    inputs: msgspec.Raw


class Similarity(HubMessage, kw_only=True):
    """`POST /similarity`."""

    class Inputs(Part):
        source_sentence: str
        sentences: list[str]

    class Parameters(Part):
        truncate: bool | None = None
        truncation_direction: Direction | None = None
        prompt_name: str | None = None

    inputs: Inputs
    parameters: Parameters | None = None

    @property
    def truncation_direction(self) -> Direction | None:
        """Where the request wants its texts cut."""
        return None if self.parameters is None else self.parameters.truncation_direction


class Tokenization(Message, kw_only=True):
    """`POST /tokenize`."""

    inputs: str | list[str]
    add_special_tokens: bool = True
    prompt_name: str | None = None


class Decoding(Message, kw_only=True):
    """`POST /decode`."""

    ids: list[int | list[int]]
    skip_special_tokens: bool = True


# --- Cohere, Jina, and TEI's form of reranking --------------------------------------------------


class CohereEmbedding(Message, kw_only=True):
    """`POST /v1/embed` and `/v2/embed`. input_type: chooses a prompt, if the model has one."""

    texts: list[str] | None = None
    images: list[str] | None = None
    input_type: (
        Literal["search_query", "search_document", "classification", "clustering", "image"] | None
    ) = None
    embedding_types: (
        Annotated[
            list[Literal["float", "base64", "binary", "ubinary"]],
            msgspec.Meta(min_length=1, max_length=4),
        ]
        | None
    ) = None
    truncate: Literal["NONE", "START", "END"] = "END"
    output_dimension: int | None = None
    max_tokens: Ignored = None
    priority: Ignored = None

    @property
    def truncation_direction(self) -> Direction | None:
        """Where the request wants its texts cut."""
        return "left" if self.truncate == "START" else None


class Document(msgspec.Struct):
    """A document may have other fields, which are the client's own."""

    text: str


class Reranking(Truncating, kw_only=True):
    """`POST /rerank`, `/v1/rerank`, `/v2/rerank`: `texts` makes it TEI's, `documents` Cohere's."""

    query: str
    texts: list[str] | None = None
    documents: list[str | Document] | None = None
    raw_scores: bool = False
    return_text: bool = False
    return_documents: bool = False
    top_n: int | None = None
    rank_fields: Ignored = None
    max_chunks_per_doc: Ignored = None
    max_tokens_per_doc: Ignored = None
    priority: Ignored = None


# --- Tasks with the messages of the pipelines of transformers -------------------------------------


class Entities(Cutting, kw_only=True):
    """`POST /ner`. labels, threshold: of GLiNER, which has no labels of its own."""

    class Parameters(Part):
        aggregation_strategy: Literal["none", "simple", "first", "average", "max"] | None = None
        ignore_labels: list[str] | None = None
        stride: int | None = None
        labels: list[str] | None = None
        threshold: float | None = None

    inputs: str | list[str]
    parameters: Parameters | None = None


class Answers(HubMessage, kw_only=True):
    """`POST /answer`."""

    class Inputs(Part):
        question: str
        context: str

    class Parameters(Part):
        top_k: int | None = None
        max_answer_len: int | None = None
        max_seq_len: int | None = None
        doc_stride: int | None = None
        handle_impossible_answer: bool | None = None
        align_to_words: Ignored = None
        max_question_len: Ignored = None

    inputs: Inputs
    parameters: Parameters | None = None


class ZeroShot(Cutting, kw_only=True):
    """`POST /zero_shot`."""

    class Parameters(Part):
        candidate_labels: list[str]
        hypothesis_template: str | None = None
        multi_label: bool | None = None

    inputs: str | list[str]
    parameters: Parameters


class MaskFilling(Cutting, kw_only=True):
    """`POST /fill_mask`."""

    class Parameters(Part):
        top_k: int | None = None
        targets: list[str] | None = None

    inputs: str | list[str]
    parameters: Parameters | None = None


# --- KServe ---------------------------------------------------------------------------------------


class Extension(msgspec.Struct):
    """Of tensors as bytes behind the JSON: of an input, an output, and all outputs. The protocol
    lets parameters have other keys, which mean nothing here."""

    binary_data_size: Annotated[int, msgspec.Meta(ge=0)] | None = None
    binary_data: bool | None = None
    binary_data_output: bool | None = None


Size = Annotated[int, msgspec.Meta(ge=0)]
# Read by the thread that runs the network.
Numbers = Annotated[msgspec.Raw, msgspec.Meta(extra_json_schema={"type": "array"})]


class Inference(Part):
    """`POST /v2/models/{name}/infer`. data: numbers in the order of the tensor, nested or not."""

    class Tensor(Part):
        name: str
        shape: Annotated[list[Size], msgspec.Meta(max_length=MOST_AXES)]
        datatype: str
        data: Numbers = msgspec.field(default_factory=msgspec.Raw)
        parameters: Extension | None = None

    class Wanted(Part):
        name: str
        parameters: Extension | None = None

    inputs: list[Tensor]
    outputs: list[Wanted] | None = None
    id: str | None = None
    parameters: Extension | None = None


def given(parameters: msgspec.Struct | None) -> dict[str, Any]:
    """Return the parameters that a request names."""
    if parameters is None:
        return {}
    ignored = _ignored(type(parameters))
    return {
        name: value
        for name, value in msgspec.structs.asdict(parameters).items()
        if value is not None and name not in ignored
    }


@cache
def _ignored(kind: type[msgspec.Struct]) -> frozenset[str]:
    fields = msgspec.structs.fields(kind)
    return frozenset(field.name for field in fields if field.type == Ignored)
