"""Winograd's convolution: within the bound that the documentation states, and the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from helpers.convolutions import definition
from helpers.cook_toom import POINTS, amplification, matrices

KERNELS = [(3, 3), (2, 2), (5, 5), (1, 3), (3, 1), (1, 7), (7, 1), (4, 2), (3, 5)]


def largest(x):
    return float(np.abs(x).max(initial=0.0))


@st.composite
def problems(draw):
    """Return the shapes of x and w, and the geometry."""
    kernel = draw(st.sampled_from(KERNELS))
    dilation = [draw(st.sampled_from([1, 1, 2, 3, 9])) for _ in kernel]
    padding = [(draw(st.integers(0, 4)), draw(st.integers(0, 4))) for _ in kernel]
    spatial = [
        max(1, d * (k - 1) + 1 - sum(p)) + draw(st.integers(0, 30))
        for k, d, p in zip(kernel, dilation, padding, strict=True)
    ]
    inputs, outputs = draw(st.integers(1, 70)), draw(st.integers(1, 70))
    batch = draw(st.integers(1, 2))
    geometry = {"stride": [1, 1], "dilation": dilation, "padding": padding, "groups": 1}
    return (batch, *spatial, inputs), (outputs, inputs, *kernel), geometry


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_errors_stay_within_the_documented_bound(isa, problem, seed):
    x_shape, w_shape, geometry = problem
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(x_shape, np.float32)
    w = rng.standard_normal(w_shape, np.float32)
    wc = fbg.PackedConv(w, dtype="float32", **geometry)
    expected = definition(x, w, 0, geometry)
    names = [a.name for a in wc.algorithms(x.shape) if a.name.startswith("winograd")]
    assert names
    for name in names:
        n = int(name.removeprefix("winograd"))
        t = max(n + k - 1 for k in w_shape[2:])
        amplified = np.prod([amplification(n, k) for k in w_shape[2:]])
        sums = np.abs(w).reshape(w_shape[0], -1).sum(axis=1, dtype=np.float64)
        bound = (w_shape[1] + 4 * t + 4) * 2.0**-24 * amplified * largest(x) * sums
        y = fbg.conv(x, wc, algorithm=name)
        assert (np.abs(y - expected) <= bound).all(), name


@pytest.mark.parametrize(("n", "error"), [(2, 4e-6), (3, 1e-5), (4, 2e-5), (5, 6e-5), (6, 9e-5)])
def test_errors_of_normal_data_are_those_of_the_table(n, error):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((1, 30, 30, 64), np.float32)
    w = rng.standard_normal((64, 64, 3, 3), np.float32)
    wc = fbg.PackedConv(w, dtype="float32")
    expected = definition(
        x, w, 0, {"stride": [1, 1], "dilation": [1, 1], "padding": [(0, 0)] * 2, "groups": 1}
    )
    y = fbg.conv(x, wc, algorithm=f"winograd{n}")
    assert largest(y - expected) <= error * expected.std()


@pytest.mark.parametrize("t", POINTS)
def test_the_bound_is_made_from_matrices_that_convolve(t):
    for n in range(2, t):
        a, g, b = (np.array(m, dtype=object) for m in matrices(n, t + 1 - n))
        for i in range(n):
            for j in range(t + 1 - n):
                row = (a[i] * g[:, j]) @ b
                assert [int(c) for c in row] == [int(c == i + j) for c in range(t)]


@pytest.mark.parametrize("n", [2, 4, 6])
@pytest.mark.parametrize("size", [7, 40])
def test_batches_and_threads_change_no_bit(isa, n, size):
    rng = np.random.default_rng(n)
    x = rng.standard_normal((3, size, size + 2, 40), np.float32)
    w = rng.standard_normal((72, 40, 3, 3), np.float32)
    wc = fbg.PackedConv(w, padding=1, dtype="float32")
    alone = [fbg.conv(x[i : i + 1], wc, algorithm=f"winograd{n}", num_threads=1) for i in range(3)]
    for threads in (1, 2, 3):
        y = fbg.conv(x, wc, algorithm=f"winograd{n}", num_threads=threads)
        np.testing.assert_array_equal(y, np.concatenate(alone))
        one = fbg.conv(x[:1], wc, algorithm=f"winograd{n}", num_threads=threads)
        np.testing.assert_array_equal(one, alone[0])


def test_stages_follow_the_output_transform(isa):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 9, 11, 24), np.float32)
    wc = fbg.PackedConv(rng.standard_normal((40, 24, 3, 3), np.float32), padding=1, dtype="float32")
    plain = fbg.conv(x, wc, algorithm="winograd4")
    bias = rng.standard_normal(40, np.float32)
    residual = rng.standard_normal(plain.shape, np.float32)
    stages = fbg.Bias(bias) >> fbg.Add(residual) >> fbg.ReLU()
    wide = np.zeros((*plain.shape[:-1], 60), np.float32)
    fbg.conv(x, wc, stages, algorithm="winograd4", out=wide[..., 8:48])
    np.testing.assert_array_equal(wide[..., 8:48], np.maximum(plain + bias + residual, 0))
    assert not wide[..., :8].any() and not wide[..., 48:].any()
    bytes_ = fbg.conv(x, wc, fbg.Requantize(0.5, 100, np.uint8), algorithm="winograd4")
    expected = np.clip(np.rint(plain / np.float32(0.5)) + 100, 0, 255)
    np.testing.assert_array_equal(bytes_, expected.astype(np.uint8))


def test_exact_convolutions_are_not_winograds():
    x = np.ones((1, 28, 28, 64), np.float32)
    wc = fbg.PackedConv(np.ones((64, 64, 3, 3), np.float32), padding=1, dtype="float32")
    assert fbg.prepare(wc, shape=x.shape).algorithm.startswith("winograd")
    exact = [a.name for a in wc.algorithms(x.shape, exact=True)]
    assert not any(name.startswith("winograd") for name in exact)
    for options in ({"exact": True}, {"algorithm": "direct"}):
        assert fbg.prepare(wc, shape=x.shape, **options).algorithm == exact[0]


def test_the_family_is_called_by_its_name_as_well():
    x = np.ones((1, 28, 28, 64), np.float32)
    wc = fbg.PackedConv(np.ones((64, 64, 3, 3), np.float32), padding=1, dtype="float32")
    cheapest = next(a.name for a in wc.algorithms(x.shape) if a.name.startswith("winograd"))
    assert fbg.prepare(wc, shape=x.shape, algorithm="winograd").algorithm == cheapest
    strided = fbg.PackedConv(np.ones((64, 64, 3, 3), np.float32), stride=2, dtype="float32")
    with pytest.raises(ValueError, match="'winograd' does not apply to 3x3 64->64 stride 2"):
        fbg.conv(x, strided, algorithm="winograd")


def test_an_image_that_holds_infinity_leaves_other_tiles_alone():
    x = np.zeros((1, 24, 24, 4), np.float32)
    x[0, 2, 2, 0] = np.inf
    wc = fbg.PackedConv(np.ones((4, 4, 3, 3), np.float32), padding=1, dtype="float32")
    y = fbg.conv(x, wc, algorithm="winograd4")
    assert not np.isfinite(y[0, 1:4, 1:4]).any()
    assert not y[0, 8:].any() and not y[0, :, 8:].any()


def test_it_is_not_chosen_for_small_images_of_few_channels():
    wc = fbg.PackedConv(np.ones((16, 3, 3, 3), np.float32), padding=1, dtype="float32")
    for size in (9, 32):
        assert not wc.algorithms((1, size, size, 3))[0].name.startswith("winograd")
