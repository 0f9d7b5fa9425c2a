"""The bodies of answers, as the OpenAPI document describes them."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

Vectors = list[list[float]]
OneOrMany = dict[str, Any] | list[dict[str, Any]]
Lists = list[OneOrMany]  # of objects, or of lists of them


class Weight(Struct):
    index: int
    value: float


class Hybrid(Struct):
    dense: list[float]
    sparse: list[Weight]
    multi: Vectors


class Chunk(Struct):
    start: int
    end: int
    embedding: list[float]


class Label(Struct):
    label: str
    score: float


class Token(Struct):
    id: int
    text: str
    special: bool
    start: int | None
    stop: int | None


class Ranked(Struct):
    index: int
    score: float
    text: str | UnsetType = UNSET


class Usage(Struct):
    prompt_tokens: int
    total_tokens: int


class Text(Struct):
    text: str


class Relevance(Struct):
    index: int
    relevance_score: float
    document: Text | UnsetType = UNSET


class Relevances(Struct):
    id: str
    model: str
    results: list[Relevance]
    usage: Usage
    meta: dict[str, Any]


class Embedded(Struct):
    id: str
    embeddings: Vectors | dict[str, list[list[float] | str]]
    texts: list[str]
    meta: dict[str, Any]
    response_type: Literal["embeddings_floats", "embeddings_by_type"]


class IndexedEmbedding(Struct):
    object: Literal["embedding"]
    index: int
    embedding: list[float] | str  # base64


class Embeddings(Struct):
    object: Literal["list"]
    data: list[IndexedEmbedding]
    model: str
    usage: Usage


class ModelCard(Struct):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    loaded: bool | UnsetType = UNSET


class ModelCards(Struct):
    object: Literal["list"]
    data: list[ModelCard]


class Tensor(Struct):
    name: str
    datatype: str
    shape: list[int]
    data: list[bool | float]


class Inferred(Struct):
    model_name: str
    outputs: list[Tensor]
    id: str | UnsetType = UNSET


# --- Errors, by dialect ---------------------------------------------------------------------------


class TeiError(Struct):
    error: str
    error_type: str


class OpenAIFault(Struct):
    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(Struct):
    error: OpenAIFault


class CohereError(Struct):
    message: str
