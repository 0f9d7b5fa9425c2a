"""fbg.quantization against the formulas of the ONNX operators, written out one step at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fbg
from fbg.quantization import choose_qparams, dequantize, quantize
from helpers.refusals import refusals

F32 = np.float32
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
DTYPES = [np.uint8, np.int8]


@pytest.mark.parametrize("dtype", DTYPES)
@given(first=FINITE, second=FINITE)
def test_parameters_are_those_of_dynamic_quantize_linear(dtype, first, second):
    low, high = min(first, second), max(first, second)
    limits = np.iinfo(dtype)
    scale, zero_point = choose_qparams(low, high, dtype)
    assert isinstance(scale, F32) and isinstance(zero_point, int)
    assert np.isfinite(scale) and scale > 0
    assert limits.min <= zero_point <= limits.max
    lo, hi = F32(min(0.0, low)), F32(max(0.0, high))
    with np.errstate(over="ignore"):
        span = hi - lo
    if np.isfinite(span) and span / F32(255) > 0:
        assert scale == span / F32(255)
        assert zero_point == np.clip(np.rint(F32(limits.min) - lo / scale), limits.min, limits.max)
    elif np.isinf(span):
        np.testing.assert_allclose(scale, (float(hi) - float(lo)) / 255, rtol=1e-6)
    else:
        assert (scale, zero_point) == (1, 0)


@pytest.mark.parametrize(("dtype", "middle"), [(np.uint8, 128), (np.int8, 0)])
@given(first=FINITE, second=FINITE)
def test_symmetric_parameters_centre_the_range(dtype, middle, first, second):
    low, high = min(first, second), max(first, second)
    scale, zero_point = choose_qparams(low, high, dtype, symmetric=True)
    most = F32(max(abs(low), abs(high))) if low <= 0 <= high else F32(max(-low, high))
    assert zero_point == middle
    assert scale == (most / F32(127) if most / F32(127) > 0 else 1)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bounds", [(0, 0), (-1, 1), (0, 6), (-5, 0), (2, 3), (-3.4e38, 3.4e38)])
def test_zero_is_represented_exactly(dtype, symmetric, bounds):
    scale, zero_point = choose_qparams(*bounds, dtype=dtype, symmetric=symmetric)
    q = quantize(np.zeros(1, F32), scale, zero_point, dtype)
    assert q[0] == zero_point
    assert dequantize(q, scale, zero_point)[0] == 0


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    x=arrays.arrays(F32, st.integers(0, 40), elements=FINITE),
    scale=st.floats(2.0**-126, 2.0**100, width=32),
    data=st.data(),
)
def test_quantize_divides_rounds_half_to_even_and_saturates(dtype, x, scale, data):
    limits = np.iinfo(dtype)
    zero_point = data.draw(st.integers(int(limits.min), int(limits.max)))
    q = quantize(x, scale, zero_point, dtype)
    assert q.dtype == dtype and q.shape == x.shape
    for value, got in zip(x, q, strict=True):
        with np.errstate(over="ignore"):
            ratio = float(value / F32(scale))
        # Python rounds halves to even, in integers of any size.
        wanted = round(ratio) + zero_point if np.isfinite(ratio) else np.sign(ratio) * np.inf
        assert got == np.clip(wanted, limits.min, limits.max)


def test_halves_round_to_even():
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5], F32)
    assert quantize(x, 1.0, 10).tolist() == [10, 12, 12, 10, 8, 8]


def test_parameters_broadcast_per_column_and_per_row():
    x = np.array([[1, 2], [3, 4]], F32)
    assert quantize(x, np.array([1, 2], F32), np.array([0, 5])).tolist() == [[1, 6], [3, 7]]
    assert quantize(x, np.array([[1], [2]], F32), 0).tolist() == [[1, 2], [2, 2]]
    q = np.array([[1, 6], [3, 7]], np.uint8)
    assert dequantize(q, np.array([1, 2], F32), np.array([0, 5])).tolist() == [[1, 2], [3, 4]]


def test_infinities_saturate():
    assert quantize(np.array([np.inf, -np.inf], F32), 1.0, 7).tolist() == [255, 0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dequantize_inverts_every_value(dtype):
    q = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
    real = dequantize(q, 0.37, 3)
    assert real.dtype == F32
    np.testing.assert_array_equal(real, F32(0.37) * (q.astype(int) - 3).astype(F32))
    np.testing.assert_array_equal(quantize(real, 0.37, 3, dtype), q)


def test_quantize_agrees_with_packed_weights():
    w = np.random.default_rng(0).standard_normal((30, 20), dtype=F32)
    for symmetric in (True, False):
        packed = fbg.PackedB(w, symmetric=symmetric)
        q = quantize(w, packed.scale, packed.zero_point, np.int8)
        np.testing.assert_array_equal(packed.unpack(), q)
        np.testing.assert_array_equal(
            packed.dequantize(), dequantize(q, packed.scale, packed.zero_point)
        )


ONE = np.ones(3, F32)


@refusals(
    type_errors={
        "dtype must be uint8 or int8, got": [
            lambda: choose_qparams(0.0, 1.0, np.int32),
            lambda: quantize(ONE, 1.0, 0, np.int16),
        ],
        "quantize: scale must be float, got": lambda: quantize(ONE, "1"),
        "quantize: zero_point must be integer, got": lambda: quantize(ONE, 1.0, 0.5),
    },
    value_errors={
        "choose_qparams: minimum and maximum must be finite": [
            lambda: choose_qparams(1.0, -1.0),
            lambda: choose_qparams(0.0, np.inf),
            lambda: choose_qparams(np.nan, 1.0),
            lambda: choose_qparams(0.0, np.nan),
            lambda: choose_qparams(0.0, 1e300),
        ],
        "quantize: scale must be finite": [
            lambda scale=scale: quantize(ONE, scale) for scale in (0.0, -1.0, np.nan, np.inf, 1e300)
        ],
        r"quantize: zero_point must be within \[0, 255\], got 256": lambda: quantize(ONE, 1.0, 256),
        "quantize: x must not hold NaN": lambda: quantize(ONE * np.nan, 1.0),
    },
)
def test_bad_arguments_are_refused(refuse):
    refuse()
