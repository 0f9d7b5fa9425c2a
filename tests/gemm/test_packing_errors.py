"""Bad operands of the packers are refused with a message that names the argument."""

import numpy as np

import fbg
from helpers.refusals import refusals

F32 = np.float32
W8 = np.array([[1, -2, 3], [4, 5, -128]], np.int8)
W32 = np.ones((2, 3), F32)
A8 = np.ones((2, 3), np.uint8)


@refusals(
    type_errors={
        "PackedB: w must be an array, got list": lambda: fbg.PackedB([[1.0]]),
        "PackedB: w must be an array, got NoneType": lambda: fbg.PackedB(None),
        "must be an array, got memoryview": lambda: fbg.PackedB(memoryview(W32)),
        "PackedB: w must be an array, got str": lambda: fbg.PackedB("w"),
        "PackedB: w must be float32, float16, bfloat16 or int8, got float64": lambda: fbg.PackedB(
            W32.astype(np.float64)
        ),
        ", bfloat16 or int8, got uint8": lambda: fbg.PackedB(A8),
        ", bfloat16 or int8, got >f4": lambda: fbg.PackedB(W32.astype(">f4")),
        ", bfloat16 or int8, got object": lambda: fbg.PackedB(W32.astype(object)),
        ", bfloat16 or int8, got complex128": lambda: fbg.PackedB(W32.astype(complex)),
        r", bfloat16 or int8, got \|V0": lambda: fbg.PackedB(np.zeros((2, 2), "V0")),
        ", bfloat16 or int8, got bool": lambda: fbg.PackedB(W32 > 0),
        "PackedB: w must be floating for dtype='float32', got int8": lambda: fbg.PackedB(
            W8, dtype="float32"
        ),
        "PackedB: scale and zero_point require an int8 w, got float32": lambda: fbg.PackedB(
            W32, scale=1.0
        ),
        "PackedB: zero_point must be integer, got float64": lambda: fbg.PackedB(
            W8, scale=1.0, zero_point=0.5
        ),
        "PackedB: scale must be float, got <U1": lambda: fbg.PackedB(W8, scale="1"),
        "scale must be float, got complex128": lambda: fbg.PackedB(W8, scale=1j),
        "PackA: x must be an array, got list": lambda: fbg.PackA([[1]]),
        "PackA: x must be uint8, float32 or bfloat16, got float64": lambda: fbg.PackA(
            W32.astype(np.float64)
        ),
        "PackA: x must be uint8, float32 or bfloat16, got int8": lambda: fbg.PackA(W8),
        "PackAWithRowOffset: x must be uint8 or int8, got float32": lambda: fbg.PackAWithRowOffset(
            W32, scale=1.0
        ),
        "PackAWithRowOffset: scale must be (one )?float, got": [
            lambda scale=scale: fbg.PackAWithRowOffset(A8, scale=scale)
            for scale in ("1", 1j, [1.0], np.ones(3, F32))
        ],
        "PackAWithRowOffset: zero_point must be an integer, got": [
            lambda point=point: fbg.PackAWithRowOffset(A8, scale=1.0, zero_point=point)
            for point in (1.5, "1", None, np.float32(3))
        ],
        "PackAWithQuantRowOffset: x must be float32, got uint8": lambda: (
            fbg.PackAWithQuantRowOffset(A8)
        ),
        "PackAWithQuantRowOffset: row_range requires granularity='row'": lambda: (
            fbg.PackAWithQuantRowOffset(
                W32, granularity="tensor", row_range=np.zeros((len(W32), 2), F32)
            )
        ),
        "PackAWithQuantRowOffset: channel_scale must be float32, got float64": lambda: (
            fbg.PackAWithQuantRowOffset(W32, channel_scale=np.ones(W32.shape[1]))
        ),
        "PackAWithQuantRowOffset: row_range cannot be combined with channel_scale": lambda: (
            fbg.PackAWithQuantRowOffset(
                W32,
                row_range=np.zeros((len(W32), 2), F32),
                channel_scale=np.ones(W32.shape[1], F32),
            )
        ),
        "PackAWithQuantRowOffset: row_range must be float32, got float64": lambda: (
            fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((len(W32), 2)))
        ),
    },
    value_errors={
        r"PackedB: w must be 2-D \(K, N\), got shape \(3,\)": lambda: fbg.PackedB(W32[0]),
        r"PackedB: w must be 2-D \(N, K\), got shape \(1, 2, 3\)": lambda: fbg.PackedB(
            W32[None], transpose=True
        ),
        r"must be 2-D \(K, N\), got shape \(\)": lambda: fbg.PackedB(F32(1)),
        "PackedB: granularity must be 'column' or 'tensor', got 'row'": lambda: fbg.PackedB(
            W32, granularity="row"
        ),
        "PackedB: dtype='int4_g64' is dtype='int4', group=64 here": lambda: fbg.PackedB(
            W32, dtype="int4_g64"
        ),
        "dtype='int4_offset' is dtype='int4', group=32, symmetric=False": lambda: fbg.PackedB(
            W32, dtype="int4_offset"
        ),
        "PackedB: dtype must be .* or None, got 'Int8'; did you mean int8": lambda: fbg.PackedB(
            W32, dtype="Int8"
        ),
        "PackedB: dtype must be 'int8', 'int4', 'float32', .* or None, got 'float64'": lambda: (
            fbg.PackedB(W32, dtype="float64")
        ),
        r"PackedB: scale must have shape \(\) or \(3,\), got \(2,\)": lambda: fbg.PackedB(
            W8, scale=np.ones(2, F32)
        ),
        r"PackedB: scale must have shape \(\) or \(3,\), got \(1, 3\)": lambda: fbg.PackedB(
            W8, scale=np.ones((1, 3), F32)
        ),
        r"PackedB: zero_point must have shape \(\) or \(3,\), got \(2,\)": [
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=np.zeros(2, int)),
            lambda: fbg.PackedB(W8, zero_point=np.zeros(2, int)),
        ],
        r"PackedB: zero_point must be within \[-128, 127\], got 128": [
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=128),
            lambda: fbg.PackedB(W8, zero_point=128),
        ],
        r"\[-128, 127\], got -129": lambda: fbg.PackedB(W8, scale=1.0, zero_point=-129),
        r"\[-128, 127\], got": lambda: fbg.PackedB(W8, scale=1.0, zero_point=2**40),
        "PackedB: scale must be finite and positive": [
            lambda scale=scale: fbg.PackedB(W8, scale=scale)
            for scale in (
                0.0,
                -1.0,
                np.nan,
                np.inf,
                1e300,
                1e-60,
                np.array([1, np.nan, 1], F32),
            )
        ],
        r"PackA: x must be 2-D \(M, K\), got shape \(3,\)": lambda: fbg.PackA(A8[0]),
        "PackAWithRowOffset: scale must be finite and positive": [
            lambda scale=scale: fbg.PackAWithRowOffset(A8, scale=scale)
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60)
        ],
        r"PackAWithRowOffset: zero_point must be within \[0, 255\], got 256": lambda: (
            fbg.PackAWithRowOffset(A8, scale=1.0, zero_point=256)
        ),
        r"PackAWithRowOffset: zero_point must be within \[-128, 127\], got 128": lambda: (
            fbg.PackAWithRowOffset(W8, scale=1.0, zero_point=128)
        ),
        "PackAWithQuantRowOffset: granularity must be 'row' or 'tensor', got 'column'": lambda: (
            fbg.PackAWithQuantRowOffset(W32, granularity="column")
        ),
        "PackAWithQuantRowOffset: channel_scale must have shape ": lambda: (
            fbg.PackAWithQuantRowOffset(W32, channel_scale=np.ones(W32.shape[1] + 1, F32))
        ),
        rf"PackAWithQuantRowOffset: row_range must have shape \({len(W32)}, 2\), got \(99, 2\)": [
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((99, 2), F32)),
        ],
        "PackAWithQuantRowOffset: row_range must be C-contiguous": lambda: (
            fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((2, len(W32)), F32).T)
        ),
    },
)
def test_bad_operands_are_refused(refuse):
    refuse()
