"""Packed operands: what goes in comes out, whatever its layout; offsets, sizes and repr."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.operands import random_array

F32 = np.float32


def pack(w, **options):
    """Pack without quantizing: int8 stays int8, float32 stays float32."""
    dtype = getattr(w, "dtype", None)
    return fbg.PackedB(w, dtype="float32" if dtype == np.float32 else None, **options)


# --- Round trips ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@settings(max_examples=60)
@given(
    k=st.integers(0, 70),
    n=st.integers(0, 140),
    row_step=st.sampled_from([1, -1, 2, -3]),
    column_step=st.sampled_from([1, -1, 2, -3]),
    fortran=st.booleans(),
    transpose=st.booleans(),
    writeable=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_unpacking_gives_what_was_packed(
    dtype, k, n, row_step, column_step, fortran, transpose, writeable, seed
):
    rng = np.random.default_rng(seed)
    shape = (n, k) if transpose else (k, n)
    store = random_array(rng, dtype, shape[0] * 3, shape[1] * 3)
    w = np.asarray(store, order="F" if fortran else "C")[::row_step, ::column_step]
    w = w[: shape[0], : shape[1]]
    w.flags.writeable = writeable
    packed = pack(w, transpose=transpose)
    assert packed.shape == (k, n)
    assert packed.dtype == np.dtype(dtype)
    unpacked = packed.unpack()
    assert unpacked.dtype == packed.dtype and unpacked.flags.c_contiguous
    np.testing.assert_array_equal(unpacked, w.T if transpose else w)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_one_broadcast_row_may_be_packed(dtype):
    w = np.broadcast_to(random_array(np.random.default_rng(0), dtype, 1, 40), (9, 40))
    np.testing.assert_array_equal(pack(w).unpack(), w)


def test_every_int8_value_is_kept():
    w = np.arange(-128, 128).astype(np.int8).reshape(8, 32)
    np.testing.assert_array_equal(fbg.PackedB(w).unpack(), w)


def test_special_floats_are_kept():
    bits = np.array([0x80000000, 1, 0x7F7FFFFF, 0x00800000], np.uint32)
    w = bits.view(np.float32).reshape(2, 2)
    unpacked = fbg.PackedB(w, dtype="float32").unpack()
    np.testing.assert_array_equal(unpacked.view(np.uint32), w.view(np.uint32))


def test_packing_copies():
    w = np.ones((3, 3), np.int8)
    packed = fbg.PackedB(w)
    w[:] = 5
    np.testing.assert_array_equal(packed.unpack(), np.ones((3, 3)))
    packed.unpack()[:] = 7
    packed.column_offsets[:] = 7
    np.testing.assert_array_equal(packed.unpack(), np.ones((3, 3)))
    np.testing.assert_array_equal(packed.column_offsets, np.full(3, 3))


class HasArray:
    def __init__(self, array):
        self._array = array
        self.dtype = array.dtype

    def __array__(self, dtype=None, copy=None):
        return self._array


class HasDlpack:
    def __init__(self, array):
        self._array = array
        self.dtype = array.dtype

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [HasArray, HasDlpack])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_array_like_objects_are_taken(dtype, wrap):
    w = random_array(np.random.default_rng(1), dtype, 6, 5)
    np.testing.assert_array_equal(pack(wrap(w)).unpack(), w)
    np.testing.assert_array_equal(pack(wrap(w.T), transpose=True).unpack(), w)


# --- Column offsets, sizes, repr ------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (257, 64), (4, 95), (0, 3), (3, 0)])
def test_column_offsets_are_the_sums_of_the_columns(shape):
    rng = np.random.default_rng(2)
    w = random_array(rng, "int8", *shape)
    packed = fbg.PackedB(w)
    assert packed.column_offsets.dtype == np.int32
    np.testing.assert_array_equal(packed.column_offsets, w.sum(axis=0, dtype=np.int64))
    quantized = fbg.PackedB(rng.standard_normal(shape, dtype=np.float32), symmetric=False)
    np.testing.assert_array_equal(
        quantized.column_offsets, quantized.unpack().sum(axis=0, dtype=np.int64)
    )


def test_column_offsets_hold_the_extremes():
    w = np.stack([np.full(70000, -128), np.full(70000, 127)], axis=1).astype(np.int8)
    np.testing.assert_array_equal(fbg.PackedB(w).column_offsets, [-128 * 70000, 127 * 70000])


def test_float_weights_have_no_integer_parameters():
    packed = fbg.PackedB(np.ones((3, 4), F32), dtype="float32")
    assert packed.scale is None and packed.zero_point is None and packed.column_offsets is None
    assert packed.accum == "float32"


def test_panels_are_padded_to_32_columns_and_4_rows():
    header, parameters = 128, 128  # int8 without a scale has column offsets only
    assert fbg.PackedB(np.ones((1, 1), np.int8)).nbytes == header + 4 * 32 + parameters
    assert fbg.PackedB(np.ones((9, 33), np.int8)).nbytes == header + 12 * 64 + 2 * parameters
    assert fbg.PackedB(np.ones((9, 33), F32), dtype="float32").nbytes == header + 9 * 64 * 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (fbg.PackedB(np.ones((3, 4), np.int8)), "PackedB(K=3, N=4, int8, accum=int32, no scale)"),
        (
            fbg.PackedB(np.ones((3, 4), F32)),
            "PackedB(K=3, N=4, int8, accum=int32, scale per column)",
        ),
        (
            fbg.PackedB(np.ones((3, 4), F32), granularity="tensor"),
            "PackedB(K=3, N=4, int8, accum=int32, scale per tensor)",
        ),
        (
            fbg.PackedB(np.ones((3, 4), F32), dtype="float32"),
            "PackedB(K=3, N=4, float32, accum=float32)",
        ),
        (fbg.PackA(np.ones((2, 3), np.uint8)), "PackA(M=2, K=3, uint8)"),
        (
            fbg.PackAWithRowOffset(np.ones((2, 3), np.int8), scale=1.0),
            "PackAWithRowOffset(M=2, K=3, int8)",
        ),
        (
            fbg.PackAWithQuantRowOffset(np.ones((2, 3), F32)),
            "PackAWithQuantRowOffset(M=2, K=3, float32)",
        ),
    ],
)
def test_repr_says_what_it_is(value, text):
    assert repr(value) == text
