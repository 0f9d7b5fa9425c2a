"""int4 weights: products against the formula in NumPy, packing, and what results depend on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fbg
from helpers import int4
from helpers.formulas import quantize_rows

GROUPS = (32, 64, 128)
SHAPES = [
    (1, 33, 1),
    (2, 96, 130),
    (3, 384, 384),
    (5, 1, 40),
    (6, 257, 100),
    (13, 130, 31),
    (37, 520, 65),
    (70, 4300, 48),  # K is cut where there are several tiles of rows
]


def operands(m, k, n, group, symmetric=True):
    rng = np.random.default_rng(m * 1000 + k + n)
    x = rng.standard_normal((m, k)).astype(np.float32) + np.float32(0.3)
    w = rng.standard_normal((k, n)).astype(np.float32)
    if not symmetric:
        w += rng.standard_normal(n).astype(np.float32)
    w[:, :: max(n // 3, 1)] *= 1000
    return x, fbg.PackedB(w, dtype="int4", group=group, symmetric=symmetric)


def expected(x, packed):
    rows = quantize_rows(x)
    assert packed.group is not None and packed.scale is not None
    return int4.product(
        rows.q,
        rows.scale,
        rows.zero_point,
        packed.unpack(),
        packed.scale,
        packed.group,
        packed.offset,
    )


SYMMETRY = pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "offsets"])


@SYMMETRY
@pytest.mark.parametrize("group", GROUPS)
def test_products_are_those_of_the_formula(isa, group, symmetric):
    for m, k, n in SHAPES:
        x, packed = operands(m, k, n, group, symmetric)
        want = expected(x, packed)
        np.testing.assert_array_equal(fbg.linear(x, packed), want, f"{(m, k, n)}")
        got = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.ReLU(), num_threads=2)
        np.testing.assert_array_equal(got, np.maximum(want, 0), f"{(m, k, n)}")


@SYMMETRY
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_rows_that_are_already_quantized_give_the_same(dtype, symmetric):
    rng = np.random.default_rng(5)
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, (9, 100), dtype=dtype, endpoint=True)
    packed = operands(1, 100, 70, 32, symmetric)[1]
    got = fbg.gemm(fbg.PackAWithRowOffset(a, scale=0.25, zero_point=3), packed)
    scale, point = np.full(9, 0.25, np.float32), np.full(9, 3 + 128 * (dtype == np.int8))
    shifted = a.astype(np.int64) + 128 * (dtype == np.int8)
    want = int4.product(shifted, scale, point, packed.unpack(), packed.scale, 32, packed.offset)
    np.testing.assert_array_equal(got, want)


@SYMMETRY
def test_prepared_calls_and_pipelines_give_the_same(symmetric):
    x, packed = operands(6, 257, 100, 64, symmetric)
    want = fbg.linear(x, packed, activation="gelu")
    call = fbg.prepare(packed, fbg.GELU(), rows=6)
    np.testing.assert_array_equal(call(x), want)
    quantized = fbg.gemm(
        fbg.PackAWithQuantRowOffset(x), packed, fbg.GELU() >> fbg.Requantize(0.5, 3, np.uint8)
    )
    np.testing.assert_array_equal(quantized, np.clip(np.rint(want / np.float32(0.5)) + 3, 0, 255))


@SYMMETRY
def test_a_row_that_is_not_finite_stays_alone(symmetric):
    x, packed = operands(5, 96, 40, 32, symmetric)
    want = fbg.linear(x, packed)
    x[2, 7] = np.inf
    got = fbg.linear(x, packed)
    assert np.isnan(got[2]).all()
    np.testing.assert_array_equal(got[[0, 1, 3, 4]], want[[0, 1, 3, 4]])


@pytest.mark.parametrize("group", GROUPS)
def test_the_scale_of_a_group_is_better_than_any_that_reaches_its_largest_weight(group):
    rng = np.random.default_rng(group)
    w = rng.standard_normal((4 * group, 50)).astype(np.float32)
    packed = fbg.PackedB(w, dtype="int4", group=group)
    error = ((packed.dequantize() - w) ** 2).reshape(4, group, 50).sum(axis=1)
    for steps in (-8, -7, 7, 8):
        grouped = w.reshape(4, group, 50)
        at = np.abs(grouped).argmax(axis=1, keepdims=True)
        scale = np.take_along_axis(grouped, at, 1) / np.float32(steps)
        q = np.clip(np.rint(grouped / scale), -8, 7)
        assert (error <= ((q * scale - grouped) ** 2).sum(axis=1) * 1.001).mean() > 0.98


def test_weights_of_4_bits_are_kept_as_they_are():
    rng = np.random.default_rng(1)
    q = rng.integers(-8, 8, (200, 40))
    q[::32] = -8
    w = (q * 0.125).astype(np.float32)
    packed = fbg.PackedB(w, dtype="int4")
    np.testing.assert_array_equal(packed.dequantize(), w)
    np.testing.assert_array_equal(packed.unpack().astype(np.int64), q)
    assert packed.scale is not None and packed.scale.dtype == np.float16
    assert packed.scale.shape == (7, 40) and (packed.scale == 0.125).all()


@pytest.mark.parametrize("group", GROUPS)
def test_packed_weights_take_half_a_byte_each_and_their_scales(group):
    packed = fbg.PackedB(np.zeros((512, 320), np.float32), dtype="int4", group=group)
    assert packed.nbytes == 512 * 320 // 2 + 512 // group * 320 * 2 + 320 * 4 + 128
    assert packed.group == group and packed.shape == (512, 320) and str(packed.dtype) == "int4"
    assert repr(packed) == (
        f"PackedB(K=512, N=320, int4, accum=float32, scale per group of {group})"
    )
    assert not fbg.linear(np.ones((2, 512), np.float32), packed).any()


@pytest.mark.parametrize("group", GROUPS)
def test_an_offset_takes_two_bytes_of_each_group(group):
    rng = np.random.default_rng(group)
    w = rng.standard_normal((512, 320)).astype(np.float32)
    packed = fbg.PackedB(w, dtype="int4", group=group, symmetric=False)
    assert packed.nbytes == 512 * 320 // 2 + 512 // group * 320 * 4 + 320 * 4 + 128
    assert packed.offset is not None and packed.scale is not None
    assert packed.offset.dtype == np.float16 and packed.offset.shape == packed.scale.shape
    assert repr(packed) == (
        f"PackedB(K=512, N=320, int4, accum=float32, scale and offset per group of {group})"
    )
    assert fbg.PackedB(w, dtype="int4", group=group).offset is None
    assert fbg.PackedB(w, symmetric=False).offset is None


@pytest.mark.parametrize("group", GROUPS)
def test_offsets_make_errors_smaller_than_those_of_scales_alone_and_of_whole_ranges(group):
    rng = np.random.default_rng(group)
    for shift in (0.0, 5.0):
        w = (rng.standard_normal((4 * group, 50)) + shift).astype(np.float32)

        def error(values, w=w):
            return ((values - w) ** 2).reshape(4, group, 50).sum(axis=1)

        got = error(fbg.PackedB(w, dtype="int4", group=group, symmetric=False).dequantize())
        symmetric = error(fbg.PackedB(w, dtype="int4", group=group).dequantize())
        assert got.sum() < (0.15 if shift else 0.95) * symmetric.sum()
        grouped = w.reshape(4, group, 50)
        low, high = grouped.min(axis=1, keepdims=True), grouped.max(axis=1, keepdims=True)
        step = (high - low) / 15
        whole = error((np.rint((grouped - low) / step) * step + low).reshape(w.shape))
        assert (got <= whole * 1.01).mean() > 0.98


def test_weights_of_16_values_with_an_offset_are_kept_as_they_are():
    rng = np.random.default_rng(1)
    q = rng.integers(-8, 8, (200, 40))
    q[::32], q[1::32] = -8, 7
    w = (q * 0.125 + 3.5).astype(np.float32)
    packed = fbg.PackedB(w, dtype="int4", symmetric=False)
    np.testing.assert_array_equal(packed.dequantize(), w)
    np.testing.assert_array_equal(packed.unpack().astype(np.int64), q)
    same = np.full((64, 3), 2.5, np.float32)
    np.testing.assert_array_equal(
        fbg.PackedB(same, dtype="int4", symmetric=False).dequantize(), same
    )


def test_weights_whose_offsets_are_no_float16_are_refused():
    packed = fbg.PackedB(np.array([[65504.0, -65504.0]], np.float32), dtype="int4", symmetric=False)
    np.testing.assert_array_equal(packed.dequantize(), [[65504.0, -65504.0]])
    wide = fbg.PackedB(np.array([[65504.0], [-65504.0]], np.float32), dtype="int4", symmetric=False)
    np.testing.assert_allclose(wide.dequantize(), [[65504.0], [-65504.0]], rtol=1e-3)
    for value in (np.nan, np.inf, 65505.0):
        with pytest.raises(ValueError, match="±65504 for dtype='int4', symmetric=False, got"):
            fbg.PackedB(np.array([[1.0, value]], np.float32), dtype="int4", symmetric=False)


@SYMMETRY
def test_transposed_weights_are_the_same(symmetric):
    w = np.random.default_rng(2).standard_normal((70, 33)).astype(np.float32)
    a = fbg.PackedB(w, dtype="int4", symmetric=symmetric)
    b = fbg.PackedB(w.T, dtype="int4", symmetric=symmetric, transpose=True)
    np.testing.assert_array_equal(a._native.block, b._native.block)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": 16}, "group must be 32, 64 or 128, got 16"),
        ({"group": 32, "dtype": "int8"}, "group requires dtype='int4', got dtype='int8'"),
        ({"accum": "int32"}, "accum of int4 weights must be 'float32' or None, got 'int32'"),
        ({"granularity": "tensor"}, "int4 weights have scales per group, not per tensor"),
    ],
)
def test_options_that_int4_does_not_have_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fbg.PackedB(np.ones((4, 4), np.float32), **{"dtype": "int4", **options})


def test_weights_without_a_scale_in_float16_are_refused():
    for value in (np.nan, np.inf, 5e5):
        with pytest.raises(ValueError, match="must be within ±440000 for dtype='int4'"):
            fbg.PackedB(np.array([[1.0, value]], np.float32), dtype="int4")
    with pytest.raises(TypeError, match="w must be floating for dtype='int4', got int8"):
        fbg.PackedB(np.ones((4, 4), np.int8), dtype="int4")
    tiny = fbg.PackedB(np.full((4, 4), 1e-9, np.float32), dtype="int4")
    assert not tiny.dequantize().any()


def test_operands_without_scales_and_integer_stages_are_refused():
    packed = operands(1, 32, 8, 32)[1]
    with pytest.raises(TypeError, match="int4 weights take a packer with scales, not PackA"):
        fbg.gemm(fbg.PackA(np.ones((1, 32), np.uint8)), packed)
    with pytest.raises(TypeError, match="Dequantize"):
        fbg.gemm(
            fbg.PackAWithQuantRowOffset(np.ones((1, 32), np.float32)), packed, fbg.Dequantize()
        )


@SYMMETRY
@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (0, 1)])
def test_empty_matrices(shape, symmetric):
    packed = fbg.PackedB(np.zeros(shape, np.float32), dtype="int4", symmetric=symmetric)
    result = fbg.linear(np.ones((2, shape[0]), np.float32), packed)
    np.testing.assert_array_equal(result, np.zeros((2, shape[1])))
    assert pickle.loads(pickle.dumps(packed)).shape == shape


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_packed_rows_of_bfloat16_are_refused(dtype):
    packed = fbg.PackedB(np.ones((32, 5), np.float32), dtype=dtype)
    with pytest.raises(TypeError, match="do not take PackA of bfloat16"):
        fbg.gemm(fbg.PackA(np.ones((2, 32), np.float32), dtype="bfloat16"), packed)
