"""Makes answers from logits of tokens: likeliest spans, whole words, equal answers merged.

Pure functions of one question and its context, with the results of the question-answering pipeline
of transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fbg.tasks.results import Answer
from fbg.tasks.scores import softmax, top_k


class Span(NamedTuple):
    """The tokens `start` to `end`, both included."""

    start: int
    end: int
    score: float


def no_answer(score: float = 0.0) -> Answer:
    return {"answer": "", "score": score, "start": 0, "end": 0}


def best_spans(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    allowed: npt.NDArray[np.bool_],
    k: int,
    max_length: int,
) -> tuple[list[Span], float]:
    """Return the k likeliest spans of at most `max_length` tokens, and the score of none.

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
    """Return begin and end, in characters, of a span that is extended to whole words.

    offsets, words: as in EncodedText, for tokens of one text only.
    """
    begin, end = span.start, span.end
    if words[begin] >= 0 and words[end] >= 0:
        while begin > 0 and words[begin - 1] == words[begin]:
            begin -= 1
        while end + 1 < words.size and words[end + 1] == words[end]:
            end += 1
    return int(offsets[begin, 0]), int(offsets[end, 1])


def merge_answers(answers: Sequence[Answer], k: int, nothing: float | None = None) -> list[Answer]:
    """Return the k best answers with different texts; scores of the same text add up.

    nothing: the score of having no answer, if allowed.
    """
    merged: dict[str, Answer] = {}
    for answer in answers:
        same = merged.setdefault(answer["answer"].lower(), {**answer, "score": 0.0})
        same["score"] += answer["score"]
    candidates = list(merged.values())
    if nothing is not None:
        candidates.append(no_answer(nothing))
    return sorted(candidates, key=lambda answer: -answer["score"])[:k]
