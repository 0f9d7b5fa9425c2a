"""linear: gemm with the pipeline of a linear layer, for any leading shape."""

import numpy as np
import pytest

import fbg
from helpers.formulas import assert_same_bits, exact_gelu
from helpers.operands import random_f32
from helpers.refusals import refusals

INT8 = fbg.PackedB(np.ones((3, 4), np.int8))
FLOAT = fbg.PackedB(np.ones((3, 4), np.float32), dtype="float32")
U8, F32 = np.ones((2, 3), np.uint8), np.ones((2, 3), np.float32)


@pytest.mark.parametrize("activation", [None, "relu", "gelu"])
@pytest.mark.parametrize("shape", [(7,), (1, 7), (3, 7), (2, 3, 7), (2, 0, 7), (0, 7), (1, 1, 7)])
def test_linear_keeps_the_leading_shape(isa, shape, activation):
    rng = np.random.default_rng(18)
    x, w, bias = random_f32(rng, *shape), random_f32(rng, 7, 5), random_f32(rng, 5)
    wanted = x.astype(np.float64) @ w + bias
    if activation == "relu":
        wanted = np.maximum(wanted, 0)
    elif activation == "gelu":
        wanted = exact_gelu(wanted)
    got = fbg.linear(x, fbg.PackedB(w, dtype="float32"), bias, activation)
    assert got.dtype == np.float32 and got.shape == (*shape[:-1], 5)
    np.testing.assert_allclose(got, wanted, atol=3e-6)
    quantized = fbg.linear(x, fbg.PackedB(w), bias, activation)
    assert quantized.dtype == np.float32 and quantized.shape == got.shape
    np.testing.assert_allclose(quantized, wanted, atol=0.2)


def test_linear_is_gemm_with_its_pipeline(isa):
    rng = np.random.default_rng(19)
    x, w, bias = random_f32(rng, 9, 33), random_f32(rng, 33, 20), random_f32(rng, 20)
    packed = fbg.PackedB(w)
    assert_same_bits(
        fbg.linear(x, packed, bias, "gelu", num_threads=2),
        fbg.gemm(
            fbg.PackAWithQuantRowOffset(x),
            packed,
            fbg.Dequantize() >> fbg.Bias(bias) >> fbg.GELU(),
        ),
    )


@pytest.mark.parametrize("shape", [(1, 33), (9, 33), (2, 3, 33), (0, 33)])
def test_x_is_rounded_to_bfloat16_on_request(isa, shape):
    rng = np.random.default_rng(20)
    x, w, bias = random_f32(rng, *shape), random_f32(rng, 33, 20), random_f32(rng, 20)
    packed = fbg.PackedB(w, dtype="bfloat16")
    rows = fbg.PackA(x.reshape(-1, 33), dtype="bfloat16")
    assert_same_bits(
        fbg.linear(x, packed, bias, dtype="bfloat16").reshape(-1, 20),
        fbg.gemm(rows, packed, fbg.Bias(bias)),
    )
    odd = np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(shape)
    assert x.size == 0 or not odd.flags.aligned
    assert_same_bits(
        fbg.linear(odd, packed, bias, dtype="bfloat16"),
        fbg.linear(x, packed, bias, dtype="bfloat16"),
    )


@refusals(
    type_errors={
        "linear: dtype='bfloat16' requires bfloat16 weights, got weights of int8": (
            lambda: fbg.linear(F32, fbg.PackedB(F32.T), dtype="bfloat16")
        ),
        "linear: dtype='bfloat16' requires bfloat16 weights, got weights of float32": (
            lambda: fbg.linear(F32, FLOAT, dtype="bfloat16")
        ),
        "packed_b must be a PackedB, got ndarray": lambda: fbg.linear(F32, F32),
        "linear: x must be float32, got uint8": lambda: fbg.linear(U8, FLOAT),
        "linear: x must be float32, got float64": lambda: fbg.linear(F32.astype(np.float64), FLOAT),
        "linear: x must be an array, got list": lambda: fbg.linear([1.0] * 3, FLOAT),
        "linear: bias must be float32, got int32": lambda: fbg.linear(
            F32, FLOAT, np.zeros(4, np.int32)
        ),
        "linear: bias must be float32, got float64": lambda: fbg.linear(F32, FLOAT, np.zeros(4)),
        "linear: packed_b must have a scale: pass PackedB": lambda: fbg.linear(F32, INT8),
    },
    value_errors={
        r"linear: x must have shape \(\.\.\., 3\), got \(2, 2\)": lambda: fbg.linear(
            F32[:, :2], FLOAT
        ),
        r"linear: x must have shape \(\.\.\., 3\), got \(\)": lambda: fbg.linear(
            np.float32(1), FLOAT
        ),
        "linear: dtype must be 'bfloat16' or None": lambda: fbg.linear(F32, FLOAT, dtype="float16"),
        "linear: activation must be": lambda: fbg.linear(F32, FLOAT, activation="tanh"),
        r"linear: bias must have shape \(4,\), got \(5,\)": lambda: fbg.linear(
            F32, FLOAT, np.zeros(5, np.float32)
        ),
    },
)
def test_linear_refuses_what_does_not_fit(refuse):
    refuse()


@pytest.mark.parametrize(("given", "meant"), [("ReLU", "relu"), ("GELU", "gelu"), ("rel", "relu")])
def test_activations_that_may_be_meant_are_named(given, meant):
    w = fbg.PackedB(np.eye(2, dtype=np.float32))
    with pytest.raises(ValueError, match=rf"^linear: activation must .*; did you mean {meant}\?$"):
        fbg.linear(np.ones((1, 2), np.float32), w, activation=given)
