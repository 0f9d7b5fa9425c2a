"""What a look-up refuses, and that it writes nothing then."""

from __future__ import annotations

import numpy as np
import pytest

import fbg
from fbg.quantization import quantize_rowwise
from fbg.tables.arguments import _summed

F32 = np.float32
TABLE = np.arange(40, dtype=F32).reshape(10, 4)
BAG = fbg.EmbeddingBag(TABLE)
FUSED = quantize_rowwise(TABLE).fused()
I = np.array([1, 2, 3])  # noqa: E741
O = np.array([0, 1])  # noqa: E741
W = np.ones(3, F32)


def changed(array, at, value):
    copy = array.copy()
    copy.flat[at] = value
    return copy


TABLES = {
    "EmbeddingBag: table must be an array, got list": lambda: fbg.EmbeddingBag([[1.0]]),
    "table must be float32, float16 or bfloat16, got float64": lambda: fbg.EmbeddingBag(
        TABLE.astype(np.float64)
    ),
    r"table must be 2-D \(rows, columns\), got shape \(4,\)": lambda: fbg.EmbeddingBag(TABLE[0]),
    "table must have 1 to 16777216 columns, got 0": lambda: fbg.EmbeddingBag(TABLE[:, :0]),
    "dtype must be .*'int2' or 'float8_e4m3fn', got 'int5'": lambda: fbg.EmbeddingBag(
        TABLE, "int5"
    ),
    "dtype must be None or 'int8' for this table, got 'int4'": lambda: fbg.EmbeddingBag(
        quantize_rowwise(TABLE), "int4"
    ),
    "mode must be 'sum', 'mean' or 'max', got 'min'": lambda: fbg.EmbeddingBag(
        TABLE,
        mode="min",
    ),
    r"padding_idx must be within \[-10, 9\], got 10": lambda: fbg.EmbeddingBag(
        TABLE, padding_idx=10
    ),
    r"prefetch must be within \[0, 32768\], got -1": lambda: fbg.EmbeddingBag(TABLE, prefetch=-1),
    "include_last_offset must be True or False, got 1": lambda: fbg.EmbeddingBag(
        TABLE,
        include_last_offset=1,
    ),
    "unexpected keyword argument 'modes'": lambda: fbg.EmbeddingBag(TABLE, modes="sum"),
    r"table, row 2, must be finite, got nan at \(1,\)": lambda: fbg.EmbeddingBag(
        changed(TABLE, 9, np.nan), "int8"
    ),
    "table must fit a float16 scale and bias, got row 3 within": lambda: fbg.EmbeddingBag(
        changed(TABLE, 12, -1e6), "int4"
    ),
    r"table must fit float16, got 1000000.0 at \(0, 1\)": lambda: fbg.EmbeddingBag(
        changed(TABLE, 1, 1e6), "float16"
    ),
    "fused must be uint8, got float32": lambda: fbg.EmbeddingBag.from_fused(TABLE, 4),
    "fused must have 12 bytes per row for 4 columns of int8 and float32, got 11": lambda: (
        fbg.EmbeddingBag.from_fused(FUSED[:, :11], 4)
    ),
    r"columns must be within \[1, 16777216\], got 0": lambda: fbg.EmbeddingBag.from_fused(FUSED, 0),
    "dtype must be 'int8', 'int4', 'int2' or 'float8_e4m3fn', got 'float32'": lambda: (
        fbg.EmbeddingBag.from_fused(FUSED, 4, "float32")
    ),
    r"scale and bias of each row must be finite, got nan at \(0, 0\)": lambda: (
        fbg.EmbeddingBag.from_fused(
            np.concatenate([FUSED[:, :4], np.full((10, 2), np.nan, F32).view(np.uint8)], axis=1), 4
        )
    ),
}

