"""Windows and spans: properties of each step, against definitions that are easy to check."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.tasks.spans import Span, best_spans, merge_answers, whole_words
from fbg.text.encoded_text import windows


@given(st.integers(0, 60), st.integers(1, 12), st.integers(0, 11))
def test_windows_cover_everything_and_share_the_stride(length: int, size: int, stride: int) -> None:
    stride = min(stride, size - 1)
    found = windows(length, size, stride)
    assert found[0][0] == 0
    assert found[-1][1] == length
    assert all(end - begin <= size for begin, end in found)
    for (_, end), (begin, _) in itertools.pairwise(found):
        assert end - begin == stride


def all_spans(
    start: np.ndarray, end: np.ndarray, allowed: np.ndarray, most: int
) -> list[tuple[int, int]]:
    """Every span by the definition, likeliest first."""
    n = range(1, len(start))
    spans = [(s, e) for s in n for e in n if s <= e < s + most and allowed[s] and allowed[e]]
    return sorted(spans, key=lambda span: -(start[span[0]] + end[span[1]]))


@given(st.data())
def test_best_spans_are_the_likeliest_of_all(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 9))
    most, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 8))
    # Different sums, so that there is one order.
    order = data.draw(st.permutations(range(length)))
    start = np.array(order, np.float32) * 0.1
    end = np.array(data.draw(st.permutations(range(length))), np.float32) * 1.3
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=length, max_size=length)))
    spans, nothing = best_spans(start, end, allowed, k, most)
    assert [(s.start, s.end) for s in spans] == all_spans(start, end, allowed, most)[:k]
    possible = allowed.copy()
    possible[0] = True
    begins, ends = (np.exp(x) / np.exp(x[possible]).sum() for x in (start, end))
    assert nothing == pytest.approx(begins[0] * ends[0], rel=1e-5)
    for span in spans:
        assert span.score == pytest.approx(begins[span.start] * ends[span.end], rel=1e-5)


def test_spans_grow_to_whole_words() -> None:
    offsets = np.array([[0, 0], [0, 2], [2, 5], [6, 7], [8, 9], [9, 12]], np.int32)
    words = np.array([-1, 0, 0, 1, 2, 2], np.int32)

    def grown(start: int, end: int) -> tuple[int, int]:
        return whole_words(Span(start, end, 1.0), offsets, words)

    assert grown(2, 4) == (0, 12)
    assert grown(3, 3) == (6, 7)
    assert grown(1, 1) == (0, 5)
    nowhere = np.full(6, -1, np.int32)  # a tokenizer that has no words
    assert whole_words(Span(2, 4, 1.0), offsets, nowhere) == (2, 9)


def test_scores_of_one_text_add_up() -> None:
    answers = [
        {"answer": "York", "score": 0.25, "start": 3, "end": 7},
        {"answer": "it", "score": 0.375, "start": 0, "end": 2},
        {"answer": "york", "score": 0.25, "start": 9, "end": 13},
    ]
    best = {"answer": "York", "score": 0.5, "start": 3, "end": 7}
    assert merge_answers(answers, 1) == [best]
    assert merge_answers(answers, 5) == [best, answers[1]]
    nothing = {"answer": "", "score": 0.4375, "start": 0, "end": 0}
    assert merge_answers(answers, 5, 0.4375) == [best, nothing, answers[1]]
    assert merge_answers([], 5) == []
    assert answers[0]["score"] == 0.25
