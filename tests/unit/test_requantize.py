"""requantize, and quantization per axis, against definitions in plain NumPy."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fbg
from fbg.quantization import choose_qparams_mse, dequantize, quantize, requantize
from helpers.quantization import DTYPES, F32


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    acc=arrays.arrays(np.int32, st.integers(0, 30)),
    multiplier=st.floats(2.0**-140, 2.0**120, width=32, exclude_min=True),
    data=st.data(),
)
def test_requantize_is_the_formula(dtype, acc, multiplier, data):
    limits = np.iinfo(dtype)
    point = data.draw(st.integers(int(limits.min), int(limits.max)))
    q = requantize(acc, multiplier, point, dtype)
    assert q.dtype == dtype and q.shape == acc.shape
    for value, got in zip(acc, q, strict=True):
        with np.errstate(over="ignore", under="ignore"):
            real = float(F32(value) * F32(multiplier))
        wanted = round(real) + point if math.isfinite(real) else real
        assert got == min(max(wanted, limits.min), limits.max)


@pytest.mark.parametrize("dtype", DTYPES)
def test_requantize_gives_the_bits_of_the_pipeline_stage(dtype):
    rng = np.random.default_rng(3)
    a = rng.integers(0, 256, (9, 40), np.uint8)
    b = rng.integers(-128, 128, (40, 21)).astype(np.int8)
    column_scale = rng.uniform(0.001, 0.1, 21).astype(F32)
    stage = fbg.Requantize(scale=0.7, zero_point=5, dtype=dtype)
    packed = fbg.PackedB(b, scale=column_scale)
    wanted = fbg.gemm(fbg.PackAWithRowOffset(a, scale=0.02, zero_point=7), packed, stage)
    acc = ((a.astype(np.int32) - 7) @ b.astype(np.int32)).astype(np.int32)
    got = requantize(acc, F32(0.02) * column_scale / F32(0.7), 5, dtype)
    np.testing.assert_array_equal(got, wanted)


def test_parameters_broadcast_per_axis():
    x = np.random.default_rng(0).standard_normal((4, 3, 5), F32)
    scale = np.array([0.1, 0.2, 0.3], F32)[:, None]
    point = np.array([1, 2, 3])[:, None]
    q = quantize(x, scale, point)
    real = dequantize(q, scale, point)
    acc = np.arange(60, dtype=np.int32).reshape(x.shape)
    narrow = requantize(acc, scale, point)
    for c in range(3):
        s, z = scale[c, 0], int(point[c, 0])
        np.testing.assert_array_equal(q[:, c], quantize(x[:, c], s, z))
        np.testing.assert_array_equal(real[:, c], dequantize(q[:, c], s, z))
        np.testing.assert_array_equal(narrow[:, c], requantize(acc[:, c], s, z))


def test_16_bit_floats_are_quantized_as_the_float32_they_equal():
    x = np.random.default_rng(0).standard_normal((4, 6), F32)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        short = x.astype(dtype)
        np.testing.assert_array_equal(
            quantize(short, 0.02, 128), quantize(short.astype(F32), 0.02, 128)
        )
        assert choose_qparams_mse(short) == choose_qparams_mse(short.astype(F32))


def test_int32_is_dequantized_without_overflow():
    limits = np.iinfo(np.int32)
    q = np.array([limits.min, 0, limits.max], np.int32)
    np.testing.assert_array_equal(
        dequantize(q, 1.0, limits.max), np.array([-(2.0**32), -(2.0**31), 0], F32)
    )
