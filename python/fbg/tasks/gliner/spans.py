"""Scores of spans of words for labels: the computation of GLiNER behind its encoder, in float32.

Most models score spans. With s and e for the first and last word of a span, and p for the vector of
a label,

    score = p . (W2 relu(W1 [relu(start(s)), relu(end(e))] + b1) + b2)

W1 is applied to each word once instead of to every span, and W2 to the labels instead of to the
spans, of which there are more. Models of tokens score words. With vectors a, b of a word and c, d
of a label, each of them from a layer of its own,

    scores = W2 relu(W1 [a, c, b * d] + b1) + b2

says whether the word is the first, the last or any word of an entity of the label. The columns of
W1 for a and c are applied once to each word and label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from fbg.arrays import Floats
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear
from fbg.networks.gliner import GlinerHead, LstmDirection, Projection, SpanHead, TokenHead

WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
BLOCK = 1024  # spans that are scored at a time, if no word begins more; bounds memory

Found = tuple[float, int, int, int]  # score, first and last word, label


def split_words(text: str, most: int) -> tuple[list[tuple[int, int]], bool]:
    """Return the positions of the first words of a text, and whether it has more."""
    places = [match.span() for match, _ in zip(WORD.finditer(text), range(most + 1), strict=False)]
    return places[:most], len(places) > most


def best_spans(found: Sequence[Found]) -> list[Found]:
    """Choose spans that do not overlap, the best first; return them in the order of the text."""
    kept, taken = [], bytearray(max((span[2] + 1 for span in found), default=0))
    for span in sorted(found, key=lambda span: -span[0]):
        _, first, last, _ = span
        if taken.find(1, first, last + 1) < 0:
            taken[first : last + 1] = b"\1" * (last + 1 - first)
            kept.append(span)
    return sorted(kept, key=lambda span: span[1])


def sigmoid(x: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), which cannot overflow."""
    scores: Floats = np.float32(0.5) * (np.tanh(np.float32(0.5) * x) + 1)
    return scores


def packed(weight: Floats) -> PackedB:
    """Return a weight (outputs, inputs) as products need it."""
    return PackedB(weight, transpose=True, dtype="float32")


class TwoLayers:
    """A Projection, packed."""

    def __init__(self, weights: Projection) -> None:
        self._first, self._first_bias = packed(weights.first), weights.first_bias
        self._second, self._second_bias = packed(weights.second), weights.second_bias

    def __call__(self, x: Floats, threads: int) -> Floats:
        wide = linear(x, self._first, self._first_bias, "relu", threads)
        return linear(wide, self._second, self._second_bias, None, threads)


class _Lstm:
    """One direction of a layer (Hochreiter and Schmidhuber, 1997)."""

    def __init__(self, weights: LstmDirection, backwards: bool) -> None:
        self._inputs, self._state = packed(weights.inputs), packed(weights.state)
        self._bias, self._step = weights.bias, -1 if backwards else 1

    def __call__(self, x: Floats, threads: int) -> Floats:
        ahead = linear(x, self._inputs, self._bias, None, threads)
        size = ahead.shape[1] // 4
        cell, output = np.zeros(size, np.float32), np.zeros((1, size), np.float32)
        result = np.empty((len(x), size), np.float32)
        for n in range(len(x))[:: self._step]:
            gates = (ahead[n] + linear(output, self._state, num_threads=1)[0]).reshape(4, size)
            keep_in, keep, _, out = sigmoid(gates)
            cell = keep * cell + keep_in * np.tanh(gates[2])
            output = (out * np.tanh(cell))[None]
            result[n] = output
        return result


class States:
    """The first layers of every head: a projection of the states, and the LSTM over words."""

    def __init__(self, head: GlinerHead) -> None:
        self._projection = None if head.weight is None else packed(head.weight)
        self._bias = head.bias
        pairs = zip(head.lstm[::2], head.lstm[1::2], strict=True)
        self._lstm = [(_Lstm(one, False), _Lstm(other, True)) for one, other in pairs]

    def __call__(self, labels: Floats, words: Floats, threads: int) -> tuple[Floats, Floats]:
        if self._projection is not None:
            labels, words = (
                linear(x, self._projection, self._bias, None, threads) for x in (labels, words)
            )
        for forwards, backwards in self._lstm:
            parts = [forwards(words, threads), backwards(words, threads)]
            words = np.concatenate(parts, axis=1)
        return labels, words


class SpanScorer:
    """The weights behind an encoder, packed; threads may share it.

    width: the most words of a span.
    """

    def __init__(self, head: SpanHead, width: int) -> None:
        self._width, self._states = width, States(head)
        self._start, self._end = TwoLayers(head.start), TwoLayers(head.end)
        self._label, self._output = TwoLayers(head.label), head.output
        self._second = packed(head.output.second.T)
        half = head.output.first.shape[1] // 2
        self._halves = (packed(head.output.first[:, :half]), packed(head.output.first[:, half:]))

    def above(
        self, labels: Floats, words: Floats, threshold: float, threads: int
    ) -> Iterator[Found]:
        """Yield the spans with a score of more than `threshold`.

        labels, words: the encoder's states of the labels, and of the first token of each word.
        """
        labels, words = self._states(labels, words, threads)
        prompts, output = self._label(labels, threads), self._output
        scored = PackedB(
            linear(prompts, self._second, None, None, threads),
            transpose=True,
            dtype="float32",
        )
        added = linear(prompts, PackedB(output.second_bias[:, None], dtype="float32"))[:, 0]
        starts, ends = (
            linear(np.maximum(part(words, threads), 0), half, None, None, threads)
            for part, half in zip((self._start, self._end), self._halves, strict=True)
        )
        starts += output.first_bias
        widths = np.arange(min(self._width, len(words)))
        block = max(BLOCK // len(widths), 1) if len(widths) else 1
        for first in range(0, len(words), block):
            begin = np.arange(first, min(first + block, len(words)))
            last = begin[:, None] + widths
            span, inside = np.minimum(last, len(words) - 1), last < len(words)
            wide = np.maximum(starts[begin][:, None] + ends[span], 0)
            logits = linear(wide, scored, added, None, threads)
            scores = sigmoid(logits)
            for n, width, label in np.argwhere((scores > threshold) & inside[:, :, None]).tolist():
                yield float(scores[n, width, label]), first + n, first + n + width, label


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