CALLS = {
    "indices must be an array, got list": lambda out: BAG([1], O, out=out),
    "indices must be int32 or int64, got float32": lambda out: BAG(W, O, out=out),
    "indices must be int32 or int64, got uint8": lambda out: BAG(I.astype(np.uint8), O, out=out),
    r"indices must be 1-D or 2-D \(bags, length\), got shape \(\)": lambda out: BAG(
        I[0].reshape(()), O, out=out
    ),
    "1-D indices need offsets": lambda out: BAG(I, out=out),
    r"offsets go with 1-D indices, got shape \(1, 3\)": lambda out: BAG(I[None], O, out=out),
    "offsets must be int32 or int64, got float32": lambda out: BAG(I, W, out=out),
    r"offsets must be 1-D, got shape \(1, 2\)": lambda out: BAG(I, O[None], out=out),
    "offsets must begin with 0, got 1": lambda out: BAG(I, np.array([1, 1]), out=out),
    "offsets must begin with 0, got -1": lambda out: BAG(I, np.array([-1, 1]), out=out),
    "offsets must be at most 3, the number of indices, got 4 at 1": lambda out: BAG(
        I, np.array([0, 4]), out=out
    ),
    "offsets must be at most 3, the number of indices, got 4294967297 at 1": lambda out: BAG(
        I.astype(np.int32), np.array([0, 2**32 + 1]), out=out
    ),
    "offsets must not fall, got 3, 2 at 1": lambda out: BAG(
        I, np.array([0, 3, 2]), out=np.empty((3, 4), F32)
    ),
    r"indices must be within \[0, 10\), got 10 at 2": lambda out: BAG(
        np.array([0, 1, 10]), O, out=out
    ),
    r"indices must be within \[0, 10\), got -1 at 1": lambda out: BAG(
        np.array([0, -1, 2], np.int32), O, out=out
    ),
    r"indices must be within \[0, 10\), got 4611686018427387904 at \(1, 0\)": lambda out: BAG(
        np.array([[0, 1], [2**62, 0]]), out=out
    ),
    r"lengths go with 1-D indices, got shape \(1, 3\)": lambda out: BAG(
        I[None], lengths=O, out=out
    ),
    "lengths must be None with offsets, got both": lambda out: BAG(I, O, lengths=O, out=out),
    "lengths must be int32 or int64, got float32": lambda out: BAG(I, lengths=W, out=out),
    r"lengths must be 1-D, got shape \(1, 2\)": lambda out: BAG(I, lengths=O[None], out=out),
    r"lengths must be within \[0, 3\], got -1 at \(1,\)": lambda out: BAG(
        I, lengths=np.array([3, -1]), out=out
    ),
    r"lengths must be within \[0, 3\], got 4611686018427387904 at \(0,\)": lambda out: BAG(
        I, lengths=np.array([2**62, 3]), out=out
    ),
    "lengths must add up to 3, the number of indices, got 4": lambda out: BAG(
        I, lengths=np.array([2, 2]), out=out
    ),
    "lengths must add up to 3, the number of indices, got 0": lambda out: BAG(
        I, lengths=np.array([], np.int64), out=out[:0]
    ),
    "per_sample_weights must be float32, got float64": lambda out: BAG(
        I, O, W.astype(np.float64), out=out
    ),
    r"per_sample_weights must have the shape of indices, \(3,\), got \(2,\)": lambda out: BAG(
        I, O, W[:2], out=out
    ),
    "per_sample_weights go with the modes sum and mean, got mode 'max'": lambda out: (
        fbg.EmbeddingBag(TABLE, mode="max")(I, O, W, out=out)
    ),
    "out must be a NumPy array, got list": lambda out: BAG(I, O, out=[]),
    "out must be float32, got float64": lambda out: BAG(I, O, out=out.astype(np.float64)),
    r"out must have shape \(2, 4\), got \(2, 3\)": lambda out: BAG(I, O, out=out[:, :3]),
    "out must have contiguous rows": lambda out: BAG(I, O, out=np.empty((4, 2), F32).T),
    "out must have rows that do not overlap": lambda out: BAG(
        I, O, out=np.lib.stride_tricks.as_strided(np.empty(9, F32), (2, 4), (4, 4))
    ),
    "out must be writable and aligned": lambda out: BAG(I, O, out=np.broadcast_to(out[:1], (2, 4))),
    "out must not overlap the table": lambda out: BAG(I, O, out=TABLE[4:6]),
    r"num_threads must be within \[1, 1024\], got 0": lambda out: BAG(I, O, out=out, num_threads=0),
}


@pytest.mark.parametrize("message", TABLES)
def test_tables_that_are_refused(message):
    with pytest.raises((TypeError, ValueError), match=message):
        TABLES[message]()


@pytest.mark.parametrize("message", CALLS)
def test_calls_that_are_refused_write_nothing(isa, message):
    out, before = np.full((2, 4), 7, F32), TABLE.copy()
    with pytest.raises((TypeError, ValueError), match=message) as error:
        CALLS[message](out)
    assert str(error.value).startswith("EmbeddingBag: ")
    assert (out == 7).all() and np.array_equal(TABLE, before)


def test_a_late_index_is_found_by_all_threads_before_anything_is_written():
    bag = fbg.EmbeddingBag(np.ones((1000, 64), F32))
    indices = np.zeros((3000, 5), np.int64)
    indices[2999, 4] = 1000
    out = np.full((3000, 64), 7, F32)
    for threads in (1, 2):
        with pytest.raises(ValueError, match=r"got 1000 at \(2999, 4\)"):
            bag(indices, out=out, num_threads=threads)
    assert (out == 7).all()


def test_tables_without_rows_have_empty_bags_only():
    bag = fbg.EmbeddingBag(np.ones((0, 3), F32), "int8")
    assert bag(np.zeros(0, np.int64), np.array([0, 0])).tolist() == [[0.0] * 3] * 2
    with pytest.raises(ValueError, match=r"indices must be within \[0, 0\), got 0 at 0"):
        bag(np.array([0]), np.array([0]))


def test_bags_that_end_past_the_type_of_indices_are_refused():
    indices = np.broadcast_to(np.int32(0), (2**31,))
    with pytest.raises(ValueError, match="so many indices need int64, got 2147483648 of"):
        _summed(indices, np.array([2**31]), "lengths")
