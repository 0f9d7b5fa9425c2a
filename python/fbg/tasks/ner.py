"""Entities in texts, with the results of the token-classification pipeline of transformers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal, overload

import numpy as np

from fbg.arrays import Floats
from fbg.runtime.steps import Steps
from fbg.tasks.context import TaskCall, TaskMethods, task
from fbg.tasks.entities import (
    AGGREGATIONS,
    Token,
    group_entities,
    label_tokens,
    label_words,
    merge_overlapping,
)
from fbg.tasks.gliner.ner import labelled_steps, require_defaults
from fbg.tasks.inputs import require_choice, require_count, require_texts
from fbg.tasks.results import Entity, TokenEntity
from fbg.tasks.scores import softmax
from fbg.text.encoded_text import EncodedText, Windows
from fbg.text.tokenization import TextTokenizer

Grouped = Literal["simple", "first", "average", "max"]


class NerMethods(TaskMethods):
    """The method of `Model` for architectures that end in ForTokenClassification."""

    @overload
    def ner(  # type: ignore[overload-overlap]
        self,
        texts: str,
        aggregation_strategy: Grouped = ...,
        ignore_labels: Iterable[str] = ...,
        batch_size: int = ...,
        truncation: bool = ...,
        stride: int | None = ...,
        labels: Iterable[str] | None = ...,
        threshold: float | None = ...,
    ) -> list[Entity]: ...

    @overload
    def ner(
        self,
        texts: Iterable[str],
        aggregation_strategy: Grouped = ...,
        ignore_labels: Iterable[str] = ...,
        batch_size: int = ...,
        truncation: bool = ...,
        stride: int | None = ...,
        labels: Iterable[str] | None = ...,
        threshold: float | None = ...,
    ) -> list[list[Entity]]: ...

    @overload
    def ner(  # type: ignore[overload-overlap]
        self,
        texts: str,
        aggregation_strategy: Literal["none"],
        ignore_labels: Iterable[str] = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[TokenEntity]: ...

    @overload
    def ner(
        self,
        texts: Iterable[str],
        aggregation_strategy: Literal["none"],
        ignore_labels: Iterable[str] = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[list[TokenEntity]]: ...

    @task
    def ner(
        self,
        texts: str | Iterable[str],
        aggregation_strategy: Literal["none"] | Grouped = "simple",
        ignore_labels: Iterable[str] = ("O",),
        batch_size: int = 32,
        truncation: bool = True,
        stride: int | None = None,
        labels: Iterable[str] | None = None,
        threshold: float | None = None,
    ) -> Steps[list[Any]]:
        """Find named entities, or other spans that a token classifier was trained to find; with
        GLiNER those of any labels.

        texts: a str, or an iterable of str.
        aggregation_strategy: "none" returns every token. "simple" joins adjacent tokens of the same
            kind to one entity; a label that begins with "B-" starts a new one. "first", "average"
            and "max" also give all tokens of a word the same label: the label of its first token,
            that with the highest mean score, or that of the token with the highest score.
        ignore_labels: labels that are left out; with "none", including "B-" or "I-".
        batch_size: the most texts to compute at a time; limits memory, and never changes a result.
        truncation: True truncates texts to `max_length` tokens, and warns once for each model;
            False raises ValueError for a longer text.
        stride: if given, longer texts are not truncated but read in windows of `max_length` tokens,
            and adjacent windows overlap by `stride` tokens. If entities of two windows overlap, the
            longer one is kept, and of two that are equally long that with the higher score. Cannot
            be combined with aggregation_strategy="none".
        labels: for GLiNER only: the entities to find, such as ["person", "place"]. GLiNER takes
            only batch_size, truncation and threshold of the other arguments.
        threshold: for GLiNER only: spans with a higher score are entities, unless they
            overlap better ones. None: 0.5.

        Returns for a str a list of dicts with the keys "entity_group", "score", "word", "start" and
        "end", where text[start:end] is the entity; with "none", the keys "entity" and "index" (of
        the token) replace "entity_group". For several texts, returns a list of such lists.

        >>> model.ner("Ada lives in London")  # doctest: +SKIP
        [{'entity_group': 'PER', 'score': 0.99, 'word': 'Ada', 'start': 0, 'end': 3},
         {'entity_group': 'LOC', 'score': 0.99, 'word': 'London', 'start': 13, 'end': 19}]
        """
        context = self._context
        if context.span_scorer is not None:
            require_defaults(aggregation_strategy, ignore_labels, stride)
            found = labelled_steps(context, texts, labels, threshold, batch_size, truncation)
            return (yield from found)
        if labels is not None:
            raise ValueError("ner: labels must be None: the model has labels of its own")
        if threshold is not None:
            raise ValueError(f"ner: threshold must be None without labels, got {threshold!r:.200}")
        call = TaskCall(context, "ner", "texts", batch_size, truncation)
        strategy = require_choice("ner: aggregation_strategy", aggregation_strategy, AGGREGATIONS)
        reader = _EntityReader(call, strategy, require_texts("ner: ignore_labels", ignore_labels))
        given = require_texts(call.where, texts)
        results = yield from reader.read(given, _checked_stride(stride, strategy))
        return results[0] if isinstance(texts, str) else results


def _checked_stride(stride: object, strategy: str) -> int | None:
    if stride is None:
        return None
    if strategy == "none":
        raise ValueError('ner: stride needs an aggregation_strategy other than "none"')
    return require_count("ner: stride", stride, least=0)


class _EntityReader:
    """Finds entities in texts, for one call of `ner`."""

    def __init__(self, call: TaskCall, strategy: str, ignored: Sequence[str]) -> None:
        self._call = call
        self._strategy = strategy
        self._ignored = set(ignored)

    def read(self, texts: list[str], stride: int | None) -> Steps[list[Any]]:
        """Return a list of Entity for each text, or of TokenEntity with the strategy "none"."""
        results = []
        for block in self._call.blocks(texts, located=True, cut=stride is None):
            parts = [self._windows(text, stride) for text in block.encoded]
            texts = block.texts

            def read(n: int, window: EncodedText, logits: Floats) -> list[Any]:
                return self._entities(texts[n], window, logits)  # noqa: B023

            for found in (yield from self._call.run_windows(parts, read)):
                several = len(found) > 1
                results.append(merge_overlapping(chain(*found)) if several else found[0])
        return results

    def _windows(self, text: EncodedText, stride: int | None) -> Windows:
        limit = self._call.tokenizer.max_length
        if stride is None or text.ids.size <= limit:
            return text.windows(0, text.ids.size, 0)
        assert text.segments is not None
        size = limit - int(np.count_nonzero(text.segments < 0))
        if stride >= size:
            raise ValueError(
                f"ner: stride must be less than the {size} tokens of a text that the model takes, "
                f"got {stride}"
            )
        return text.windows(0, size, stride)

    def _entities(self, text: str, encoded: EncodedText, logits: Floats) -> list[Any]:
        tokenizer, labels = self._call.tokenizer, self._call.head.labels
        tokens = _located_tokens(tokenizer, text, encoded, logits)
        if self._strategy == "none":
            alone = label_tokens(tokens, labels)
            return [token for token in alone if token["entity"] not in self._ignored]
        words = label_words(tokens, labels, self._strategy, tokenizer.join)
        entities = group_entities(words, tokenizer.join)
        return [entity for entity in entities if entity["entity_group"] not in self._ignored]


def _located_tokens(
    tokenizer: TextTokenizer, text: str, encoded: EncodedText, logits: Floats
) -> list[Token]:
    """Return the tokens of a text, special ones excluded, with their scores."""
    assert encoded.segments is not None and encoded.offsets is not None
    scores, words = softmax(logits), tokenizer.tokens(encoded.ids.tolist())
    unknown, marked = tokenizer.unknown_id, tokenizer.marks_subwords
    tokens = []
    for n in np.flatnonzero(encoded.segments >= 0).tolist():
        start, end = encoded.offsets[n].tolist()
        word, written = words[n], text[start:end]
        if encoded.ids[n] == unknown:
            word, inside = written, False
        elif marked:
            inside = len(word) != len(written)
        else:  # a guess: between words there is a space
            inside = start > 0 and " " not in text[start - 1 : start + 1]
        tokens.append(Token(scores[n], n, word, start, end, inside))
    return tokens
