"""Weights are quantized by the formula, and given parameters are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg

F32 = np.float32


# --- Quantization ---------------------------------------------------------------------------------


def check_quantization(w, granularity, symmetric):
    packed = fbg.PackedB(w, granularity=granularity, symmetric=symmetric)
    columns = w if granularity == "column" else w.reshape(-1, 1)
    lo = columns.min(axis=0, initial=0).astype(F32)
    hi = columns.max(axis=0, initial=0).astype(F32)
    span = np.maximum(-lo, hi) / F32(127) if symmetric else hi / F32(255) - lo / F32(255)
    scale = np.where(span < np.finfo(F32).tiny, F32(1), span)
    point = np.zeros(scale.shape, np.int32)
    if not symmetric:
        point = np.clip(np.rint(F32(-128) - lo / scale), -128, 127).astype(np.int32)
    if granularity == "tensor":
        scale, point = scale.reshape(()), point.reshape(())
    for got, wanted in ((packed.scale, scale), (packed.zero_point, point)):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_array_equal(got, wanted)
    q = np.clip(np.rint(w / scale) + point, -127 if symmetric else -128, 127)
    np.testing.assert_array_equal(packed.unpack(), q)
    # Rounding the zero point may move the ends of the range by half a step.
    error = np.abs(packed.dequantize().astype(np.float64) - w.astype(np.float64))
    assert (error <= np.maximum(1.0001 * scale, np.finfo(F32).tiny)).all()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("granularity", ["column", "tensor"])
@settings(max_examples=40)
@given(
    k=st.integers(1, 40),
    n=st.integers(1, 70),
    exponent=st.integers(-30, 30),
    mean=st.sampled_from([0.0, 2.0, -2.0]),
    fortran=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_quantization_follows_the_formula(
    granularity, symmetric, k, n, exponent, mean, fortran, seed
):
    rng = np.random.default_rng(seed)
    w = (rng.standard_normal((k, n)) + mean) * 10.0**exponent
    check_quantization(np.asarray(w, F32, order="F" if fortran else "C"), granularity, symmetric)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("granularity", ["column", "tensor"])
@pytest.mark.parametrize(
    "column",
    [
        [0, 0, 0],
        [-0.0, 0, -0.0],
        [1e-45, 0, -1e-45],
        [1e-38, 2e-38, 0],
        [3e38, -3e38, 1],  # with room for half a step
        [3.4e38, 0, 3.4e38],
        [-3.4e38, 0, 0],
        [127, 126.5, -125.5],
        [-128, 63.5, 64.5],
        [5, 5, 5],
        [-5, -5, -5],
    ],
)
def test_quantization_at_the_ends_of_the_range(column, granularity, symmetric):
    check_quantization(np.array(column, F32)[:, None], granularity, symmetric)
    both = np.stack([np.array(column, F32), np.array([0.25, -1, 0.5], F32)], axis=1)
    check_quantization(both, "column", symmetric)


def test_symmetric_weights_never_use_the_lowest_value():
    w = -np.linspace(0, 1, 999, dtype=F32)[:, None]
    packed = fbg.PackedB(w)
    assert packed.unpack().min() == -127 and packed.zero_point.tolist() == [0]


def test_halves_round_to_even():
    w = np.array([[127.0], [0.5], [1.5], [2.5], [-0.5], [-1.5]], F32)
    assert fbg.PackedB(w).unpack().ravel().tolist() == [127, 0, 2, 2, 0, -2]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("granularity", ["column", "tensor"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_empty_weights_have_parameters(shape, granularity, symmetric):
    packed = fbg.PackedB(
        np.zeros(shape, F32),
        granularity=granularity,
        symmetric=symmetric,
    )
    assert packed.shape == shape and packed.unpack().shape == shape
    per_column = granularity == "column"
    assert packed.scale.shape == packed.zero_point.shape == ((shape[1],) if per_column else ())
    assert (packed.scale == 1).all()
    assert packed.dequantize().shape == shape


# --- Weights that are already quantized -----------------------------------------------------------


W8 = np.array([[1, -2, 3], [4, 5, -128]], np.int8)


@pytest.mark.parametrize(
    "scale", [0.5, 2, F32(0.5), np.array(0.5), np.array(0.5, F32), np.array([0.5, 0.25, 2.0], F32)]
)
@pytest.mark.parametrize(
    "zero_point",
    [None, 0, -128, np.int64(127), np.array(3), np.array([1, -2, 3]), np.zeros(3, np.int8)],
)
def test_given_parameters_are_kept(scale, zero_point):
    packed = fbg.PackedB(W8, scale=scale, zero_point=zero_point)
    point = np.asarray(0 if zero_point is None else zero_point, np.int32)
    scales = np.asarray(scale, F32)
    shape = np.broadcast_shapes(point.shape, scales.shape)
    assert packed.scale.shape == packed.zero_point.shape == shape
    assert packed.scale.dtype == F32 and packed.zero_point.dtype == np.int32
    np.testing.assert_array_equal(packed.scale, np.broadcast_to(scales, shape))
    np.testing.assert_array_equal(packed.zero_point, np.broadcast_to(point, shape))
    np.testing.assert_array_equal(packed.unpack(), W8)
    wanted = scales * (W8.astype(np.int32) - point).astype(F32)
    assert packed.dequantize().dtype == F32
    np.testing.assert_array_equal(packed.dequantize(), wanted)


def test_one_column_keeps_the_shape_of_its_scale():
    one = W8[:, :1]
    assert fbg.PackedB(one, scale=0.5).scale.shape == ()
    assert fbg.PackedB(one, scale=np.array([0.5])).scale.shape == (1,)
    assert fbg.PackedB(one.astype(F32)).scale.shape == (1,)


def test_parameters_of_no_columns_are_kept():
    packed = fbg.PackedB(np.zeros((4, 0), np.int8), scale=np.zeros(0, F32))
    assert packed.scale.shape == (0,)
    assert packed.dequantize().shape == (4, 0)
    a = fbg.PackAWithRowOffset(np.ones((2, 4), np.uint8), scale=1.0)
    assert fbg.gemm(a, packed, fbg.Dequantize()).shape == (2, 0)


def test_weights_without_a_scale_have_no_parameters():
    packed = fbg.PackedB(W8)
    assert packed.scale is None and packed.zero_point is None
    with pytest.raises(ValueError, match=r"PackedB\.dequantize: these weights were packed without"):
        packed.dequantize()
