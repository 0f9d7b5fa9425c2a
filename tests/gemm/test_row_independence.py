"""Rows: the same bits in any matrix and on any number of threads, whatever the other rows hold."""

import itertools
from functools import partial

import numpy as np
import pytest

import fbg
from helpers.callers import call_together
from helpers.formulas import assert_same_bits, integer_output, product, quantize_rows
from helpers.operands import random_f32, random_s8, random_u8

# --- Empty matrices -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", list(itertools.product((0, 3), (0, 5), (0, 4))), ids=str)
def test_empty_matrices_are_legal(isa, shape):
    m, n, k = shape
    a, b = np.ones((m, k), np.uint8), np.ones((k, n), np.int8)
    x, w = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    bias = np.arange(n, dtype=np.float32)
    kept = fbg.PackedB(w, dtype="float32")
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), np.full((m, n), k))
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x), kept), np.full((m, n), k))
    for packed in (fbg.PackedB(w), fbg.PackedB(w, symmetric=False)):
        for packer in (
            fbg.PackAWithQuantRowOffset(x),
            fbg.PackAWithQuantRowOffset(x, granularity="tensor"),
            fbg.PackAWithRowOffset(a, scale=1.0, zero_point=0),
        ):
            got = fbg.gemm(packer, packed, fbg.Dequantize() >> fbg.Bias(bias))
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, np.full((m, n), k) + bias, rtol=1e-2)
            np.testing.assert_array_equal(
                fbg.gemm(packer, packed, fbg.CorrectZeroPoints(), out=np.ones((m, n), np.int32))
                == 0,
                np.full((m, n), k == 0),
            )
    np.testing.assert_allclose(
        fbg.linear(x, fbg.PackedB(w), bias), np.full((m, n), k) + bias, rtol=1e-2
    )


# --- Same bits ------------------------------------------------------------------------------------

# How rows are packed, how weights are.
KINDS = {
    **{
        dtype: (fbg.PackA, partial(fbg.PackedB, dtype=dtype))
        for dtype in ("float32", "float16", "bfloat16")
    },
    "bfloat16 x": (partial(fbg.PackA, dtype="bfloat16"), partial(fbg.PackedB, dtype="bfloat16")),
    "int8": (fbg.PackAWithQuantRowOffset, partial(fbg.PackedB, symmetric=False)),
    "int4": (fbg.PackAWithQuantRowOffset, partial(fbg.PackedB, dtype="int4")),
    "int4 offsets": (
        fbg.PackAWithQuantRowOffset,
        partial(fbg.PackedB, dtype="int4", group=128, symmetric=False),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_same_alone_in_any_matrix_and_on_any_number_of_threads(isa, kind):
    rng = np.random.default_rng(11)
    pack_a, pack_b = KINDS[kind]
    for n, k in [(65, 70), (129, 33), (768, 96), (48, 4300)]:  # of the last, K is cut
        x, packed = random_f32(rng, 60, k), pack_b(random_f32(rng, k, n))
        pipeline = fbg.Bias(random_f32(rng, n)) >> fbg.GELU()
        if kind == "int8":
            pipeline = fbg.Dequantize() >> pipeline
        whole = fbg.gemm(pack_a(x), packed, pipeline)
        for m in (*range(1, 28), 35, 48, 49, 60) if n < 100 and k < 100 else (1, 6, 13, 28, 60):
            for threads in (1, 2, 3):
                first = (m * 7) % (61 - m)
                rows = pack_a(x[first : first + m])
                got = fbg.gemm(rows, packed, pipeline, num_threads=threads)
                assert_same_bits(got, whole[first : first + m])


def test_columns_do_not_depend_on_their_neighbours(isa):
    rng = np.random.default_rng(12)
    x, w = random_f32(rng, 5, 50), random_f32(rng, 50, 130)
    whole = fbg.gemm(fbg.PackA(x), fbg.PackedB(w, dtype="float32"))
    for n in (1, 15, 16, 33, 97):
        part = fbg.gemm(fbg.PackA(x), fbg.PackedB(w[:, 130 - n :], dtype="float32"))
        assert_same_bits(part, whole[:, 130 - n :].copy())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_gives_nan_and_leaves_the_others_alone(isa, bad, threads):
    rng = np.random.default_rng(13)
    x, w = random_f32(rng, 14, 37), random_f32(rng, 37, 40)
    for symmetric in (True, False):
        packed = fbg.PackedB(w, symmetric=symmetric)
        clean = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.Dequantize())
        spoilt = x.copy()
        spoilt[3, 36] = spoilt[9, 0] = bad
        pipeline = fbg.Dequantize() >> fbg.ReLU() >> fbg.GELU()
        got = fbg.gemm(
            fbg.PackAWithQuantRowOffset(spoilt), packed, fbg.Dequantize(), num_threads=threads
        )
        assert np.isnan(got[[3, 9]]).all()
        others = [i for i in range(14) if i not in (3, 9)]
        assert_same_bits(got[others], clean[others])
        activated = fbg.gemm(fbg.PackAWithQuantRowOffset(spoilt), packed, pipeline)
        np.testing.assert_array_equal(np.isnan(activated), np.isnan(got))
        backwards = np.asfortranarray(spoilt)
        assert_same_bits(
            fbg.gemm(fbg.PackAWithQuantRowOffset(backwards), packed, fbg.Dequantize()), got
        )
        per_tensor = fbg.PackAWithQuantRowOffset(spoilt, granularity="tensor")
        assert np.isnan(fbg.gemm(per_tensor, packed, fbg.Dequantize())).all()


def test_a_row_of_zeros_gives_zeros(isa):
    rng = np.random.default_rng(14)
    x, w = random_f32(rng, 5, 30), random_f32(rng, 30, 20)
    x[2] = 0
    got = fbg.gemm(
        fbg.PackAWithQuantRowOffset(x), fbg.PackedB(w, symmetric=False), fbg.Dequantize()
    )
    assert (got[2] == 0).all() and np.isfinite(got).all()


@pytest.mark.parametrize("magnitude", [1e-45, 1e-38, 1e-30, 1e30, 3.4e38])
def test_rows_of_any_magnitude_follow_the_formula(isa, magnitude):
    rng = np.random.default_rng(15)
    x = rng.uniform(-1, 1, (3, 40)) * magnitude
    x = x.astype(np.float32)
    b = random_s8(rng, 40, 9)
    packed = fbg.PackedB(b, scale=1.0, zero_point=3)
    quant = quantize_rows(x)
    output = integer_output(quant.q, quant.scale, quant.zero_point, b, 1.0, 3)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed), output.result)
    output.correct_zero_points()
    np.testing.assert_array_equal(
        fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.CorrectZeroPoints()), output.result
    )


# --- Threads --------------------------------------------------------------------------------------


@pytest.mark.races
def test_many_python_threads_may_multiply_at_once(isa):
    rng = np.random.default_rng(16)
    jobs = [(m, n, k) for m in (1, 7, 30) for n in (17, 130) for k in (33, 200)]
    operands = [(random_u8(rng, m, k), random_s8(rng, k, n)) for m, n, k in jobs]

    def multiply(first):
        for i in range(len(jobs) * 3):
            a, b = operands[(first + i) % len(jobs)]
            got = fbg.gemm(fbg.PackA(a), fbg.PackedB(b), num_threads=1 + i % 3)
            np.testing.assert_array_equal(got, product(a, b))

    call_together(8, multiply)
