"""RowRange: the least and greatest value of each row, as a side output of the pipeline."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.compositions import row_extents
from helpers.formulas import assert_same_bits


@settings(max_examples=50)
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 300),
    threads=st.integers(1, 4),
    special=st.lists(
        st.tuples(st.integers(0, 39), st.integers(0, 299), st.sampled_from([np.nan, np.inf, 0.0])),
        max_size=4,
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_row_range_is_that_of_the_result(isa, m, n, threads, special, seed):
    rng = np.random.default_rng(seed)
    x, w = (rng.standard_normal(shape, dtype=np.float32) for shape in ((m, 3), (3, n)))
    residual = rng.standard_normal((m, n), dtype=np.float32)
    for i, j, value in special:
        residual[i % m, j % n] = value
    extents = np.full((m, 2), 7, np.float32)
    pipeline = fbg.Dequantize() >> fbg.Add(residual)
    packed = fbg.PackedB(w)
    got = fbg.gemm(
        fbg.PackAWithQuantRowOffset(x), packed, pipeline >> fbg.RowRange(extents), None, threads
    )
    assert_same_bits(got, fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, pipeline))
    assert_same_bits(extents, row_extents(got))
    # Who quantizes the result need not look for it again.
    second = fbg.PackedB(rng.standard_normal((n, 20), dtype=np.float32), symmetric=False)
    known = fbg.PackAWithQuantRowOffset(got, row_range=extents)
    assert_same_bits(
        fbg.gemm(known, second, fbg.Dequantize(), num_threads=threads),
        fbg.gemm(fbg.PackAWithQuantRowOffset(got), second, fbg.Dequantize()),
    )


def test_prepared_calls_hand_row_ranges_on(isa):
    rng = np.random.default_rng(6)
    up = fbg.PackedB(rng.standard_normal((30, 90), dtype=np.float32))
    down = fbg.PackedB(rng.standard_normal((90, 30), dtype=np.float32))
    extents, hidden = np.empty((8, 2), np.float32), np.empty((8, 90), np.float32)
    first = fbg.prepare(up, [fbg.Dequantize(), fbg.GELU(), fbg.RowRange(extents)], rows=8)
    second = fbg.prepare(down, fbg.Dequantize(), rows=8, row_range=extents)
    for m in (8, 3, 1):
        x = rng.standard_normal((m, 30), dtype=np.float32)
        y = second(first(x, hidden[:m]), np.empty((m, 30), np.float32))
        assert_same_bits(extents[:m], row_extents(hidden[:m]))
        assert_same_bits(y, fbg.linear(fbg.linear(x, up, activation="gelu"), down))


def test_a_row_without_columns_has_an_empty_range():
    extents = np.zeros((2, 2), np.float32)
    empty = fbg.PackedB(np.zeros((3, 0), np.float32), dtype="float32")
    fbg.gemm(fbg.PackA(np.ones((2, 3), np.float32)), empty, fbg.RowRange(extents))
    np.testing.assert_array_equal(extents, [[np.inf, -np.inf]] * 2)
    # Such a row quantizes as it does without the range.
    w = fbg.PackedB(np.zeros((0, 3), np.float32))
    nothing = fbg.PackAWithQuantRowOffset(np.zeros((2, 0), np.float32), row_range=extents)
    np.testing.assert_array_equal(fbg.gemm(nothing, w, fbg.Dequantize()), np.zeros((2, 3)))


def test_a_row_range_must_fit_when_it_is_used():
    x = np.zeros((2, 4), np.float32)
    a = fbg.PackAWithQuantRowOffset(x, row_range=np.zeros((2, 2), np.float32))
    x.shape = (1, 8)
    with pytest.raises(ValueError, match="row_range of a has 2 rows, a has 1"):
        fbg.gemm(a, fbg.PackedB(np.zeros((8, 3), np.float32)), fbg.Dequantize())


FLAT = np.zeros(20, np.float32)


def part(begin):
    return FLAT[begin : begin + 4].reshape(2, 2)


X22 = part(0)
EYE = fbg.PackedB(np.eye(2, dtype=np.float32), dtype="float32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, fbg.RowRange(part(2))),
            "gemm: the array of RowRange must not overlap an operand",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, [fbg.Add(part(8)), fbg.RowRange(part(10))]),
            "gemm: the array of RowRange must not overlap an operand",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, fbg.RowRange(part(8)), out=part(8)),
            "gemm: out must not overlap the array of RowRange",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(X22), EYE, fbg.RowRange(np.zeros((3, 2), np.float32))),
            "gemm: RowRange must have 2 rows, as the result does, got 3 rows",
        ),
        (
            lambda: fbg.prepare(EYE, fbg.RowRange(part(8)), rows=2)(part(10), part(16)),
            "PreparedCall: the array of RowRange must not overlap an operand",
        ),
        (
            lambda: fbg.prepare(EYE, fbg.RowRange(part(8)), rows=2)(X22, part(10)),
            "PreparedCall: out must not overlap the array of RowRange",
        ),
    ],
)
def test_a_row_range_may_not_overlap_anything(call, message):
    with pytest.raises(ValueError, match=message):
        call()
