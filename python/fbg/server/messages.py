"""The bodies of requests, as msgspec checks them: types, unions, required fields.

Unknown fields are ignored, as TEI and OpenAI do. `model`, which TEI does not have, chooses among
several models.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = [
    "Answers",
    "Classification",
    "Decoding",
    "Embedding",
    "Entities",
    "Input",
    "MaskFilling",
    "OpenAIEmbedding",
    "Reranking",
    "RetrievalEmbedding",
    "Similarity",
    "TokenEmbedding",
    "Tokenization",
    "ZeroShot",
]

# A text, a list of texts, token ids, or a list of them: of one kind, which inputs.py checks.
Input = str | list[str | int | list[int]]


class Message(msgspec.Struct, kw_only=True):
    """model: the name of one of the models that are served; None: the first that has the task."""

    model: str | None = None


# --- OpenAI ---------------------------------------------------------------------------------------


class OpenAIEmbedding(Message, kw_only=True):
    """`POST /v1/embeddings`."""

    input: Input
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


# --- text-embeddings-inference --------------------------------------------------------------------


class Truncating(Message, kw_only=True):
    """truncate: False makes a text that is too long an error; None and True cut it."""

    truncate: bool | None = None
    truncation_direction: Literal["Left", "Right", "left", "right"] = "Right"


class Embedding(Truncating, kw_only=True):
    """`POST /embed`."""

    inputs: Input
    normalize: bool = True
    prompt_name: str | None = None
    dimensions: int | None = None


class TokenEmbedding(Truncating, kw_only=True):
    """`POST /embed_all`."""

    inputs: Input
    prompt_name: str | None = None


class RetrievalEmbedding(TokenEmbedding, kw_only=True):
    """`POST /embed_sparse` and `/embed_multi`. kind: some models embed queries in another way."""

    kind: Literal["query", "document"] = "document"


class Classification(Truncating, kw_only=True):
    """`POST /predict`: a text, a pair of texts, or a list of lists of one or two texts."""

    inputs: str | list[str | list[str]]
    raw_scores: bool = False


class Similarity(Message, kw_only=True):
    """`POST /similarity`."""

    class Inputs(msgspec.Struct):
        source_sentence: str
        sentences: list[str]

    class Parameters(msgspec.Struct):
        truncate: bool | None = None
        prompt_name: str | None = None

    inputs: Inputs
    parameters: Parameters | None = None


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


class Document(msgspec.Struct):
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


# --- Tasks with the messages of the pipelines of transformers -------------------------------------


class Entities(Message, kw_only=True):
    """`POST /ner`."""

    class Parameters(msgspec.Struct):
        aggregation_strategy: Literal["none", "simple", "first", "average", "max"] | None = None
        ignore_labels: list[str] | None = None
        stride: int | None = None

    inputs: str | list[str]
    parameters: Parameters | None = None


class Answers(Message, kw_only=True):
    """`POST /answer`."""

    class Inputs(msgspec.Struct):
        question: str
        context: str

    class Parameters(msgspec.Struct):
        top_k: int | None = None
        max_answer_len: int | None = None
        max_seq_len: int | None = None
        doc_stride: int | None = None
        handle_impossible_answer: bool | None = None

    inputs: Inputs
    parameters: Parameters | None = None


class ZeroShot(Message, kw_only=True):
    """`POST /zero_shot`."""

    class Parameters(msgspec.Struct):
        candidate_labels: list[str]
        hypothesis_template: str | None = None
        multi_label: bool | None = None

    inputs: str | list[str]
    parameters: Parameters


class MaskFilling(Message, kw_only=True):
    """`POST /fill_mask`."""

    class Parameters(msgspec.Struct):
        top_k: int | None = None
        targets: list[str] | None = None

    inputs: str | list[str]
    parameters: Parameters | None = None


def given(parameters: msgspec.Struct | None) -> dict[str, Any]:
    """Return the parameters that a request names."""
    if parameters is None:
        return {}
    return {
        name: value
        for name, value in msgspec.structs.asdict(parameters).items()
        if value is not None
    }
