"""Strassen's algorithm in `gemm` and `prepare`: near the sums in double, and the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg


@given(
    levels=st.sampled_from([1, 2]),
    rows=st.integers(1, 300),
    k=st.integers(1, 30),
    n=st.integers(1, 4),
    pad=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_products_are_near_those_in_double(
    isa: str, levels: int, rows: int, k: int, n: int, pad: int, seed: int
) -> None:
    side = 2**levels
    k, n = k * side, n * side * 16
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, k + pad), np.float32)[:, :k]  # rows apart by more than K
    w, bias = rng.standard_normal((k, n), np.float32), rng.standard_normal(n, np.float32)
    residual = rng.standard_normal((rows, n), np.float32)
    packed = fbg.PackedB(w, dtype="float32")
    stages = fbg.Bias(bias) >> fbg.Add(residual) >> fbg.ReLU()
    name = f"strassen{levels}"
    room = np.full((rows, n + pad), np.nan, np.float32)
    y = fbg.gemm(fbg.PackA(x), packed, stages, room[:, :n], 1, algorithm=name)
    expected = np.maximum(x.astype(np.float64) @ w.astype(np.float64) + bias + residual, 0)
    bound = 6.0**levels * 2.0**-22 * k * np.abs(x).max() * np.abs(w).max()  # for random signs
    assert np.abs(y - expected).max() <= bound + 2.0**-22 * np.abs(expected).max()
    assert np.isnan(room[:, n:]).all()

    again = fbg.gemm(fbg.PackA(x), packed, stages, num_threads=2, algorithm=name)
    np.testing.assert_array_equal(again, y)
    call = fbg.prepare(packed, stages, rows=rows, num_threads=2, algorithm=name)
    np.testing.assert_array_equal(call(x), y)
    np.testing.assert_array_equal(call(x, np.empty_like(y)), y)


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("k", [4, 1024, 32768])
def test_products_without_signs_keep_to_the_documented_bound(levels: int, k: int) -> None:
    x, w = np.full((3, k), 0.1, np.float32), np.full((k, 64), 0.7, np.float32)
    packed = fbg.PackedB(w, dtype="float32")
    y = fbg.gemm(fbg.PackA(x), packed, algorithm=f"strassen{levels}")
    m = k / 2**levels
    bound = 18.0**levels * (m**2 + 6 * m) * 2.0**-24 * x.max() * w.max()
    assert np.abs(y - x.astype(np.float64) @ w.astype(np.float64)).max() <= bound


def test_the_convolution_has_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((200, 64), np.float32)
    w = rng.standard_normal((64, 128), np.float32)
    y = fbg.gemm(fbg.PackA(x), fbg.PackedB(w, dtype="float32"), algorithm="strassen")
    wc = fbg.PackedConv(w.T[:, :, None], dtype="float32")
    np.testing.assert_array_equal(y, fbg.conv(x[None], wc, algorithm="strassen")[0])


def test_it_is_never_used_unless_it_is_asked_for() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((256, 256), np.float32)
    packed = fbg.PackedB(rng.standard_normal((256, 256), np.float32), dtype="float32")
    y = fbg.gemm(fbg.PackA(x), packed)
    assert np.array_equal(y[:7], fbg.gemm(fbg.PackA(x[:7]), packed))
    assert not np.array_equal(y, fbg.gemm(fbg.PackA(x), packed, algorithm="strassen"))


def test_a_prepared_call_describes_itself() -> None:
    packed = fbg.PackedB(np.ones((4, 64), np.float32), dtype="float32")
    call = fbg.prepare(packed, rows=5, algorithm="strassen2", num_threads=1)
    assert (call.rows, call.shape, call.dtype) == (5, (4, 64), np.float32)
    assert (call.algorithm, call.num_threads) == ("strassen2", 1)


FLOATS = fbg.PackedB(np.ones((4, 32), np.float32), dtype="float32")
X = np.ones((3, 4), np.float32)


def test_arguments_that_do_not_fit_are_named() -> None:
    a = fbg.PackA(X)
    with pytest.raises(ValueError, match=r"gemm: algorithm must be 'strassen'.*'winog"):
        fbg.gemm(a, FLOATS, algorithm="winograd")
    with pytest.raises(ValueError, match="multiples of 4 and N in multiples of 64, got K=4, N=32"):
        fbg.prepare(FLOATS, rows=3, algorithm="strassen2")
    half = fbg.PackedB(np.ones((4, 32), np.float32), dtype="float16")
    with pytest.raises(TypeError, match="requires float32 weights, got float16"):
        fbg.gemm(a, half, algorithm="strassen")
    with pytest.raises(TypeError, match="a must be PackA of a float32 x for algorithm, got"):
        fbg.gemm(fbg.PackAWithQuantRowOffset(X), FLOATS, algorithm="strassen")
    with pytest.raises(TypeError, match="gemm: a must be a packer such as PackA, got ndarray"):
        fbg.gemm(X, FLOATS, algorithm="strassen")  # type: ignore[arg-type]
    ranges = np.ones((3, 2), np.float32)
    quantizing = {"packer": fbg.PackAWithQuantRowOffset, "row_range": ranges}
    with pytest.raises(
        TypeError, match="prepare: packer must be PackA for algorithm='strassen', got"
    ):
        fbg.prepare(FLOATS, rows=3, algorithm="strassen", **quantizing)
    with pytest.raises(ValueError, match=r"gemm: algorithm must be 'strassen'.*, got list"):
        fbg.gemm(a, FLOATS, algorithm=["strassen"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gemm: num_threads"):
        fbg.gemm(a, FLOATS, num_threads=0, algorithm="strassen")
    with pytest.raises(TypeError, match="a must be PackA of a float32 x for algorithm"):
        fbg.gemm(fbg.PackA(X, dtype="bfloat16"), FLOATS, algorithm="strassen")


def test_arrays_that_do_not_fit_are_named() -> None:
    a = fbg.PackA(X)
    with pytest.raises(ValueError, match="gemm: K of a is 5, but packed_b has K = 4"):
        fbg.gemm(fbg.PackA(np.ones((3, 5), np.float32)), FLOATS, algorithm="strassen")
    with pytest.raises(ValueError, match=r"gemm: out must have shape \(3, 32\), got \(2, 32\)"):
        fbg.gemm(a, FLOATS, out=np.empty((2, 32), np.float32), algorithm="strassen")
    with pytest.raises(TypeError, match="gemm: out must be float32, got float64"):
        fbg.gemm(a, FLOATS, out=np.empty((3, 32)), algorithm="strassen")
    call = fbg.prepare(FLOATS, rows=3, algorithm="strassen")
    with pytest.raises(ValueError, match=r"StrassenCall: x must have shape \(3, 4\), got \(2"):
        call(X[:2])
    with pytest.raises(TypeError, match=r"StrassenCall: x must be float32, got float64"):
        call(X.astype(np.float64))
    x = np.ones((3, 32), np.float32)
    square = fbg.PackedB(np.ones((32, 32), np.float32), dtype="float32")
    with pytest.raises(ValueError, match="out must not overlap the left operand"):
        fbg.gemm(fbg.PackA(x), square, out=x, algorithm="strassen")
