"""The results of tasks: dictionaries with the keys that the pipelines of transformers use."""

from __future__ import annotations

from typing import TypedDict


class LabelScore(TypedDict):
    """A result of `classify`: a label of config.json and its score."""

    label: str
    score: float


class _RankedDocument(TypedDict):
    corpus_id: int
    score: float


class RankedDocument(_RankedDocument, total=False):
    """A result of `rerank`: the place of a document in the list, its score, its text on request."""

    text: str


class TokenEntity(TypedDict):
    """A result of `ner` with aggregation_strategy="none": a token with its label.

    index: its place in the sequence of tokens. start, end: its characters, text[start:end].
    """

    entity: str
    score: float
    index: int
    word: str
    start: int
    end: int


class Entity(TypedDict):
    """A result of `ner`: an entity of one or more tokens, at text[start:end]."""

    entity_group: str
    score: float
    word: str
    start: int
    end: int


class Answer(TypedDict):
    """A result of `answer`: the text at context[start:end]."""

    answer: str
    score: float
    start: int
    end: int


class FilledMask(TypedDict):
    """A result of `fill_mask`: a token for the mask.

    token, token_str: its number and its text. sequence: the text with this token filled in.
    """

    score: float
    token: int
    token_str: str
    sequence: str


class ImageZeroShotResult(TypedDict):
    """A result of `zero_shot_classify_image`: candidate labels, best first, and their scores."""

    labels: list[str]
    scores: list[float]


class ZeroShotResult(TypedDict):
    """A result of `zero_shot_classify`: a text with its candidate labels, best first.

    scores: the scores of the labels, in the same order.
    """

    sequence: str
    labels: list[str]
    scores: list[float]
