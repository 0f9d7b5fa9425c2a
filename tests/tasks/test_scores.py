"""From logits to scores: properties of each step."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.tasks.classify import label_scores
from fbg.tasks.scores import sigmoid, softmax, top_k

finite = st.floats(-50, 50, width=32)
scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=12)


@given(st.lists(finite, min_size=1, max_size=9))
def test_softmax_is_a_distribution_in_the_order_of_the_logits(logits: list[float]) -> None:
    result = softmax(logits)
    assert result.sum() == pytest.approx(1)
    assert np.all(np.diff(result[np.argsort(logits)]) >= 0)
    np.testing.assert_allclose(softmax(np.add(logits, 3)), result, rtol=1e-12)


@given(finite)
def test_sigmoid_is_the_logistic_function(x: float) -> None:
    assert sigmoid(x) == pytest.approx(1 / (1 + math.exp(-x)), abs=1e-12)
    assert sigmoid(-x) == pytest.approx(1 - sigmoid(x), abs=1e-12)


@pytest.mark.parametrize("x", [-1e30, 1e30])
def test_sigmoid_and_softmax_do_not_overflow(x: float) -> None:
    assert sigmoid(x) == (x > 0)
    assert softmax([x, 0]).tolist() == [float(x > 0), float(x < 0)]


@given(scores, st.none() | st.integers(1, 15))
def test_top_k_is_a_stable_sort_cut_short(values: list[float], k: int | None) -> None:
    wanted = sorted(range(len(values)), key=lambda n: -values[n])[:k]
    assert top_k(values, k).tolist() == wanted


def test_label_scores_name_the_best() -> None:
    assert label_scores([0.2, 0.7, 0.1], ("a", "b", "c"), 2) == [
        {"label": "b", "score": 0.7},
        {"label": "a", "score": 0.2},
    ]
