"""From logits to scores: properties of each step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.tasks.scores import sigmoid, softmax, top_k

scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=12)


@pytest.mark.parametrize("x", [-1e30, 1e30])
def test_sigmoid_and_softmax_do_not_overflow(x):
    assert sigmoid(x) == (x > 0)
    assert softmax([x, 0]).tolist() == [float(x > 0), float(x < 0)]


@given(scores, st.none() | st.integers(1, 15))
def test_top_k_is_a_stable_sort_cut_short(values, k):
    wanted = sorted(range(len(values)), key=lambda n: -values[n])[:k]
    assert top_k(values, k).tolist() == wanted
