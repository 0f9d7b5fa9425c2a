"""Rows of 2, 4 and 8 bits: RowwiseMatrix and its fused layout in memory."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fbg
from fbg.quantization import RowwiseMatrix, quantize_rowwise
from fbg.quantization.rowwise import FORMATS
from fbg.tables.rows import BITS, DTYPES, INTEGERS
from helpers.embedding_bags import fma, quantized
from helpers.quantization import F32, FINITE


def matrices(elements):
    return arrays.arrays(F32, st.tuples(st.integers(0, 4), st.integers(0, 9)), elements=elements)


def fields_of_a_row(data, columns, bits):
    """The values of one packed row, bit by bit: value j holds bits [j b, (j + 1) b)."""
    stream = int.from_bytes(bytes(data), "little")
    return [(stream >> (j * bits)) & (2**bits - 1) for j in range(columns)]


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_rows_follow_the_formula(bits, scale_dtype, x):
    rows = quantize_rowwise(x, bits, scale_dtype)
    m, n = x.shape
    top = 2**bits - 1
    assert rows.shape == x.shape and rows.data.shape == (m, -(-n * bits // 8))
    assert rows.data.dtype == np.uint8
    assert rows.scale.dtype == rows.bias.dtype == scale_dtype
    assert rows.nbytes == rows.data.nbytes + m * 2 * np.dtype(scale_dtype).itemsize
    real = rows.dequantize()
    assert real.dtype == F32 and real.shape == x.shape
    for i in range(m):
        values = [float(v) for v in x[i]]
        scale, bias = float(rows.scale[i]), float(rows.bias[i])
        low, high = min(values, default=0.0), max(values, default=0.0)
        # The nearest values of scale_dtype on the safe side of the exact ones.
        assert bias <= low < float(np.nextafter(rows.bias[i], scale_dtype(np.inf)))
        step = (high - bias) / top
        if step == 0:
            assert scale == 1
        else:
            assert float(np.nextafter(rows.scale[i], scale_dtype(0))) < step <= scale
        q = fields_of_a_row(rows.data[i], n, bits)
        assert q == [min(max(round((v - bias) / scale), 0), top) for v in values]
        assert rows.unpack()[i].tolist() == q
        expected = fma(rows.scale[i].astype(F32), np.array(q, F32), rows.bias[i].astype(F32))
        np.testing.assert_array_equal(real[i], expected)  # rounded once


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_no_value_of_a_row_is_off_by_more_than_half_a_step(bits, scale_dtype, x):
    rows = quantize_rowwise(x, bits, scale_dtype)
    error = np.abs(rows.dequantize().astype(np.float64) - x)
    # Dequantized values are rounded to float32.
    assert (
        error <= 0.5 * rows.scale.astype(np.float64)[:, None] * (1 + 1e-9) + np.spacing(abs(x))
    ).all()


@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(FINITE))
def test_rows_hold_any_finite_float32(bits, x):
    rows = quantize_rowwise(x, bits)
    real = rows.dequantize()
    assert np.isfinite(real).all() and np.isfinite(rows.scale).all() and (rows.scale > 0).all()
    half = 0.5 * rows.scale.astype(np.float64)[:, None]
    error = np.abs(real.astype(np.float64) - x.astype(np.float64))
    with np.errstate(over="ignore"):
        assert (error <= half * (1 + 1e-6) + np.spacing(np.abs(x)).astype(np.float64)).all()


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_that_fit_the_grid_come_back_exactly(bits, scale_dtype):
    q = np.random.default_rng(bits).integers(0, 2**bits, (6, 13))
    q[:, 0], q[:, 1] = 0, 2**bits - 1
    x = (q * 0.25 - 3).astype(F32)
    x[5] = 0
    rows = quantize_rowwise(x, bits, scale_dtype)
    np.testing.assert_array_equal(rows.dequantize(), x)
    assert rows.scale.tolist() == [0.25] * 5 + [1]


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_fused_rows_come_back(bits, scale_dtype, x):
    rows = quantize_rowwise(x, bits, scale_dtype)
    fused = rows.fused()
    size = np.dtype(scale_dtype).itemsize
    assert fused.dtype == np.uint8 and fused.shape == (len(x), rows.data.shape[1] + 2 * size)
    again = RowwiseMatrix.from_fused(np.asfortranarray(fused), x.shape[1], bits, scale_dtype)
    for name in ("data", "scale", "bias"):
        got, wanted = getattr(again, name), getattr(rows, name)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(again.dequantize(), rows.dequantize())


def test_fused_bytes_are_values_then_scale_then_bias():
    x = np.array([[-1, -0.5, 0, 0.5, 6.5]], F32)
    half = quantize_rowwise(x, 4, np.float16).fused()
    assert half.tolist() == [[0x10, 0x32, 0x0F, 0x00, 0x38, 0x00, 0xBC]]
    single = quantize_rowwise(np.array([[0, 255, 3]], F32)).fused()
    assert single.tolist() == [[0, 255, 3, 0, 0, 0x80, 0x3F, 0, 0, 0, 0]]


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_rows_by_fbgemm_follow_its_definition(bits, scale_dtype, x):
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            rows = quantize_rowwise(x, bits, scale_dtype, method="fbgemm")
        expected = quantized(x, f"int{bits}", scale_dtype) if x.size else rows.fused()
        np.testing.assert_array_equal(rows.fused(), expected)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_many_rows_by_fbgemm_are_those_one_by_one(bits):
    x = np.random.default_rng(bits).standard_normal((1000, 70)).astype(F32)
    wide = np.zeros((1000, 141), F32)
    wide[:, 1::2] = x
    rows = quantize_rowwise(wide[:, 1::2], bits, method="fbgemm").fused()
    np.testing.assert_array_equal(rows, quantized(x, f"int{bits}", F32))


def test_matrices_that_are_changed_or_copied_have_fused_rows_of_their_own():
    x = np.random.default_rng(1).standard_normal((5, 3)).astype(F32)
    rows = quantize_rowwise(x, 8, method="fbgemm")
    assert np.shares_memory(rows.fused(), rows.data)
    assert rows.scale.flags.aligned and not rows.scale.flags.writeable
    doubled = dataclasses.replace(rows, scale=2 * rows.scale, bias=2 * rows.bias)
    np.testing.assert_array_equal(doubled.dequantize(), 2 * rows.dequantize())
    loaded = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(loaded.fused(), rows.fused())
    assert len(pickle.dumps(rows)) < len(pickle.dumps(rows.fused())) + 1000


def test_numbers_of_row_formats_are_those_of_tables():
    assert {BITS[d]: DTYPES.index(d) for d in INTEGERS} == FORMATS
