"""Products of float16 weights whose sums are float16 (accum="float16")."""

from __future__ import annotations

import numpy as np
import pytest

import fbg
from fbg import _fbg

DEPTH = 128  # of what is summed in float16
MULTIPLIES = "avx512_fp16"

needs_float16 = pytest.mark.skipif(
    MULTIPLIES not in fbg.isa.supported(), reason="the CPU does not multiply float16"
)


def multiply_add(a, b, c):
    """Round a * b + c to float16 once: in float64, products are exact, and so are sums near the
    middle of two float16.
    """
    exact = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    with np.errstate(over="ignore"):
        return exact.astype(np.float16)


def row_scales(x):
    """The power of two that takes the largest magnitude of each row to between 1 and 2."""
    largest = np.abs(x).max(axis=1, initial=0)
    _, exponent = np.frexp(largest)
    powers = np.ldexp(np.float32(1), np.clip(exponent - 1, -126, 126))
    return np.where((largest > 0) & np.isfinite(largest), powers, 1).astype(np.float32)


def product(x, w):
    """x @ w as include/fbg/core/types.h defines it (Float16)."""
    scale = row_scales(x)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = (x / scale).astype(np.float16), w.astype(np.float16)
    total = np.zeros((len(x), w.shape[1]), np.float32)
    for begin in range(0, x.shape[1], DEPTH):
        size = min(DEPTH, x.shape[1] - begin)
        sums = np.zeros((2, *total.shape), np.float16)
        for k in range(size):
            half = k % 2 if k < size // 4 * 4 else 0
            at = begin + k
            sums[half] = multiply_add(a[:, at : at + 1], b[at], sums[half])
        both = multiply_add(sums[1], np.ones((), np.float16), sums[0])
        # The product with a power of two is exact, so that the sum is rounded once.
        total = (both.astype(np.float32) * scale + total).astype(np.float32)
    return total


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def packed(w, accum="float16"):
    return fbg.PackedB(w, dtype="float16", accum=accum)


@needs_float16
@pytest.mark.parametrize("m", [1, 2, 6, 7, 8, 13, 29])
@pytest.mark.parametrize("k", [1, 3, 127, 128, 130, 390])
@pytest.mark.parametrize("n", [1, 16, 33, 64, 135])
def test_every_bit_is_that_of_the_definition(m, k, n):
    x, w = normal(m, k), normal(k, n, seed=1)
    with fbg.isa.limit(MULTIPLIES):
        result = fbg.gemm(fbg.PackA(x), packed(w))
    np.testing.assert_array_equal(result, product(x, w))


@needs_float16
def test_a_deep_product_does_not_depend_on_how_k_and_the_rows_are_cut():
    x, w = normal(40, 9001), normal(9001, 40, seed=1)
    wp = packed(w)
    whole = fbg.gemm(fbg.PackA(x), wp)
    np.testing.assert_array_equal(whole, product(x, w))
    for rows in (1, 3, 7):
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x[:rows]), wp), whole[:rows])
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x), wp, num_threads=3), whole)


@needs_float16
def test_rows_of_any_magnitude_and_stride():
    x, w = normal(12, 100), normal(100, 50, seed=1)
    x *= np.ldexp(np.float32(1), np.linspace(-148, 120, 12).astype(int))[:, None]
    x[3] = 0
    expected = product(x, w)
    wp = packed(w)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x), wp), expected)
    wide = np.zeros((24, 300), np.float32)
    wide[::2, ::3] = x
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(wide[::2, ::3]), wp), expected)
    assert np.isfinite(expected).all()


@needs_float16
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_leaves_the_others_alone(value):
    x, w = normal(9, 70), normal(70, 40, seed=1)
    expected = fbg.gemm(fbg.PackA(x), packed(w))
    x[4, 5] = value
    result = fbg.gemm(fbg.PackA(x), packed(w))
    assert not np.isfinite(result[4]).any()
    others = np.arange(9) != 4
    np.testing.assert_array_equal(result[others], expected[others])


def test_the_largest_weights_do_not_overflow():
    x = np.full((8, 300), 1e38, np.float32)
    w = np.full((300, 35), 250, np.float32)
    x[1::2] /= 1e38
    result = fbg.gemm(fbg.PackA(x[1::2]), packed(w))
    np.testing.assert_allclose(result, 300 * 250, rtol=1e-2)
    with pytest.raises(ValueError, match=r"within ±250 for accum='float16', got 251\.0"):
        packed(np.full((2, 2), 251, np.float32))


def test_the_error_is_below_that_of_bfloat16():
    x, w = normal(64, 768), normal(768, 96, seed=1) * np.float32(0.05)
    exact = x.astype(np.float64) @ w.astype(np.float64)

    def error(result):
        return float(np.linalg.norm(result - exact) / np.linalg.norm(exact))

    rounded = fbg.PackedB(w, dtype="bfloat16")
    assert error(fbg.gemm(fbg.PackA(x), packed(w))) < 1.4e-3
    assert error(fbg.gemm(fbg.PackA(x, dtype="bfloat16"), rounded)) > 1.8e-3


def test_without_the_instructions_sums_are_float32(isa):
    x, w = normal(5, 300), normal(300, 40, seed=1)
    result = fbg.gemm(fbg.PackA(x), packed(w))
    in_floats = fbg.gemm(fbg.PackA(x), packed(w, "float32"))
    assert np.array_equal(result, in_floats) == (isa != MULTIPLIES)


def test_stages_and_prepared_products_and_kernels():
    x, w, bias = normal(9, 200), normal(200, 70, seed=1), normal(70, seed=2)
    wp = packed(w)
    expected = np.maximum(fbg.gemm(fbg.PackA(x), wp) + bias, 0)
    stages = fbg.Pipeline([fbg.Bias(bias), fbg.ReLU()])
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x), wp, stages), expected)
    np.testing.assert_array_equal(fbg.prepare(wp, stages, rows=9)(x), expected)
    np.testing.assert_array_equal(fbg.linear(x, wp, bias, activation="relu"), expected)
    if MULTIPLIES in fbg.isa.supported():
        names = [name for _, name, *_ in _fbg.kernels()]
        assert any(name.startswith("gemm_fp16_f16_f16_") for name in names)


def test_weights_say_how_they_are_summed_and_are_saved_with_it(tmp_path):
    w = normal(40, 33)
    wp = packed(w)
    assert (wp.accum, wp.dtype) == ("float16", np.float16)
    assert "float16, accum=float16" in repr(wp)
    np.testing.assert_array_equal(wp.unpack(), w.astype(np.float16))
    wp.save(tmp_path / "w.fbg")
    read = fbg.PackedB.load(tmp_path / "w.fbg")
    assert read.accum == "float16"
    x = normal(3, 40, seed=1)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x), read), fbg.gemm(fbg.PackA(x), wp))


def test_only_float16_weights_have_such_sums():
    for dtype in ("float32", "bfloat16", "int8", "int4", None):
        with pytest.raises(ValueError, match="accum of"):
            fbg.PackedB(normal(32, 4), dtype=dtype, accum="float16")
    with pytest.raises(TypeError, match="PackA of float32"):
        fbg.gemm(fbg.PackA(normal(2, 4), dtype="bfloat16"), packed(normal(4, 4)))
