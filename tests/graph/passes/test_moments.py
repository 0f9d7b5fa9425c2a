"""Sums over the rows that a product reads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.quantization.observers import Moments


@given(
    rows=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    channels=st.integers(1, 70),
    threads=st.integers(1, 3),
    gram=st.booleans(),
    seed=st.integers(0, 99),
)
def test_parts_add_up_to_the_sums_over_all_rows(rows, channels, threads, gram, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((m, channels)).astype(np.float32) for m in rows]
    moments = Moments.empty(channels, gram)
    for part in parts:
        moments.update(part, threads)
    x = np.concatenate(parts).astype(np.float64)
    assert moments.rows == len(x)
    np.testing.assert_allclose(moments.squares, np.square(x).sum(axis=0), rtol=1e-6)
    np.testing.assert_allclose(moments.sizes, np.sqrt(np.square(x).mean(axis=0)), rtol=1e-6)
    if gram:
        assert moments.gram is not None
        np.testing.assert_allclose(moments.gram, x.T @ x, rtol=1e-4, atol=1e-3)
    else:
        assert moments.gram is None


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_sums_do_not_depend_on_threads(threads):
    x = np.random.default_rng(1).standard_normal((501, 130)).astype(np.float32)
    one, many = Moments.empty(130), Moments.empty(130)
    one.update(x, 1)
    many.update(x, threads)
    np.testing.assert_array_equal(one.squares, many.squares)
