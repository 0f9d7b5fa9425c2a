"""Stages at the ends of their range: accuracy of GELU, NaN, infinities, saturation, rounding."""

import numpy as np
import pytest

import fbg
from helpers.compositions import through
from helpers.formulas import assert_same_bits, exact_gelu, portable_gelu

# --- GELU -----------------------------------------------------------------------------------------


def test_gelu_is_within_1e_6_of_erf(isa):
    x = np.linspace(-10, 10, 200_001, dtype=np.float32)
    x = np.append(x, np.float32(0.0))[: x.size // 35 * 35].reshape(-1, 35)
    got = through(x, fbg.GELU())
    assert np.abs(got - exact_gelu(x)).max() <= 1e-6
    assert_same_bits(got, portable_gelu(x))


@pytest.mark.parametrize("magnitude", [1e-30, 1e-6, 1e-3, 1e-2, 0.1])
def test_gelu_keeps_small_values_to_relative_precision(isa, magnitude):
    x = np.linspace(-1, 1, 70, dtype=np.float32).reshape(2, 35) * np.float32(magnitude)
    exact = exact_gelu(x)
    assert (np.abs(through(x, fbg.GELU()) - exact) <= 1e-5 * np.abs(exact)).all()


def test_gelu_beyond_its_polynomial_is_the_identity_or_zero(isa):
    x = np.array([[5.85, 6, 10, 1e10, 3.4e38, -5.85, -6, -10, -1e10, -3.4e38]], np.float32)
    got = through(np.ascontiguousarray(x.T), fbg.GELU()).ravel()
    assert (got[:5] == x[0, :5]).all()
    assert (got[5:] == 0).all()


# --- Calls of the same shape ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("scales", [(1.0, 0.05), (0.05, 1.0, 0.5)])
def test_a_scale_does_not_depend_on_that_of_an_earlier_call(isa, dtype, scales):
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((8, 64), np.float32), rng.standard_normal((64, 50), np.float32)
    b = fbg.PackedB(w, dtype=dtype)
    a = fbg.PackA(x) if dtype == "float32" else fbg.PackAWithQuantRowOffset(x)
    before = fbg.ReLU() if dtype == "float32" else fbg.Dequantize() >> fbg.ReLU()
    real = fbg.gemm(a, b, before)
    image = rng.standard_normal((1, 6, 6, 16), np.float32)
    wc = fbg.PackedConv(rng.standard_normal((20, 16, 3, 3), np.float32), dtype=dtype)
    real_image = fbg.conv(image, wc, before)
    for scale in scales:
        last = fbg.Requantize(scale, 3, np.uint8)
        for got, exact in (
            (fbg.gemm(a, b, before >> last), real),
            (fbg.conv(image, wc, before >> last), real_image),
        ):
            wanted = np.clip(np.rint(exact / np.float32(scale)) + 3, 0, 255)
            np.testing.assert_array_equal(got, wanted.astype(np.uint8))


# --- NaN, infinities, saturation, rounding --------------------------------------------------------


def one_value(value, pipeline):
    """Run a value that a product with an identity would smear through a bias instead."""
    for m, n in [(1, 9)]:
        a = fbg.PackA(np.zeros((m, 1), np.float32))
        zero = fbg.PackedB(np.zeros((1, n), np.float32), dtype="float32")
        bias = np.zeros(n, np.float32)
        bias[[0, n - 1]] = value
        stages = pipeline if isinstance(pipeline, list) else [pipeline]
        got = fbg.gemm(a, zero, [fbg.Bias(bias), *stages])
        other = fbg.gemm(a, zero, stages)
        np.testing.assert_array_equal(got[0, 1 : n - 1], other[0, 1 : n - 1])
        assert_same_bits(got[:, :1], got[:, n - 1 :])
    return got[0, 0]


@pytest.mark.parametrize("stages", [[fbg.ReLU()], [fbg.GELU()], [fbg.ReLU(), fbg.GELU()]])
def test_nan_stays_nan(isa, stages):
    assert np.isnan(one_value(np.nan, stages))
    assert np.isnan(one_value(-np.nan, stages))


def test_infinities_keep_their_meaning(isa):
    assert one_value(np.inf, fbg.ReLU()) == np.inf
    assert one_value(-np.inf, fbg.ReLU()) == 0
    assert one_value(np.inf, fbg.GELU()) == np.inf
    assert abs(one_value(-np.inf, fbg.GELU())) <= 1e-7


@pytest.mark.parametrize(
    ("zero_point", "dtype"),
    [
        (0, np.uint8),
        (255, np.uint8),
        (128, np.uint8),
        (0, np.int8),
        (-128, np.int8),
        (127, np.int8),
    ],
)
def test_requantize_saturates(isa, zero_point, dtype):
    limits = np.iinfo(dtype)
    for scale in (1e-38, 1e-3, 1.0, 3e38):
        stage = fbg.Requantize(scale, zero_point, dtype)
        assert one_value(np.inf, stage) == limits.max
        assert one_value(-np.inf, stage) == limits.min
        assert one_value(np.nan, stage) == limits.min
        assert one_value(0.0, stage) == zero_point
    stage = fbg.Requantize(1e-3, zero_point, dtype)
    for huge in (1.0, 1e6, 1e20, 3.4e38):
        assert one_value(huge, stage) == limits.max
        assert one_value(-huge, stage) == limits.min


def test_requantize_rounds_halves_to_even(isa):
    x = np.arange(-40, 41, dtype=np.float32) / 2
    got = through(x[:, None], fbg.Requantize(1.0, 7, np.int8)).ravel()
    np.testing.assert_array_equal(got, np.rint(x) + 7)
    acc = np.arange(-40, 41).astype(np.int8)
    packed = fbg.PackedB(acc[None, :], scale=0.5)
    one = fbg.PackAWithRowOffset(np.ones((3, 1), np.uint8), scale=1.0)
    for pipeline in (
        fbg.Requantize(1.0, 7, np.int8),
        fbg.CorrectZeroPoints() >> fbg.Requantize(1.0, 7, np.int8),
    ):
        got = fbg.gemm(one, packed, pipeline)
        np.testing.assert_array_equal(got, np.broadcast_to(np.rint(acc / 2) + 7, (3, 81)))


def test_requantized_rows_that_are_not_finite_give_the_lowest(isa):
    x = np.ones((3, 4), np.float32)
    x[1, 2] = np.nan
    packed = fbg.PackedB(np.ones((4, 20), np.float32))
    got = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.Requantize(0.1, 3, np.int8))
    assert (got[1] == -128).all()
    assert (got[[0, 2]] == 43).all()


def test_relu_keeps_integers_exact(isa):
    b = np.array([[127, -128, 0, 1, -1]], np.int8)
    packed = fbg.PackedB(np.repeat(b, 5, axis=1), scale=1.0)
    a = fbg.PackAWithRowOffset(np.array([[255], [1], [0]], np.uint8), scale=1.0)
    got = fbg.gemm(a, packed, fbg.CorrectZeroPoints() >> fbg.ReLU())
    wanted = np.maximum(np.array([[255], [1], [0]]) * np.repeat(b, 5, axis=1).astype(int), 0)
    np.testing.assert_array_equal(got, wanted)
