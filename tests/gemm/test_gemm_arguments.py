"""Arguments of gemm: what does not go together is refused with a message that names it."""

import numpy as np
import pytest

import fbg
from helpers.refusals import refusals

# --- Threads --------------------------------------------------------------------------------------


OPERANDS = (np.ones((2, 3), np.float32), np.ones((3, 4), np.float32))


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**40])
@pytest.mark.parametrize("function", ["gemm", "linear"])
def test_a_number_of_threads_out_of_range_is_a_value_error(function, threads):
    x, w = OPERANDS[0], fbg.PackedB(OPERANDS[1], dtype="float32")
    with pytest.raises(
        ValueError, match=rf"{function}: num_threads must be within \[1, 1024\], got {threads}"
    ):
        getattr(fbg, function)(x if function == "linear" else fbg.PackA(x), w, num_threads=threads)


@pytest.mark.parametrize("threads", [1.5, "2", (1,), np.float32(1)])
@pytest.mark.parametrize("function", ["gemm", "linear"])
def test_a_number_of_threads_that_is_no_integer_is_a_type_error(function, threads):
    x, w = OPERANDS[0], fbg.PackedB(OPERANDS[1], dtype="float32")
    with pytest.raises(TypeError, match=rf"{function}: num_threads must be an integer, got"):
        getattr(fbg, function)(x if function == "linear" else fbg.PackA(x), w, num_threads=threads)


def test_a_number_of_threads_may_be_a_numpy_integer():
    w = fbg.PackedB(OPERANDS[1], dtype="float32")
    assert fbg.gemm(fbg.PackA(OPERANDS[0]), w, num_threads=np.int64(2)).shape == (2, 4)


# --- Operands that do not go together -------------------------------------------------------------


INT8 = fbg.PackedB(np.ones((3, 4), np.int8))
SCALED = fbg.PackedB(np.ones((3, 4), np.int8), scale=0.5)
FLOAT = fbg.PackedB(np.ones((3, 4), np.float32), dtype="float32")
U8, F32 = np.ones((2, 3), np.uint8), np.ones((2, 3), np.float32)


@refusals(
    type_errors={
        "a must be a packer such as PackA, got ndarray": lambda: fbg.gemm(U8, INT8),
        "packed_b must be a PackedB, got ndarray": lambda: fbg.gemm(fbg.PackA(U8), U8),
        "must be uint8, got float32": lambda: fbg.gemm(fbg.PackA(F32), INT8),
        "must be float32, got uint8": lambda: fbg.gemm(fbg.PackA(U8), FLOAT),
        "gemm: float weights take PackA of float32, not this packer": [
            lambda: fbg.gemm(fbg.PackAWithQuantRowOffset(F32), FLOAT),
            lambda: fbg.gemm(fbg.PackAWithRowOffset(U8, scale=1.0), FLOAT),
        ],
        "gemm: Dequantize needs the scales of both operands, but the left one has none": [
            lambda: fbg.gemm(fbg.PackA(U8), SCALED, fbg.Dequantize()),
            lambda: fbg.gemm(fbg.PackAWithRowOffset(U8, zero_point=3), SCALED, fbg.Dequantize()),
        ],
        "gemm: Requantize needs the scales of both operands, but the left one has none": [
            lambda: fbg.gemm(fbg.PackA(U8), SCALED, fbg.Requantize(1.0)),
            lambda: fbg.gemm(
                fbg.PackAWithRowOffset(U8), SCALED, fbg.CorrectZeroPoints() >> fbg.Requantize(1.0)
            ),
        ],
        "gemm: CorrectZeroPoints needs the zero point of the left operand, which has none": [
            lambda: fbg.gemm(fbg.PackA(U8), SCALED, fbg.CorrectZeroPoints()),
        ],
        "gemm: int4 weights need the scale of the left operand, which has none": lambda: fbg.gemm(
            fbg.PackAWithRowOffset(U8), fbg.PackedB(np.ones((3, 4), np.float32), dtype="int4")
        ),
        "prepare: Dequantize needs the scales of both operands, but the left one has none": [
            lambda: fbg.prepare(SCALED, fbg.Dequantize(), rows=2, packer=fbg.PackAWithRowOffset),
        ],
        "gemm: Dequantize needs the scales of both operands, but the weights have none": lambda: (
            fbg.gemm(fbg.PackAWithQuantRowOffset(F32), INT8, fbg.Dequantize())
        ),
        "ReLU does not accept acc": lambda: fbg.gemm(fbg.PackA(U8), INT8, fbg.ReLU()),
        "Dequantize does not accept float32": lambda: fbg.gemm(
            fbg.PackA(F32), FLOAT, fbg.Dequantize()
        ),
        "Bias does not accept float32": lambda: fbg.gemm(
            fbg.PackA(F32), FLOAT, fbg.Bias(np.zeros(4, np.int32))
        ),
        "gemm: pipeline must be": lambda: fbg.gemm(fbg.PackA(F32), FLOAT, 3),
        "pipeline: every item must be a stage, got 'relu'": lambda: fbg.gemm(
            fbg.PackA(F32), FLOAT, [fbg.ReLU(), "relu"]
        ),
    },
    value_errors={
        "gemm: K of a is 2, but packed_b has K = 3": lambda: fbg.gemm(fbg.PackA(U8[:, :2]), INT8),
        "gemm: Bias must have 4 values, as the result does, got 5 values": lambda: fbg.gemm(
            fbg.PackA(F32), FLOAT, fbg.Bias(np.zeros(5, np.float32))
        ),
        "gemm: Add must have 2 x 4 values, as the result does, got 4 x 2 values": lambda: fbg.gemm(
            fbg.PackA(F32), FLOAT, fbg.Add(np.zeros((4, 2), np.float32))
        ),
    },
)
def test_operands_that_do_not_go_together_are_refused(refuse):
    refuse()
