"""Scores of words for labels: the computation of GLiNER's models of tokens behind their encoder, in
float32.

With vectors a, b of a word and c, d of a label, each of them from a layer of its own,

    scores = W2 relu(W1 [a, c, b * d] + b1) + b2

says whether the word is the first, the last or any word of an entity of the label. The columns of
W1 for a and c are applied once to each word and label.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fbg.arrays import Floats
from fbg.matmul.product import linear
from fbg.networks.gliner import TokenHead
from fbg.tasks.gliner.spans import BLOCK, Found, States, packed, sigmoid


class WordScorer:
    """The weights behind an encoder, packed; threads may share it."""

    def __init__(self, head: TokenHead) -> None:
        self._states, self._head = States(head), head
        self._word, self._label = packed(head.word), packed(head.label)
        self._parts = [packed(part) for part in np.split(head.output.first, 3, axis=1)]
        self._second = packed(head.output.second)

    def above(
        self, labels: Floats, words: Floats, threshold: float, threads: int
    ) -> Iterator[Found]:
        """Yield spans as `spans_of` finds them. labels, words: as `SpanScorer.above` takes them."""
        return spans_of(self.scores(labels, words, threads), threshold)

    def scores(self, labels: Floats, words: Floats, threads: int) -> Floats:
        """Return (words, labels, 3): the scores of each word as the first, the last and any one."""
        labels, words = self._states(labels, words, threads)
        head, count = self._head, len(labels)
        a, b = np.split(linear(words, self._word, head.word_bias, None, threads), 2, axis=1)
        c, d = np.split(linear(labels, self._label, head.label_bias, None, threads), 2, axis=1)
        of_word, of_label, of_both = self._parts
        ahead = linear(np.ascontiguousarray(a), of_word, head.output.first_bias, None, threads)
        named = linear(np.ascontiguousarray(c), of_label, None, None, threads)
        result = np.empty((len(words), count, 3), np.float32)
        block = max(BLOCK // count, 1)
        for n in range(0, len(words), block):
            some = slice(n, n + block)
            both = (b[some, None] * d).reshape(-1, d.shape[1])
            wide = linear(both, of_both, None, None, threads).reshape(-1, count, named.shape[1])
            wide = np.maximum(wide + ahead[some, None] + named, 0).reshape(-1, named.shape[1])
            logits = linear(wide, self._second, head.output.second_bias, None, threads)
            result[some] = sigmoid(logits).reshape(-1, count, 3)
        return result


def spans_of(scores: Floats, threshold: float) -> Iterator[Found]:
    """Yield the spans of labels whose first and last word score more than `threshold` as such, and
    no word less as any; their score is the least of all these.

    A span without a higher score than a shorter one of the same first word and label is left out:
    `best_spans` would not choose it.
    """
    first, last, inside = np.moveaxis(scores, 2, 0)
    low = [np.flatnonzero(column < threshold) for column in inside.T]
    for begin, label in np.argwhere(first > threshold).tolist():
        stops = low[label]
        place = int(np.searchsorted(stops, begin))
        end = int(stops[place]) if place < stops.size else len(scores)
        ends = last[begin:end, label]
        least = np.minimum(np.minimum.accumulate(inside[begin:end, label]), ends)
        least = np.where(ends > threshold, np.minimum(least, first[begin, label]), np.float32(-1))
        before = np.maximum.accumulate(np.append(np.float32(-1), least))[:-1]
        for width in np.flatnonzero(least > before).tolist():
            yield float(least[width]), begin, begin + width, label
