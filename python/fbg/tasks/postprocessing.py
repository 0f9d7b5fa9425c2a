"""From logits to answers: labels, entities, spans. Pure functions of the logits of one text.

One text at a time, in float64: what a text gets cannot depend on others. The results are those of
the pipelines of Hugging Face transformers, whose names they carry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "AGGREGATIONS",
    "NO_ANSWER",
    "Span",
    "Token",
    "aggregate",
    "at_least",
    "best_spans",
    "group_entities",
    "label_scores",
    "merge_answers",
    "sigmoid",
    "softmax",
    "top_k",
    "whole_words",
    "windows",
    "words_of",
]

Values = npt.NDArray[np.float64]
Label = dict[str, Any]
Entity = dict[str, Any]
Answer = dict[str, Any]

NO_ANSWER: Answer = {"answer": "", "score": 0.0, "start": 0, "end": 0}

AGGREGATIONS = ("none", "simple", "first", "average", "max")


# --- Scores -----------------------------------------------------------------------------------


def softmax(logits: npt.ArrayLike) -> Values:
    """exp(x) / Σ exp(x) along the last axis."""
    x = np.asarray(logits, np.float64)
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def sigmoid(logits: npt.ArrayLike) -> Values:
    """1 / (1 + exp(-x)), by way of tanh, which cannot overflow."""
    x = np.asarray(logits, np.float64)
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


def top_k(scores: npt.ArrayLike, k: int | None) -> npt.NDArray[np.intp]:
    """The places of the k largest scores, best first; the first of equals. None: of all."""
    values = np.asarray(scores, np.float64)
    k = values.size if k is None else min(k, values.size)
    if 0 < k < values.size:
        # All that reach the k-th: sorting them is little, and keeps the order of equals.
        least = np.partition(values, values.size - k)[values.size - k]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(values.size)
    return places[np.argsort(-values[places], kind="stable")][:k]


def at_least(results: Sequence[dict[str, Any]], threshold: float | None) -> list[dict[str, Any]]:
    """Those with a score of `threshold` or more."""
    return [r for r in results if threshold is None or r["score"] >= threshold]


def label_scores(scores: npt.ArrayLike, labels: Sequence[str], k: int | None) -> list[Label]:
    """The k labels with the largest scores, best first."""
    values = np.asarray(scores, np.float64)
    return [{"label": labels[n], "score": float(values[n])} for n in top_k(values, k)]


# --- Entities ---------------------------------------------------------------------------------


class Token(NamedTuple):
    """A token of a text, special ones excluded."""

    scores: Values  # (labels,)
    place: int  # in the sequence
    word: str
    start: int  # in characters
    end: int
    inside: bool  # continues the word of the token before it


def words_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens of each word."""
    words: list[list[Token]] = []
    for token in tokens:
        if words and token.inside:
            words[-1].append(token)
        else:
            words.append([token])
    return words


def aggregate(
    tokens: Sequence[Token],
    labels: Sequence[str],
    strategy: str,
    join: Callable[[Sequence[str]], str],
) -> list[Entity]:
    """The label of every token, or of every word with "first", "average" and "max".

    "first": that of the word's first token. "average": of the mean of its tokens' scores. "max": of
    the token that is surest. join: the text of tokens.
    """
    entities = []
    if strategy in ("none", "simple"):
        for token in tokens:
            best = int(token.scores.argmax())
            entities.append(
                {
                    "entity": labels[best],
                    "score": float(token.scores[best]),
                    "index": token.place,
                    "word": token.word,
                    "start": token.start,
                    "end": token.end,
                }
            )
        return entities
    for word in words_of(tokens):
        if strategy == "first":
            scores = word[0].scores
        elif strategy == "average":
            scores = np.mean([token.scores for token in word], axis=0)
        else:
            scores = max(word, key=lambda token: float(token.scores.max())).scores
        best = int(scores.argmax())
        entities.append(
            {
                "entity": labels[best],
                "score": float(scores[best]),
                "word": join([token.word for token in word]),
                "start": word[0].start,
                "end": word[-1].end,
            }
        )
    return entities


