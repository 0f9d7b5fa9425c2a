"""The tokens of a text, and cut to the limit of a model or into overlapping windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg.arrays import Indices

Chosen = npt.NDArray[np.intp]

WINDOW_TOKENS = 1 << 17  # tokens of windows that are made at a time


@dataclass(frozen=True)
class EncodedText:
    """The tokens of a text, or of a pair of texts of which the second may have token type 1.

    types: the token types; None if nobody asked for them.
    length: how many tokens there were before the text was cut, special tokens included.

    The positions of tokens in the text are set only on request:

    offsets: (tokens, 2), the first character of each token and the one after its last.
    segments: 0 and 1 for tokens of the first and second text, -1 for special tokens.
    words: the number of each token's word in its text, -1 for none.
    """

    ids: Indices
    types: Indices | None
    length: int
    offsets: Indices | None = None
    segments: Indices | None = None
    words: Indices | None = None

    def take(self, chosen: Chosen) -> EncodedText:
        """Return some of the tokens; `length` stays what it was."""

        def some(values: Indices | None) -> Indices | None:
            return None if values is None else values[chosen]

        return EncodedText(
            self.ids[chosen],
            some(self.types),
            self.length,
            some(self.offsets),
            some(self.segments),
            some(self.words),
        )

    def first(self, count: int) -> EncodedText:
        """Return the first tokens, up to a limit; `length` stays what it was."""
        return self.take(np.arange(min(count, self.ids.size)))

    def without(self, token: int) -> EncodedText:
        """Return the text without one of its tokens; `length` does not count it."""
        kept = np.flatnonzero(self.ids != token)
        return replace(self.take(kept), length=self.length - (self.ids.size - kept.size))

    def windows(self, segment: int, size: int, stride: int) -> Windows:
        """Cut one of the texts into windows of at most `size` of its tokens.

        All other tokens (special ones, and those of the other text) are part of every window.
        Neighbouring windows share `stride` tokens. The tokens of a text are consecutive.
        """
        assert self.segments is not None
        inside = np.flatnonzero(self.segments == segment)
        return Windows(self, inside, size, stride)


@dataclass(frozen=True)
class Windows:
    """Windows of some of the tokens of a text, which are consecutive, with all others in each.

    Each is made when it is read: together they may take thousands of times as much as the text.
    """

    text: EncodedText
    inside: Chosen
    size: int
    stride: int

    def __len__(self) -> int:
        return count_windows(self.inside.size, self.size, self.stride)

    def __iter__(self) -> Iterator[EncodedText]:
        if len(self) == 1:
            yield self.text
            return
        first, last = int(self.inside[0]), int(self.inside[-1]) + 1
        before, after = np.arange(first), np.arange(last, self.text.ids.size)
        for part in windows(self.inside.size, self.size, self.stride):
            yield self.text.take(np.concatenate([before, self.inside[part], after]))


def count_windows(length: int, size: int, stride: int) -> int:
    """Return how many `windows` there are."""
    return 1 if length <= size else 1 + -(-(length - size) // (size - stride))


def windows(length: int, size: int, stride: int) -> Iterator[slice]:
    """Yield windows of at most `size` that cover [0, length); neighbours share `stride`."""
    for n in range(count_windows(length, size, stride)):
        start = n * (size - stride)
        yield slice(start, min(start + size, length))


def kept_when_cut(
    segments: Indices, max_length: int, cut_first: bool = False, from_left: bool = False
) -> Chosen | None:
    """Return which tokens stay when a text or a pair of texts is cut to `max_length` tokens.

    The tokens at the end of a text go, with `from_left` those at its beginning; in a pair, from the
    longer text, until both are equally long (the strategy "longest_first" of tokenizers), or with
    `cut_first` those of the first text ("only_first"). Special tokens stay; None if they alone are
    too many, or if nothing would be left of the first text.
    """
    first, second = (int(np.count_nonzero(segments == n)) for n in (0, 1))
    room = max_length - (segments.size - first - second)
    if room < 0:
        return None
    if second == 0:
        limits = (room, 0)
    elif cut_first:
        if room <= second:
            return None
        limits = (room - second, second)
    else:
        short, long = sorted((first, second))
        long = short if short > room else max(short, room - short)
        if short + long > room:
            short, long = room // 2, room - room // 2
        limits = (short, long) if first <= second else (long, short)
    kept = segments < 0
    for segment, limit in enumerate(limits):
        tokens = np.flatnonzero(segments == segment)
        kept[tokens[max(tokens.size - limit, 0) :] if from_left else tokens[:limit]] = True
    return np.flatnonzero(kept)
