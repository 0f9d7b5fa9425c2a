"""Rows of 8-bit floats: all codes have their value, and floats become the nearest of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from helpers.embedding_bags import (
    F32,
    FLOAT8,
    float8_values,
    look_up,
    quantized_to_float8,
    values_of,
)

CODES = np.arange(256, dtype=np.uint8)
SCALES = [F32, np.float16]


def rows_of(codes, scale, scale_dtype):
    ends = np.full((len(codes), 1), scale, scale_dtype).view(np.uint8)
    return np.concatenate([codes, ends], axis=1)


@pytest.mark.parametrize("scale_dtype", SCALES)
@pytest.mark.parametrize("columns", [256, 250, 35, 6, 1])
def test_every_code_has_its_value(isa, columns, scale_dtype):
    codes = np.stack([np.roll(CODES, -s)[:columns] for s in range(0, 256, columns)])
    expected = codes.view(ml_dtypes.float8_e4m3fn).astype(F32)
    np.testing.assert_array_equal(float8_values(codes), expected)
    rows = rows_of(codes, 1, scale_dtype)
    indices = np.arange(len(rows))[:, None]
    for mode in ("sum", "mean", "max"):
        bag = fbg.EmbeddingBag.from_fused(rows, columns, FLOAT8, mode, scale_dtype=scale_dtype)
        held = np.where(np.isnan(expected), -np.inf, expected) if mode == "max" else expected
        np.testing.assert_array_equal(bag(indices), held)


@pytest.mark.parametrize("scale_dtype", SCALES)
@given(data=st.data())
def test_floats_become_the_nearest_codes(scale_dtype, data):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 80))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    largest = 38 if scale_dtype == F32 else 6
    x = random.standard_normal((rows, columns)) * 10.0 ** random.integers(-46, largest, (rows, 1))
    x *= 2.0 ** -random.integers(0, data.draw(st.integers(1, 25)), x.shape)
    table = (x * (random.random(x.shape) < data.draw(st.sampled_from([0.01, 0.8])))).astype(F32)
    expected = quantized_to_float8(table, scale_dtype)
    _, scale, _ = values_of(expected, columns, FLOAT8)
    steps = np.clip(table / scale[:, None], -448, 448).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(steps.view(np.uint8), expected[:, :columns])
    bags = [[0, rows - 1, 0], []]
    result = look_up(values_of(expected, columns, FLOAT8), bags)
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            bag = fbg.EmbeddingBag(table, FLOAT8, scale_dtype=scale_dtype)
            np.testing.assert_array_equal(bag.fused(), expected)
            sums = bag(np.array([0, rows - 1, 0]), np.array([0, 3]))
        assert sums.tobytes() == result.tobytes(), name


def test_half_ways_go_to_even_and_a_zero_keeps_its_sign(isa):
    # With 448 among them, the scale is 1. Beyond the normal numbers, a step is 2^-9.
    given = [448, 17, 19, -17, -0.0, 0.0, 2.0**-10, 3 * 2.0**-10, 2.0**-6 - 2.0**-10, 15.5, -1e-9]
    kept = [448, 16, 20, -16, -0.0, 0.0, 0, 2.0**-8, 2.0**-6, 16, -0.0]
    bag = fbg.EmbeddingBag(np.array([given], F32), FLOAT8)
    codes = bag.fused()[:, :-4]
    assert float8_values(codes).tobytes() == np.array([kept], F32).tobytes()
    assert bag.nbytes == len(given) + 4


def test_rows_without_a_scale_have_one():
    table = np.array([[0, -0.0], [1e-45, 0]], F32)
    bag = fbg.EmbeddingBag(table, FLOAT8)
    np.testing.assert_array_equal(bag.fused(), rows_of(np.array([[0, 128], [0, 0]]), 1, F32))
    tiny = fbg.EmbeddingBag(table[1:] * 0 + F32(1e-6), FLOAT8, scale_dtype="float16")
    np.testing.assert_array_equal(tiny.fused(), rows_of(np.array([[0, 0]]), 1, np.float16))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_row_with_a_number_that_is_not_finite_is_named(isa, wrong):
    table = np.ones((9, 20), F32)
    table[5, 17] = wrong
    with pytest.raises(ValueError, match=rf"table, row 5, must be finite, got {wrong} at \(17,\)"):
        fbg.EmbeddingBag(table, FLOAT8)


def test_what_is_refused():
    table = np.full((2, 4), 3e7, F32)
    with pytest.raises(ValueError, match=r"table must fit a float16 scale, got row 0 within \[3e"):
        fbg.EmbeddingBag(table, FLOAT8, scale_dtype="float16")
    with pytest.raises(TypeError, match="scale_dtype must be float32 or float16, got 'bfloat16'"):
        fbg.EmbeddingBag(table, FLOAT8, scale_dtype="bfloat16")
    rows = fbg.EmbeddingBag(table, FLOAT8).fused()
    with pytest.raises(ValueError, match="must have 8 bytes per row for 4 columns of float8_e4m3"):
        fbg.EmbeddingBag.from_fused(rows[:, :-1], 4, FLOAT8)
    with pytest.raises(ValueError, match="scale_dtype goes with floats that are quantized"):
        fbg.EmbeddingBag(table, "float16", scale_dtype="float16")