def group_entities(
    entities: Sequence[Entity], join: Callable[[Sequence[str]], str]
) -> list[Entity]:
    """Neighbours of one kind become one entity, whose score is their mean.

    "B-" begins an entity; "I-", or no such letter, continues one of the same kind.
    """
    groups: list[list[Entity]] = []
    for entity in entities:
        begins = entity["entity"].startswith("B-")
        if groups and not begins and _kind(entity) == _kind(groups[-1][-1]):
            groups[-1].append(entity)
        else:
            groups.append([entity])
    return [
        {
            # Of a label with a hyphen elsewhere too, what follows the first.
            "entity_group": group[0]["entity"].split("-", 1)[-1],
            "score": float(np.mean([entity["score"] for entity in group])),
            "word": join([entity["word"] for entity in group]),
            "start": group[0]["start"],
            "end": group[-1]["end"],
        }
        for group in groups
    ]


def _kind(entity: Entity) -> str:
    label: str = entity["entity"]
    return label[2:] if label.startswith(("B-", "I-")) else label


# --- Spans ------------------------------------------------------------------------------------


def windows(length: int, size: int, stride: int) -> list[tuple[int, int]]:
    """Windows of at most `size` that cover [0, length); neighbours share `stride`."""
    result, start = [(0, min(size, length))], 0
    while result[-1][1] < length:
        start += size - stride
        result.append((start, min(start + size, length)))
    return result


class Span(NamedTuple):
    """Tokens `start` to `end`, both included."""

    start: int
    end: int
    score: float


def best_spans(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    allowed: npt.NDArray[np.bool_],
    k: int,
    max_length: int,
) -> tuple[list[Span], float]:
    """The k likeliest spans of at most `max_length` tokens, best first, and the score of none.

    start, end: logits of every token. Token 0 stands for "no answer": it takes part in the
        probabilities, never in a span.
    allowed: tokens that may be part of a span.
    """
    possible = allowed.copy()
    possible[0] = True
    first, last = (
        softmax(np.where(possible, np.asarray(x, np.float64), -np.inf)) for x in (start, end)
    )
    nothing = float(first[0] * last[0])
    first, last = np.where(allowed, first, 0), np.where(allowed, last, 0)
    first[0] = last[0] = 0
    # scores[s, n]: of the span of n + 1 tokens from s on; it ends at s + n, perhaps outside.
    count = min(max_length, first.size)
    ends = np.arange(first.size)[:, None] + np.arange(count)
    inside = ends < first.size
    ends = np.minimum(ends, first.size - 1)
    scores = np.where(inside, first[:, None] * last[ends], 0)
    valid = inside & allowed[:, None] & allowed[ends]
    valid[0] = False
    scores[~valid] = -1
    spans = []
    for place in top_k(scores.reshape(-1), k):
        s, n = divmod(int(place), count)
        if valid[s, n]:
            spans.append(Span(s, s + n, float(scores[s, n])))
    return spans, nothing


def whole_words(
    span: Span, offsets: npt.NDArray[np.int32], words: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """From and to in characters of a span, extended to whole words.

    offsets, words: as in EncodedText, of tokens of one text only.
    """
    begin, end = span.start, span.end
    if words[begin] >= 0 and words[end] >= 0:
        while begin > 0 and words[begin - 1] == words[begin]:
            begin -= 1
        while end + 1 < words.size and words[end + 1] == words[end]:
            end += 1
    return int(offsets[begin, 0]), int(offsets[end, 1])


def merge_answers(answers: Sequence[Answer], k: int, nothing: float | None = None) -> list[Answer]:
    """The k best of answers that are different texts; scores of the same text add up.

    nothing: the score of having no answer, if that is one.
    """
    merged: dict[str, Answer] = {}
    for answer in answers:
        same = merged.setdefault(answer["answer"].lower(), {**answer, "score": 0.0})
        same["score"] += answer["score"]
    candidates = list(merged.values())
    if nothing is not None:
        candidates.append(NO_ANSWER | {"score": nothing})
    return sorted(candidates, key=lambda answer: -float(answer["score"]))[:k]
