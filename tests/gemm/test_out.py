"""The result of a product: what is written and where, and which arrays `out` may overlap."""

import numpy as np
import pytest

import fbg
from helpers.formulas import KERNEL_ISA, assert_same_bits
from helpers.operands import random_f32, read_only

# --- out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros((3, 4), np.int64), TypeError, r"gemm: out must be int32, got int64"),
        (np.zeros((3, 4), np.float32), TypeError, r"gemm: out must be int32, got float32"),
        (np.zeros((3, 4), ">i4"), TypeError, r"gemm: out must be int32, got >i4"),
        ([[0] * 4] * 3, TypeError, r"gemm: out must be a NumPy array, got list"),
        (
            np.zeros((4, 3), np.int32),
            ValueError,
            r"out must have shape \(3, 4\), got \(4, 3\)",
        ),
        (np.zeros(12, np.int32), ValueError, r"gemm: out must have shape \(3, 4\), got \(12,\)"),
        (np.zeros((1, 3, 4), np.int32), ValueError, r"gemm: out must have shape \(3, 4\), got"),
        (np.zeros((4, 3), np.int32).T, ValueError, r"gemm: out must have contiguous rows"),
        (np.zeros((3, 8), np.int32)[:, ::2], ValueError, r"gemm: out must have contiguous rows"),
        (np.zeros((3, 4), np.int32)[:, ::-1], ValueError, r"gemm: out must have contiguous rows"),
        (np.zeros((3, 4), np.int32)[::-1], ValueError, r"gemm: out must have rows that neither"),
        (read_only(np.zeros((3, 4), np.int32)), ValueError, r"gemm: out is read-only"),
        (
            np.lib.stride_tricks.as_strided(np.zeros(30, np.int32), (3, 4), (8, 4)),
            ValueError,
            r"gemm: out must have rows that neither overlap",
        ),
        (np.zeros(50, np.int8)[1:49].view(np.int32).reshape(3, 4), ValueError, r"gemm: .*aligned"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_untouched(out, error, message):
    before = np.array(out)
    a, b = fbg.PackA(np.ones((3, 2), np.uint8)), fbg.PackedB(np.ones((2, 4), np.int8))
    with pytest.raises(error, match=message):
        fbg.gemm(a, b, out=out)
    np.testing.assert_array_equal(np.array(out), before)


def test_out_may_not_overlap_a():
    store = np.zeros(4096, np.uint8)
    a = store[: 5 * 16].reshape(5, 16)
    b = fbg.PackedB(np.ones((16, 4), np.int8))
    for first in (0, 4, 76):
        out = store[first : first + 5 * 4 * 4].view(np.int32).reshape(5, 4)
        with pytest.raises(ValueError, match="gemm: out must not overlap the left operand"):
            fbg.gemm(fbg.PackA(a), b, out=out)
    beside = store[80:160].view(np.int32).reshape(5, 4)
    fbg.gemm(fbg.PackA(a), b, out=beside)


def test_out_may_not_overlap_an_a_that_runs_backwards():
    store = np.zeros((8, 16), np.float32)
    b = fbg.PackedB(np.ones((16, 16), np.float32), dtype="float32")
    with pytest.raises(ValueError, match="gemm: out must not overlap the left operand"):
        fbg.gemm(fbg.PackA(store[3::-1, ::-1]), b, out=store[:4])
    fbg.gemm(fbg.PackA(store[3::-1, ::-1]), b, out=store[4:])


@pytest.mark.parametrize("threads", [1, 2])
def test_out_may_be_the_residual(isa, threads):
    rng = np.random.default_rng(10)
    a, b = random_f32(rng, 13, 20), random_f32(rng, 20, 37)
    packed = fbg.PackedB(b, dtype="float32")
    store = random_f32(rng, 13, 50)
    out = store[:, 5:42]
    wanted = fbg.gemm(fbg.PackA(a), packed) + out
    fbg.gemm(fbg.PackA(a), packed, fbg.Add(out), out=out, num_threads=threads)
    assert_same_bits(out.copy(), wanted)


def test_out_may_lie_beside_operands_in_the_same_rows(isa):
    rng = np.random.default_rng(20)
    store = random_f32(rng, 6, 30)
    a, residual, out = store[:, :10], store[:, 10:17], store[:, 17:24]
    packed = fbg.PackedB(random_f32(rng, 10, 7), dtype="float32")
    wanted = fbg.gemm(fbg.PackA(a.copy()), packed, fbg.Add(residual.copy()))
    before = store.copy()
    fbg.gemm(fbg.PackA(a), packed, fbg.Add(residual), out=out)
    assert_same_bits(out.copy(), wanted)
    out[:] = before[:, 17:24]
    assert_same_bits(store, before)
    with pytest.raises(ValueError, match="gemm: out must not overlap the left operand"):
        fbg.gemm(fbg.PackA(a), packed, fbg.Add(residual), out=store[:, 9:16])
    with pytest.raises(ValueError, match="gemm: out must not overlap the left operand"):
        fbg.gemm(fbg.PackA(store[:, 20:]), packed, out=store[:, 14:21])


def test_out_may_not_overlap_the_residual_in_part():
    store = np.zeros((6, 4), np.float32)
    a, b = fbg.PackA(np.ones((5, 2), np.float32)), np.ones((2, 4), np.float32)
    packed = fbg.PackedB(b, dtype="float32")
    with pytest.raises(
        ValueError, match="gemm: out may be the residual of Add, but must not overlap it"
    ):
        fbg.gemm(a, packed, fbg.Add(store[:-1]), out=store[1:])


def test_out_may_not_overlap_the_bias():
    store = np.zeros((5, 4), np.float32)
    a, b = fbg.PackA(np.ones((5, 2), np.float32)), np.ones((2, 4), np.float32)
    packed = fbg.PackedB(b, dtype="float32")
    with pytest.raises(ValueError, match="gemm: out must not overlap the array of Bias"):
        fbg.gemm(a, packed, fbg.Bias(store[2]), out=store)


# --- Results that no cache holds ------------------------------------------------------------------


def misaligned(m, n, dtype):
    """An (m, n) array that begins 16 bytes after a cache line does."""
    memory = np.zeros(m * n * 4 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + 16
    return memory[start : start + m * n * 4].view(dtype).reshape(m, n)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [2304, 2320])
def test_results_written_past_the_caches_are_the_same(isa, threads, columns):
    rng = np.random.default_rng(columns)
    m, k = 1000, 256 if isa == "avx512_amx" else 5  # AMX serves deep products only
    w = fbg.PackedB(random_f32(rng, k, columns))
    x, residual = random_f32(rng, m, k), random_f32(rng, m, columns)
    a = fbg.PackAWithQuantRowOffset(x)
    pipeline = fbg.Dequantize() >> fbg.Add(residual)
    want = fbg.gemm(a, w, pipeline, misaligned(m, columns, np.float32), threads)
    assert_same_bits(fbg.gemm(a, w, pipeline, num_threads=threads), want)
    if isa != "generic":
        ours = KERNEL_ISA["int32"][isa]
        assert any(k.isa == ours and "_stream_Dequantize_Add" in k.name for k in fbg.kernels())

    raw = fbg.gemm(fbg.PackA(x), fbg.PackedB(w.dequantize(), dtype="float32"), num_threads=threads)
    small = fbg.gemm(fbg.PackA(x[-7:]), fbg.PackedB(w.dequantize(), dtype="float32"))
    assert_same_bits(raw[-7:], small)


def test_long_sums_written_past_the_caches_are_the_same(isa):
    if isa == "generic":
        return  # generates nothing; seconds of portable code
    rng = np.random.default_rng(9)
    m, n, k = 1000, 2304, 1100  # K is cut
    w, a = fbg.PackedB(random_f32(rng, k, n), dtype="float32"), fbg.PackA(random_f32(rng, m, k))
    want = fbg.gemm(a, w, out=misaligned(m, n, np.float32))
    assert_same_bits(fbg.gemm(a, w), want)
