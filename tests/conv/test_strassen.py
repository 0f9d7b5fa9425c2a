"""Strassen's products in pointwise convolutions: near the sums in double, and the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg


@given(
    levels=st.sampled_from([1, 2]),
    pixels=st.integers(1, 300),
    inputs=st.integers(1, 30),
    outputs=st.integers(1, 4),
    batch=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_sums_are_near_those_in_double(isa, levels, pixels, inputs, outputs, batch, seed):
    side = 2**levels
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((batch, pixels, inputs * side), np.float32)
    w = rng.standard_normal((outputs * side * 16, inputs * side, 1), np.float32)
    wc = fbg.PackedConv(w, dtype="float32")
    bias = rng.standard_normal(len(w), np.float32)
    name = f"strassen{levels}"
    y = fbg.conv(x, wc, bias=bias, activation="relu", algorithm=name, num_threads=2)
    expected = np.maximum(x.astype(np.float64) @ w[..., 0].T.astype(np.float64) + bias, 0)
    # A sum of 4^levels terms of each operand, and as many products in a result.
    bound = 6.0**levels * 2.0**-22 * inputs * side * np.abs(x).max() * np.abs(w).max()
    assert np.abs(y - expected).max() <= bound
    for i in range(batch):
        alone = fbg.conv(x[i : i + 1], wc, bias=bias, activation="relu", algorithm=name)
        np.testing.assert_array_equal(alone[0], y[i])


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("k", [4, 1024, 32768])
def test_sums_without_signs_keep_to_the_documented_bound(levels, k):
    x, w = np.full((1, 3, k), 0.1, np.float32), np.full((64, k, 1), 0.7, np.float32)
    y = fbg.conv(x, fbg.PackedConv(w, dtype="float32"), algorithm=f"strassen{levels}")
    m = k / 2**levels
    bound = 18.0**levels * (m**2 + 6 * m) * 2.0**-24 * x.max() * w.max()
    assert np.abs(y - x.astype(np.float64) @ w[..., 0].T.astype(np.float64)).max() <= bound


def test_it_is_for_pointwise_convolutions_that_halve():
    x = np.ones((1, 4, 4, 64), np.float32)
    wc = fbg.PackedConv(np.ones((48, 64, 1, 1), np.float32), dtype="float32")
    with pytest.raises(ValueError, match="'strassen' does not apply to 1 64->48"):
        fbg.conv(x, wc, algorithm="strassen")
    wc = fbg.PackedConv(np.ones((64, 64, 1, 1), np.float32), dtype="float32")
    np.testing.assert_array_equal(fbg.conv(x, wc, algorithm="strassen"), np.full((1, 4, 4, 64), 64))
    names = [a.name for a in wc.algorithms(x.shape, exact=True)]
    assert "implicit_gemm" in names and not any(name.startswith("strassen") for name in names)
