"""Makes entities from scores of tokens, as the token-classification pipeline of transformers does.

Pure functions of one text: tokens ─► one label for each token or word ─► groups of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fbg.tasks.results import Entity, TokenEntity

Values = npt.NDArray[np.float64]
Join = Callable[[Sequence[str]], str]  # makes the text of tokens

AGGREGATIONS = ("none", "simple", "first", "average", "max")


class Token(NamedTuple):
    """A token of a text, special ones excluded."""

    scores: Values  # (labels,)
    place: int  # in the sequence
    word: str
    start: int  # in characters
    end: int
    inside: bool  # continues the word of the token before it


class LabelledWord(NamedTuple):
    """A token or a word with the one label that it got."""

    label: str
    score: float
    word: str
    start: int
    end: int


def words_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens of each word."""
    words: list[list[Token]] = []
    for token in tokens:
        if words and token.inside:
            words[-1].append(token)
        else:
            words.append([token])
    return words


def label_tokens(tokens: Sequence[Token], labels: Sequence[str]) -> list[TokenEntity]:
    """Return every token by itself, with its most likely label."""
    return [
        {
            "entity": labels[int(token.scores.argmax())],
            "score": float(token.scores.max()),
            "index": token.place,
            "word": token.word,
            "start": token.start,
            "end": token.end,
        }
        for token in tokens
    ]


def label_words(
    tokens: Sequence[Token], labels: Sequence[str], strategy: str, join: Join
) -> list[LabelledWord]:
    """Return the units with labels: tokens with the strategy "simple", else whole words.

    "first": by the word's first token. "average": by the mean of its tokens' scores. "max": by the
    token that is surest.
    """
    result = []
    for word in [[token] for token in tokens] if strategy == "simple" else words_of(tokens):
        if strategy == "average":
            scores = np.mean([token.scores for token in word], axis=0)
        elif strategy == "max":
            scores = max(word, key=lambda token: float(token.scores.max())).scores
        else:
            scores = word[0].scores
        text = word[0].word if strategy == "simple" else join([token.word for token in word])
        best = int(scores.argmax())
        result.append(
            LabelledWord(labels[best], float(scores[best]), text, word[0].start, word[-1].end)
        )
    return result


def group_entities(words: Sequence[LabelledWord], join: Join) -> list[Entity]:
    """Make one entity of neighbours of one kind; its score is their mean score.

    "B-" begins an entity; "I-", or no such letter, continues one of the same kind.
    """
    groups: list[list[LabelledWord]] = []
    for word in words:
        begins = word.label.startswith("B-")
        if groups and not begins and _kind(word) == _kind(groups[-1][-1]):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [
        {
            # Take the part after the first hyphen, as a label may contain others.
            "entity_group": group[0].label.split("-", 1)[-1],
            "score": float(np.mean([word.score for word in group])),
            "word": join([word.word for word in group]),
            "start": group[0].start,
            "end": group[-1].end,
        }
        for group in groups
    ]


def _kind(word: LabelledWord) -> str:
    return word.label[2:] if word.label.startswith(("B-", "I-")) else word.label


def merge_overlapping(entities: Iterable[Entity]) -> list[Entity]:
    """Return the entities of overlapping windows, each stretch of text once.

    Of two overlapping entities, the longer one stays, and of two of equal length the surer one.
    """
    merged: list[Entity] = []
    for entity in sorted(entities, key=lambda entity: entity["start"]):
        if not merged or not merged[-1]["start"] <= entity["start"] < merged[-1]["end"]:
            merged.append(entity)
        elif _weight(entity) > _weight(merged[-1]):
            merged[-1] = entity
    return merged


def _weight(entity: Entity) -> tuple[int, float]:
    return entity["end"] - entity["start"], entity["score"]
