"""choose_qparams of arrays and choose_qparams_mse against their definitions, written as loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fbg.quantization import choose_qparams, choose_qparams_mse
from helpers.quantization import DTYPES, F32, FINITE, round_trip

MODERATE = st.floats(-(2.0**20), 2.0**20, width=32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["asymmetric", "symmetric", "preserve_sparsity"])
@given(bounds=arrays.arrays(F32, (5, 2), elements=FINITE))
def test_arrays_of_bounds_give_what_each_pair_gives(mode, dtype, bounds):
    options = {} if mode == "asymmetric" else {mode: True}
    lo, hi = bounds.min(axis=1), bounds.max(axis=1)
    scales, points = choose_qparams(lo, hi, dtype, **options)
    assert scales.dtype == F32 and points.dtype == np.int32
    for c in range(5):
        assert choose_qparams(lo[c], hi[c], dtype, **options) == (scales[c], points[c])


@pytest.mark.parametrize(("dtype", "middle"), [(np.uint8, 128), (np.int8, 0)])
@given(first=FINITE, second=FINITE)
def test_preserve_sparsity_puts_zero_in_the_middle_of_two_signs(dtype, middle, first, second):
    low, high = sorted((first, second))
    scale, point = choose_qparams(low, high, dtype, preserve_sparsity=True)
    if low < 0 < high:
        wanted = max(F32(low) / F32(-128), F32(high) / F32(127))
        assert (scale, point) == (wanted if wanted > 0 else 1, middle)
    else:
        assert (scale, point) == choose_qparams(low, high, dtype)


def best_by_loops(x, dtype, symmetric, steps):
    """choose_qparams_mse as its docstring states it, for one channel."""
    best, least = (F32(x.min(initial=0)), F32(x.max(initial=0))), math.inf
    for low_moves, high_moves in [(1, 1)] if symmetric else [(1, 1), (1, 0), (0, 1)]:
        start = best
        for k in range(steps, 0, -1):
            t = F32(k / steps)
            ends = (
                start[0] * t if low_moves else start[0],
                start[1] * t if high_moves else start[1],
            )
            with np.errstate(over="ignore"):
                difference = round_trip(x, *choose_qparams(*ends, dtype, symmetric), dtype) - x
            error = math.fsum(float(d) ** 2 for d in difference.ravel())
            if error < least * (1 - 1e-12):
                best, least = ends, error
    return choose_qparams(*best, dtype, symmetric), least


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), outlier=st.sampled_from([1, 3, 30, 1000]))
def test_mse_choice_is_the_best_of_the_ranges_tried(dtype, symmetric, seed, outlier):
    x = np.random.default_rng(seed).standard_normal(60, F32)
    x[0] *= outlier
    _, least = best_by_loops(x, dtype, symmetric, 12)
    scale, point = choose_qparams_mse(x, dtype, symmetric, steps=12)
    difference = (round_trip(x, scale, point, dtype) - x).astype(np.float64)
    assert (difference**2).sum() == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@given(x=arrays.arrays(F32, st.integers(0, 30), elements=MODERATE))
def test_mse_choice_is_never_worse_than_the_whole_range(dtype, symmetric, x):
    def error(scale, point):
        return float(((round_trip(x, scale, point, dtype) - x).astype(np.float64) ** 2).sum())

    whole = choose_qparams(x.min(initial=0), x.max(initial=0), dtype, symmetric)
    assert error(*choose_qparams_mse(x, dtype, symmetric, steps=10)) <= error(*whole) * (1 + 1e-12)


def test_mse_choice_clips_a_long_tail():
    x = np.random.default_rng(0).standard_normal(20_000, F32)
    x[0] = 12
    whole = choose_qparams(x.min(), x.max(), np.int8, symmetric=True)
    found = choose_qparams_mse(x, np.int8, symmetric=True)
    errors = [
        np.square(round_trip(x, *p, np.int8) - x, dtype=np.float64).sum() for p in (whole, found)
    ]
    assert errors[1] < 0.95 * errors[0]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_mse_choice_per_axis_is_that_of_each_slice(axis):
    x = np.random.default_rng(0).standard_cauchy((3, 4, 5)).astype(F32)
    scales, points = choose_qparams_mse(x, np.int8, axis=axis, steps=20)
    for c in range(x.shape[axis]):
        alone = choose_qparams_mse(x.take(c, axis), np.int8, steps=20)
        assert alone == (scales[c], points[c])
