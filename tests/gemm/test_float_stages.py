"""Tanh, Sigmoid, GELU(tanh), Clip, Scale and Cast on every ISA, against float64 and NumPy."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import fbg
from helpers.compositions import through
from helpers.formulas import assert_same_bits

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
COLUMNS = 37  # whole vectors of every ISA and a tail


def grid(limit=12.0):
    values = np.concatenate(
        [np.linspace(-limit, limit, 20_001), [0.0, -0.0, 1e-30, -1e-30, 80, -80]]
    ).astype(np.float32)
    return np.resize(values, (-(-values.size // COLUMNS), COLUMNS))


def gelu_tanh(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


FUNCTIONS = {
    "tanh": (fbg.Tanh(), math.tanh, 5e-7),
    "sigmoid": (fbg.Sigmoid(), lambda x: 1 / (1 + math.exp(-x)), 5e-7),
    "gelu_tanh": (fbg.GELU(approximate="tanh"), gelu_tanh, 2e-6),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_is_accurate(name, isa):
    stage, function, bound = FUNCTIONS[name]
    x = grid()
    expected = np.array([[function(float(v)) for v in row] for row in x])
    y = through(x, stage)
    assert np.abs(y - expected).max() <= bound


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_on_every_isa(name):
    x = grid()
    results = []
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            results.append(through(x, FUNCTIONS[name][0]))
    for other in results[1:]:
        assert_same_bits(other, results[0])


def test_tanh_and_sigmoid_stay_in_range(isa):
    x = grid(1e4)
    assert np.abs(through(x, fbg.Tanh())).max() <= 1
    y = through(x, fbg.Sigmoid())
    assert y.min() >= 0 and y.max() <= 1


def test_clip_and_scale_equal_numpy(isa):
    x = grid()
    np.testing.assert_array_equal(
        through(x, fbg.Scale(0.3) >> fbg.Clip(-0.5, 1.25)),
        np.clip(x * np.float32(0.3), np.float32(-0.5), np.float32(1.25)),
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_cast_equals_numpy(isa, dtype):
    wanted = np.dtype(np.float16) if dtype == "float16" else BFLOAT16
    bits = np.arange(0, 1 << 16, 7, dtype=np.uint32) << 16
    x = np.concatenate([bits | low for low in (0, 0x1000, 0x3000, 0x8000, 0x18000, 0x8001)])
    x = x.view(np.float32)
    x = x[np.isfinite(x)]
    # With K = 1, no other product can overflow beside the value.
    ones = fbg.PackedB(np.ones((1, 13), np.float32), dtype="float32")
    y = fbg.gemm(fbg.PackA(x.reshape(-1, 1)), ones, fbg.Cast(dtype))
    assert y.dtype == wanted
    with np.errstate(over="ignore"):
        expected = np.broadcast_to(x.astype(wanted)[:, None], y.shape)
    np.testing.assert_array_equal(y.view(np.uint16), expected.view(np.uint16))


def test_nan_stays_nan(isa):
    x = np.full((3, 1), np.nan, np.float32)
    w = fbg.PackedB(np.ones((1, 19), np.float32), dtype="float32")
    stages = [fbg.Tanh(), fbg.Sigmoid(), fbg.GELU(approximate="tanh"), fbg.Clip(-1, 1)]
    for stage in [*stages, fbg.Scale(2), fbg.Cast("float16"), fbg.Cast(BFLOAT16)]:
        y = fbg.gemm(fbg.PackA(x), w, stage)
        assert np.isnan(y.astype(np.float32)).all(), stage


def test_cast_writes_into_out():
    x, w = np.ones((2, 3), np.float32), fbg.PackedB(np.ones((3, 5), np.float32), dtype="float32")
    out = np.zeros((2, 5), BFLOAT16)
    y = fbg.gemm(fbg.PackA(x), w, fbg.Cast("bfloat16"), out=out)
    assert (out.astype(np.float32) == 3).all() and np.shares_memory(y, out)
    with pytest.raises(TypeError, match="bfloat16"):
        fbg.gemm(fbg.PackA(x), w, fbg.Cast("bfloat16"), out=np.zeros((2, 5), np.float32))
