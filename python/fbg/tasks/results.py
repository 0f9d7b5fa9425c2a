"""What tasks return: dictionaries with the keys that the pipelines of transformers use."""

from __future__ import annotations

from typing import TypedDict


class LabelScore(TypedDict):
    """Of `classify`: a label of config.json and its score."""

    label: str
    score: float


class _RankedDocument(TypedDict):
    corpus_id: int
    score: float


class RankedDocument(_RankedDocument, total=False):
    """Of `rerank`: the place of a document in the list, its score, and its text if asked for."""

    text: str


class TokenEntity(TypedDict):
    """Of `ner` with aggregation_strategy="none": a token with its label.

    index: its place in the sequence of tokens. start, end: its characters, text[start:end].
    """

    entity: str
    score: float
    index: int
    word: str
    start: int
    end: int


class Entity(TypedDict):
    """Of `ner`: an entity of one or more tokens, at text[start:end]."""

    entity_group: str
    score: float
    word: str
    start: int
    end: int


class Answer(TypedDict):
    """Of `answer`: what was found at context[start:end]."""

    answer: str
    score: float
    start: int
    end: int


class FilledMask(TypedDict):
    """Of `fill_mask`: a token for the mask.

    token, token_str: its number and its text. sequence: the text with this token filled in.
    """

    score: float
    token: int
    token_str: str
    sequence: str


class ZeroShotResult(TypedDict):
    """Of `zero_shot_classify`: a text with the labels that it was offered, best first.

    scores: of the labels, in the same order.
    """

    sequence: str
    labels: list[str]
    scores: list[float]
