"""Prepared calls: what they bind, checked arrays, safe to share between threads."""

import gc
import re
import sys
import weakref

import numpy as np
import pytest

import fbg
from helpers.callers import call_together
from helpers.formulas import assert_same_bits
from helpers.operands import random_array
from helpers.refusals import refusals

U8, F32 = np.uint8, np.float32


# --- What is multiplied --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, ::2],
        lambda a: a[::2],
        lambda a: a[::-1],
        lambda a: a[:, ::-1],
        lambda a: np.asfortranarray(a),
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a.view(np.matrix),
    ],
)
def test_x_may_have_any_strides(view):
    rng = np.random.default_rng(1)
    x = view(random_array(rng, F32, 6, 10))
    w = fbg.PackedB(random_array(rng, F32, x.shape[1], 5))
    out = np.empty((len(x), 5), F32)
    fbg.prepare(w, fbg.Dequantize(), rows=6)(x, out)
    assert_same_bits(out, fbg.linear(np.array(x), w))


def test_arguments_may_be_named():
    call = fbg.prepare(fbg.PackedB(np.eye(3, dtype=F32), dtype="float32"), rows=1)
    x, out = np.ones((1, 3), F32), np.empty((1, 3), F32)
    assert call(out=out, x=x) is out and call(x, out=out) is out and (out == 1).all()


@pytest.mark.parametrize(("k", "n", "m"), [(0, 3, 2), (3, 0, 2), (3, 3, 0), (0, 0, 0)])
def test_empty_matrices_are_legal(k, n, m):
    call = fbg.prepare(fbg.PackedB(np.ones((k, n), F32), dtype="float32"), rows=2)
    got = call(np.ones((m, k), F32), np.ones((m, n), F32))
    np.testing.assert_array_equal(got, np.full((m, n), k, F32))


# --- What is bound ------------------------------------------------------------------------------


def test_the_first_rows_of_a_residual_are_used_and_changes_are_seen():
    w = fbg.PackedB(np.eye(3, dtype=F32), dtype="float32")
    residual = np.arange(12, dtype=F32).reshape(4, 3)
    call = fbg.prepare(w, fbg.Add(residual), rows=4)
    x, out = np.ones((2, 3), F32), np.empty((2, 3), F32)
    assert_same_bits(call(x, out), residual[:2] + 1)
    residual *= 2
    assert_same_bits(call(x, out), residual[:2] + 1)
    before = residual.copy()
    assert call(np.ones((4, 3), F32), residual) is residual
    assert_same_bits(residual, before + 1)


def test_a_call_keeps_what_it_needs_alive():
    rng = np.random.default_rng(3)
    w, bias, x = (
        random_array(rng, F32, 9, 20),
        random_array(rng, F32, 20),
        random_array(rng, F32, 4, 9),
    )
    wanted = fbg.linear(x, fbg.PackedB(w), bias)
    call = fbg.prepare(fbg.PackedB(w.copy()), fbg.Dequantize() >> fbg.Bias(bias.copy()), rows=4)
    gc.collect()
    junk = [np.full((9, 20), np.nan, F32) for _ in range(50)]
    assert_same_bits(call(x, np.empty((4, 20), F32)), wanted)
    del junk


def test_a_call_leaks_nothing():
    bias = np.ones(3, F32)
    alive = weakref.ref(bias)
    w = fbg.PackedB(np.eye(3, dtype=F32), dtype="float32")
    call = fbg.prepare(w, fbg.Bias(bias), rows=2)
    x, out = np.ones((2, 3), F32), np.empty((2, 3), F32)
    counts = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(100):
        call(x, out)
        with pytest.raises(ValueError):
            call(x, out[:1])
    assert (sys.getrefcount(x), sys.getrefcount(out)) == counts
    del bias, call
    gc.collect()
    assert alive() is None


def test_kernels_stay_those_of_the_isa_it_was_made_under():
    rng = np.random.default_rng(4)
    w = fbg.PackedB(random_array(rng, F32, 100, 40), dtype="float32")
    x, out = random_array(rng, F32, 3, 100), np.empty((3, 40), F32)
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            call, wanted = fbg.prepare(w, rows=3), fbg.gemm(fbg.PackA(x), w)
        assert_same_bits(call(x, out), wanted)


