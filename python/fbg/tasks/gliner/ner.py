"""Entities of labels that the caller names: `ner` of GLiNER."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from fbg.arrays import require_flag
from fbg.errors import ModelError
from fbg.runtime.steps import Request, Steps, copied
from fbg.tasks.context import TaskContext
from fbg.tasks.gliner.spans import best_spans, split_words
from fbg.tasks.inputs import require_count, require_texts, text_blocks
from fbg.tasks.results import Entity
from fbg.text.encoded_text import EncodedText

THRESHOLD = 0.5

Places = list[tuple[int, int]]  # words in a text


def require_defaults(strategy: object, ignored: object, stride: object) -> None:
    """Refuse options that only classifiers of tokens have."""
    for name, value, default in (
        ("aggregation_strategy", strategy, "simple"),
        ("ignore_labels", ignored, ("O",)),
        ("stride", stride, None),
    ):
        given = tuple(value) if isinstance(value, (list, tuple)) else value
        if type(given) is not type(default) or given != default:
            raise ValueError(f"ner: {name} must be {default!r} with GLiNER, got {value!r}")


def labelled_steps(
    context: TaskContext,
    texts: str | Iterable[str],
    labels: Iterable[str] | None,
    threshold: float | None,
    batch_size: int,
    truncation: bool,
) -> Steps[list[Entity] | list[list[Entity]]]:
    """Return the entities of each text, as `Model.ner` does."""
    chosen = _checked_labels(labels)
    limit = _checked_threshold(THRESHOLD if threshold is None else threshold)
    size, cut = (
        require_count("ner: batch_size", batch_size),
        require_flag(truncation, "ner: truncation"),
    )
    reader, results = _Reader(context, chosen, cut), []
    first = 0
    for block in text_blocks(require_texts("ner: texts", texts)):
        places, encoded = reader.encode(block, first)
        asked = [text for text, words in zip(encoded, places, strict=True) if words]
        ids = [text.ids for text in asked]
        work = Request(context.engines.tokens, ids, "ner", copied, size)
        states = iter((yield work) if asked else [])
        for text, one, words in zip(block, encoded, places, strict=True):
            results.append(reader.entities(text, one, words, next(states), limit) if words else [])
        first += len(block)
    return results[0] if isinstance(texts, str) else results


class _Reader:
    """Finds entities of the same labels in texts."""

    def __init__(self, context: TaskContext, labels: list[str], truncation: bool) -> None:
        spans, scorer = context.config.tasks.spans, context.span_scorer
        assert spans is not None and scorer is not None
        self._context, self._spans, self._labels = context, spans, labels
        self._scorer = scorer
        self._truncation = truncation
        for label in labels:
            for mark in (spans.marker, spans.separator):
                if mark in label:
                    raise ValueError(f"ner: labels must not hold {mark!r}, got {label!r:.200}")
        marked = [part for label in labels for part in (spans.marker, label)]
        self._prompt = [*marked, spans.separator]
        marker = context.tokenizer.token_id(spans.marker)
        if marker is None or spans.marker_id not in (None, marker):
            wanted = spans.marker if spans.marker_id is None else f"{spans.marker_id}"
            raise ModelError(
                f"{context.tokenizer.path}: must have the token {spans.marker} with the id "
                f"{wanted}, got {marker}"
            )
        self._marker = marker

    def encode(self, texts: Sequence[str], first: int) -> tuple[list[Places], list[EncodedText]]:
        """Return the positions of the words of each text, and the tokens of labels and words."""
        most, places = self._spans.max_words, []
        for n, text in enumerate(texts, first):
            words, more = split_words(text, most)
            if more:
                has = f"more than {most} words"
                self._context.cut(f"ner: texts[{n}]", has, most, self._truncation)
            places.append(words)
        parts = [
            [*self._prompt, *(text[begin:end] for begin, end in words)]
            for text, words in zip(texts, places, strict=True)
        ]
        where, cut = "ner: texts", self._truncation
        return places, self._context.tokenize(parts, where, first, cut, split=True)

    def entities(
        self,
        text: str,
        encoded: EncodedText,
        places: Places,
        states: np.ndarray,
        threshold: float,
    ) -> list[Entity]:
        assert encoded.words is not None
        count = len(self._labels)
        tokens = np.flatnonzero(encoded.ids == self._marker)[:count]
        words = encoded.words - len(self._prompt)
        new = np.diff(words, prepend=np.int32(-len(self._prompt) - 1)) != 0
        begins = np.flatnonzero(new & (words >= 0))
        if begins.size == 0 and tokens.size == count and encoded.length == encoded.ids.size:
            return []  # the tokenizer drops all characters of the text
        if tokens.size < count or begins.size == 0:  # labels alone are longer than the model
            raise ValueError(
                f"ner: labels leave no room for texts: the model takes "
                f"{self._context.tokenizer.max_length} tokens"
            )
        prompts = states[tokens if self._spans.reads_marker else tokens + 1]
        found = best_spans(
            list(self._scorer.above(prompts, states[begins], threshold, self._context.num_threads))
        )
        numbers = words[begins]
        entities: list[Entity] = []
        for score, one, last, label in found:
            start, end = places[int(numbers[one])][0], places[int(numbers[last])][1]
            entities.append(
                {
                    "entity_group": self._labels[label],
                    "score": score,
                    "word": text[start:end],
                    "start": start,
                    "end": end,
                }
            )
        return entities


def _checked_labels(labels: Iterable[str] | None) -> list[str]:
    if labels is None:
        raise ValueError("ner: labels must say what to find, got None")
    chosen = require_texts("ner: labels", labels)
    if not chosen or not all(label.strip() for label in chosen):
        raise ValueError(f"ner: labels must be texts that are not empty, got {chosen!r:.200}")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"ner: labels must differ, got {chosen!r:.200}")
    return chosen


def _checked_threshold(threshold: object) -> float:
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.floating)):
        raise TypeError(f"ner: threshold must be a number, got {type(threshold).__name__}")
    value = float(threshold)
    if math.isnan(value) or not 0 <= value <= 1:
        raise ValueError(f"ner: threshold must be within [0, 1], got {value:g}")
    return value
