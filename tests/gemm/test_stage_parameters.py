"""Parameters of stages: arrays of any layout and type are read as they are, all else is refused."""

import numpy as np
import pytest

import fbg
from helpers.compositions import OPERANDS, M, N
from helpers.formulas import Output, assert_same_bits
from helpers.refusals import refusals


def test_out_may_be_a_quantized_residual_only_element_for_element():
    a, packed, start = OPERANDS["float"]
    residual = np.arange(M * N, dtype=np.uint8).reshape(M, N)
    output = Output(start.value)
    output.add_quantized(residual, 0.5, 3)
    output.requantize(0.25, 9, "uint8")
    stages = [fbg.Add(residual, scale=0.5, zero_point=3), fbg.Requantize(0.25, 9)]
    assert fbg.gemm(a, packed, stages, out=residual) is residual
    assert_same_bits(residual, output.result)
    out = np.zeros((M, N), np.float32)
    bytes_of_out = out.view(np.uint8)[:, :N]  # the same address and stride, other elements
    with pytest.raises(
        ValueError, match="out may be the residual of Add, but must not overlap it in part"
    ):
        fbg.gemm(a, packed, fbg.Add(bytes_of_out, scale=1.0), out=out)


@pytest.mark.parametrize("rows", ["apart", "upwards", "repeated"])
def test_residual_rows_may_lie_anywhere(isa, rows):
    a, packed, start = OPERANDS["float"]
    store = np.arange(2 * M * (N + 3), dtype=np.float32).reshape(2 * M, N + 3)
    residual = {
        "apart": store[::2, 1 : N + 1],
        "upwards": store[M - 1 :: -1, 3:],
        "repeated": np.broadcast_to(store[3, :N], (M, N)),
    }[rows]
    assert_same_bits(fbg.gemm(a, packed, fbg.Add(residual)), start.value + residual)


@refusals(
    type_errors={
        "Bias: values must be an array, got list": lambda: fbg.Bias([1.0]),
        "Bias: values must be float32 or int32, got fl": lambda: fbg.Bias(np.zeros(3)),
        "float32 or int32, got int64": lambda: fbg.Bias(np.zeros(3, np.int64)),
        "float32 or int32, got >i4": lambda: fbg.Bias(np.zeros(3, ">i4")),
        "Add: residual must be an array, got list": lambda: fbg.Add([[1.0]]),
        "Add: residual must be float32, float16, bfloat16, uint8 or int8, got float64": lambda: (
            fbg.Add(np.zeros((2, 3)))
        ),
        "Add: a residual of uint8 needs its scale": lambda: fbg.Add(np.zeros((2, 3), np.uint8)),
        "Add: scale and zero_point require a uint8 or int8 residual, got float32": [
            lambda quant=quant: fbg.Add(np.zeros((2, 3), np.float32), **quant)
            for quant in ({"scale": 1.0}, {"zero_point": 1})
        ],
        "RowRange: out must be a NumPy array": lambda: fbg.RowRange([[0.0, 0.0]]),
        "RowRange: out must be float32, got float64": lambda: fbg.RowRange(np.zeros((3, 2))),
        "Cast: dtype": lambda: fbg.Cast(np.float32),
        "Cast must be the last stage": lambda: fbg.Cast("float16") >> fbg.ReLU(),
        "Requantize: dtype must be uint8 or int8, got int32": lambda: fbg.Requantize(
            1.0, 0, np.int32
        ),
        "Requantize: scale must be (one )?float, got": [
            lambda scale=scale: fbg.Requantize(scale)
            for scale in ("1", None, 1j, np.ones(2, np.float32))
        ],
        "Requantize: zero_point must be an integer, got": [
            lambda point=point: fbg.Requantize(1.0, point) for point in (0.5, "1", None)
        ],
    },
    value_errors={
        r"Bias: values must be 1-D \(N,\), got shape \(1, 3\)": lambda: fbg.Bias(
            np.zeros((1, 3), np.float32)
        ),
        "Add: scale must be finite and positive": lambda: fbg.Add(
            np.zeros((2, 3), np.int8), scale=0.0
        ),
        r"Add: zero_point must be within \[-128, 127\], got 128": lambda: fbg.Add(
            np.zeros((2, 3), np.int8), scale=1.0, zero_point=128
        ),
        r"Add: residual must be 2-D \(M, N\), got shape \(3,\)": lambda: fbg.Add(
            np.zeros(3, np.float32)
        ),
        "Add: residual must have contiguous rows": lambda: fbg.Add(np.zeros((3, 2), np.float32).T),
        r"RowRange: out must be C-contiguous \(M, 2\), got shape \(2, 3\)": lambda: fbg.RowRange(
            np.zeros((2, 3), np.float32)
        ),
        r"RowRange: out must be C-contiguous \(M, 2\), got shape \(2, 2\)": lambda: fbg.RowRange(
            np.zeros((2, 2), np.float32).T
        ),
        "RowRange: out must be aligned to 8 bytes": lambda: fbg.RowRange(
            np.zeros(5, np.float32)[1:].reshape(2, 2)
        ),
        "Clip: lo": [lambda lo=lo: fbg.Clip(lo, 0) for lo in (1, float("nan"))],
        "Scale: factor": lambda: fbg.Scale(float("inf")),
        "GELU: approximate must be 'none' or 'tanh', got 'erf'": lambda: fbg.GELU("erf"),
        r"Requantize: zero_point must be within \[0, 255\], got 256": lambda: fbg.Requantize(
            1.0, 256
        ),
        r"Requantize: zero_point must be within \[-128, 127\], got -129": lambda: fbg.Requantize(
            1.0, -129, np.int8
        ),
        "Requantize: scale must be finite and positive": [
            lambda scale=scale: fbg.Requantize(scale)
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60)
        ],
    },
)
def test_bad_parameters_of_stages_are_refused(refuse):
    refuse()


def test_a_stage_keeps_its_array_alive():
    a, packed, start = OPERANDS["float"]
    pipeline = fbg.Bias(np.full(N, 2, np.float32)) >> fbg.Add(np.full((M, N), 3, np.float32))
    junk = [np.full((M, N), np.nan, np.float32) for _ in range(50)]
    assert_same_bits(fbg.gemm(a, packed, pipeline), start.value + 5)
    del junk