@pytest.mark.races
def test_one_call_may_be_shared_by_threads():
    rng = np.random.default_rng(5)
    w = fbg.PackedB(random_array(rng, F32, 200, 300))
    call = fbg.prepare(w, fbg.Dequantize(), rows=8, num_threads=2)

    def multiply(seed):
        rng = np.random.default_rng(seed)
        for _ in range(20):
            x = random_array(rng, F32, 8, 200)
            got = call(x, np.empty((8, 300), F32))
            assert_same_bits(got, fbg.linear(x, w, num_threads=1))

    call_together(6, multiply)


# --- What is refused ----------------------------------------------------------------------------

W = fbg.PackedB(np.ones((3, 4), F32))
X, OUT = np.ones((2, 3), F32), np.full((2, 4), 7, F32)
MISALIGNED = np.zeros(25, U8)[1:].view(F32).reshape(2, 3)
SHARED = np.zeros(14, F32)


@pytest.mark.parametrize(
    ("x", "out", "error", "message"),
    [
        (X.tolist(), OUT, TypeError, "x must be a NumPy array, got list"),
        (None, OUT, TypeError, "x must be a NumPy array, got NoneType"),
        (X.astype(np.float64), OUT, TypeError, "x must be float32, got float64"),
        (X.astype(">f4"), OUT, TypeError, "x must be float32, got >f4"),
        (X[0], OUT, ValueError, r"x must have shape \(M, 3\) with M <= 5, got \(3,\)"),
        (X[:, :2], OUT, ValueError, r"x must have shape \(M, 3\) with M <= 5, got \(2, 2\)"),
        (np.ones((6, 3), F32), OUT, ValueError, r"with M <= 5, got \(6, 3\)"),
        (MISALIGNED, OUT, ValueError, "x must be aligned to its elements"),
        (X, [0.0], TypeError, "out must be a NumPy array, got list"),
        (X, OUT.astype(np.int32), TypeError, "out must be float32, got int32"),
        (X, OUT.astype(">f4"), TypeError, "out must be float32, got >f4"),
        (X, OUT[:1], ValueError, r"out must have shape \(2, 4\), got \(1, 4\)"),
        (X, OUT[0], ValueError, r"out must have shape \(2, 4\), got \(4,\)"),
        (X, OUT[:, :3], ValueError, r"out must have shape \(2, 4\), got \(2, 3\)"),
        (X, np.zeros((4, 2), F32).T, ValueError, "out must have contiguous rows"),
        (X, OUT[::-1], ValueError, "out must have rows that neither overlap nor run backwards"),
        (X, np.broadcast_to(OUT[0], (2, 4)), ValueError, "out is read-only"),
        (
            SHARED[:6].reshape(2, 3),
            SHARED[5:13].reshape(2, 4),
            ValueError,
            "must not overlap the left operand",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(x, out, error, message):
    call = fbg.prepare(W, fbg.Dequantize(), rows=5)
    with pytest.raises(error, match=f"PreparedCall: .*{message}"):
        call(x, out)
    assert (OUT == 7).all()


def test_a_packer_of_another_array_is_refused():
    other = np.zeros((2, X.shape[1]), F32)
    with pytest.raises(ValueError, match=r"packer must pack the \(64, \d+\) array it is given"):
        fbg.prepare(
            W, fbg.Dequantize(), rows=64, packer=lambda _: fbg.PackAWithQuantRowOffset(other)
        )


def test_without_out_a_call_allocates_one():
    call = fbg.prepare(W, fbg.Dequantize(), rows=5)
    first, second = call(X), call(X, out=None)
    assert (call.rows, call.shape) == (5, (3, 4))
    assert first.dtype == call.dtype and not np.shares_memory(first, second)
    assert_same_bits(first, call(X, np.empty_like(first)))
    assert_same_bits(first, second)
    assert call(X, first) is first


def test_large_results_start_where_cache_lines_do():
    w = fbg.PackedB(np.ones((3, 96), np.int8))
    x = np.ones((200, 3), np.uint8)
    call = fbg.prepare(w, rows=200, x_dtype=np.uint8)
    for result in (call(x), fbg.gemm(fbg.PackA(x), w)):
        assert result.ctypes.data % 64 == 0 and result.flags.c_contiguous
        assert result.flags.writeable
        np.testing.assert_array_equal(result, 3)


def test_out_may_not_overlap_the_residual_in_part():
    buffer = np.zeros(9, F32)
    call = fbg.prepare(W, fbg.Dequantize() >> fbg.Add(buffer[:8].reshape(2, 4)), rows=2)
    with pytest.raises(
        ValueError, match="out may be the residual of Add, but must not overlap it in part"
    ):
        call(X, buffer[1:].reshape(2, 4))


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((), {}, "PreparedCall: needs the argument x"),
        ((X, OUT, OUT), {}, "PreparedCall: takes x and out, got 3 arguments"),
        ((X, OUT), {"out": OUT}, "PreparedCall: got two values for out"),
        ((X,), {"y": OUT}, "PreparedCall: unknown argument 'y'; it takes x and out"),
    ],
)
def test_other_arguments_are_a_type_error(arguments, keywords, message):
    with pytest.raises(TypeError, match=message):
        fbg.prepare(W, fbg.Dequantize(), rows=5)(*arguments, **keywords)


@refusals(
    type_errors={
        "weights must be a PackedB or a PackedConv, got": lambda: fbg.prepare(X, rows=1),
        "prepare: pipeline must be a Pipeline": lambda: fbg.prepare(W, 3, rows=1),
        "prepare: rows must be an integer": lambda: fbg.prepare(W, rows=1.5),
        "packer must make a PackA": lambda: fbg.prepare(W, rows=1, packer=np.copy),
        "prepare: x for int8 weights must be uint8, got float32": lambda: fbg.prepare(
            W, rows=1, packer=fbg.PackA, x_dtype=F32
        ),
        "prepare: float weights take PackA of float32, not this packer": lambda: fbg.prepare(
            fbg.PackedB(np.ones((3, 4), F32), dtype="float32"),
            rows=1,
            packer=fbg.PackAWithQuantRowOffset,
        ),
        "ReLU does not accept acc": lambda: fbg.prepare(W, fbg.ReLU(), rows=1),
        "cannot create 'fbg.PreparedCall' instances": lambda: fbg.PreparedCall(),
    },
    value_errors={
        "prepare: rows must be within": lambda: fbg.prepare(W, rows=0),
        "prepare: num_threads": lambda: fbg.prepare(W, rows=1, num_threads=0),
        "PackAWithQuantRowOffset: granularity must be 'row' or 'tensor', got 'column'": lambda: (
            fbg.prepare(W, rows=1, granularity="column")
        ),
        "prepare: Bias must have 4 values, as the result does, got 3 values": lambda: fbg.prepare(
            W, fbg.Dequantize() >> fbg.Bias(np.ones(3, F32)), rows=1
        ),
        "prepare: Add must have 5 x 4 values, as the result does, got 2 x 4 values": lambda: (
            fbg.prepare(W, fbg.Dequantize() >> fbg.Add(OUT), rows=5)
        ),
    },
)
def test_what_cannot_be_prepared_is_refused(refuse):
    refuse()


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("rows", [1, 2, 5, 13, 200])
def test_a_prepared_call_names_the_kernel_of_its_rows(isa, rows, dtype):
    packed = fbg.PackedB(np.ones((96, 160), np.float32), dtype=dtype)
    stages = fbg.Dequantize() if dtype == "int8" else None
    for threads in (1, 2):
        call = fbg.prepare(packed, stages, rows=rows, num_threads=threads)
        (height,) = re.findall(r"_(\d+)x\d+_", call.kernel)
        assert 1 <= int(height) <= rows
        assert isa == "generic" or call.kernel in {kernel.name for kernel in fbg.kernels()}
