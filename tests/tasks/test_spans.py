"""Spans of answers, against a definition that is easy to check."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.tasks.answer import Span, best_spans, whole_words


def all_spans(start, end, allowed, most):
    """Every span by the definition, likeliest first."""
    n = range(1, len(start))
    spans = [(s, e) for s in n for e in n if s <= e < s + most and allowed[s] and allowed[e]]
    return sorted(spans, key=lambda span: -(start[span[0]] + end[span[1]]))


@given(st.data())
def test_best_spans_are_the_likeliest_of_all(data):
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


def test_spans_of_a_tokenizer_without_words_stay():
    offsets = np.array([[0, 0], [0, 2], [2, 5], [6, 7], [8, 9], [9, 12]], np.int32)
    nowhere = np.full(6, -1, np.int32)  # a tokenizer that has no words
    assert whole_words(Span(2, 4, 1.0), offsets, nowhere) == (2, 9)
