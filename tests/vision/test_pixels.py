"""Arithmetic of pixels: what it keeps, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fbg.vision import clip_outliers, round_to, standardize, widen_range

VALUES = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=2, max_dims=3, max_side=6),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda x: round(x, 3)),
)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from([None, 0, -1, (0, 1)]))
def test_standard_values_have_mean_0_and_deviation_1(x, axis):
    found = standardize(x, axis=axis).astype(np.float64)
    same = np.ptp(x, axis=axis) == 0
    np.testing.assert_allclose(found.mean(axis), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis), np.where(same, 0, 1), atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from([None, 0, -1]))
def test_a_widened_range_reaches_both_ends(x, axis):
    found = widen_range(x, -1, 3, axis=axis)
    same = np.ptp(x, axis=axis) == 0
    assert (found.min(axis) == -1).all()
    np.testing.assert_allclose(found.max(axis), np.where(same, -1, 3), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.floats(0, 49))
def test_what_is_within_the_percentiles_stays(x, percent):
    low, high = np.percentile(x, [percent, 100 - percent])
    np.testing.assert_array_equal(clip_outliers(x, percent), np.clip(x, low, high))


def test_clipped_values_keep_the_type_of_floats():
    assert clip_outliers(np.ones(3, np.float32)).dtype == np.float32
    assert clip_outliers(np.arange(3)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_rounding_saturates(dtype):
    x = np.array([-1e30, -128.5, -0.5, 0.5, 1.5, 2.5, 127.5, 300, 1e30])
    limits = np.iinfo(dtype)
    np.testing.assert_array_equal(round_to(x, dtype), np.clip(np.rint(x), limits.min, limits.max))
    assert round_to(x, dtype).dtype == dtype


def test_other_arguments_are_refused():
    for function in (standardize, clip_outliers, widen_range, round_to):
        name = function.__name__
        for x, error, message in (
            (np.array([1, np.nan]), ValueError, f"{name}: x must be finite"),
            (np.zeros((0, 2)), ValueError, f"{name}: x must not be empty"),
            (np.array(["a"]), TypeError, f"{name}: x must be numbers"),
            ([1, 2], TypeError, f"{name}: x must be an array"),
        ):
            with pytest.raises(error, match=message):
                function(x)
    x = np.ones(2)
    with pytest.raises(ValueError, match="percent must be at least 0 and below 50"):
        clip_outliers(x, 50)
    with pytest.raises(ValueError, match="low must be below high, got 3 and 3"):
        widen_range(x, 3, 3)
    with pytest.raises(TypeError, match="dtype must be uint8 or int8"):
        round_to(x, np.int64)
