"""Bad operands of the packers are refused with a message that names the argument."""

from collections.abc import Callable

import numpy as np
import pytest

import fbg
from helpers.formulas import Array

F32 = np.float32
W8 = np.array([[1, -2, 3], [4, 5, -128]], np.int8)
W32 = np.ones((2, 3), F32)
A8 = np.ones((2, 3), np.uint8)


def with_value(value: float) -> Array:
    w = W32.copy()
    w[1, 2] = value
    return w


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fbg.PackedB([[1.0]]), TypeError, "PackedB: w must be an array, got list"),
        (lambda: fbg.PackedB(None), TypeError, "PackedB: w must be an array, got NoneType"),
        (lambda: fbg.PackedB(memoryview(W32)), TypeError, "must be an array, got memoryview"),
        (lambda: fbg.PackedB("w"), TypeError, "PackedB: w must be an array, got str"),
        (
            lambda: fbg.PackedB(W32.astype(np.float64)),
            TypeError,
            "PackedB: w must be float32, float16, bfloat16 or int8, got float64",
        ),
        (lambda: fbg.PackedB(A8), TypeError, ", bfloat16 or int8, got uint8"),
        (lambda: fbg.PackedB(W32.astype(">f4")), TypeError, ", bfloat16 or int8, got >f4"),
        (lambda: fbg.PackedB(W32.astype(object)), TypeError, ", bfloat16 or int8, got object"),
        (
            lambda: fbg.PackedB(W32.astype(complex)),
            TypeError,
            ", bfloat16 or int8, got complex128",
        ),
        (lambda: fbg.PackedB(np.zeros((2, 2), "V0")), TypeError, r", bfloat16 or int8, got \|V0"),
        (lambda: fbg.PackedB(W32 > 0), TypeError, ", bfloat16 or int8, got bool"),
        (
            lambda: fbg.PackedB(W32[0]),
            ValueError,
            r"PackedB: w must be 2-D \(K, N\), got shape \(3,\)",
        ),
        (
            lambda: fbg.PackedB(W32[None], transpose=True),
            ValueError,
            r"PackedB: w must be 2-D \(N, K\), got shape \(1, 2, 3\)",
        ),
        (lambda: fbg.PackedB(F32(1)), ValueError, r"must be 2-D \(K, N\), got shape \(\)"),
        (
            lambda: fbg.PackedB(with_value(np.nan)),
            ValueError,
            r"PackedB: w must be finite, got nan at \(1, 2\)",
        ),
        (lambda: fbg.PackedB(with_value(-np.inf)), ValueError, r"got -inf at \(1, 2\)"),
        (
            lambda: fbg.PackedB(W32, granularity="row"),
            ValueError,
            "PackedB: granularity must be 'column' or 'tensor', got 'row'",
        ),
        (
            lambda: fbg.PackedB(W32, dtype="float64"),
            ValueError,
            "PackedB: dtype must be 'int8', 'int4', 'float32', .* or None, got 'float64'",
        ),
        (
            lambda: fbg.PackedB(W8, dtype="float32"),
            TypeError,
            "PackedB: w must be floating for dtype='float32', got int8",
        ),
        (
            lambda: fbg.PackedB(W32, scale=1.0),
            TypeError,
            "PackedB: scale and zero_point require an int8 w, got float32",
        ),
        (
            lambda: fbg.PackedB(W8, zero_point=1),
            ValueError,
            "PackedB: zero_point was given without scale",
        ),
        (
            lambda: fbg.PackedB(W8, scale=np.ones(2, F32)),
            ValueError,
            r"PackedB: scale must have shape \(\) or \(3,\), got \(2,\)",
        ),
        (
            lambda: fbg.PackedB(W8, scale=np.ones((1, 3), F32)),
            ValueError,
            r"PackedB: scale must have shape \(\) or \(3,\), got \(1, 3\)",
        ),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=np.zeros(2, int)),
            ValueError,
            r"PackedB: zero_point must have shape \(\) or \(3,\), got \(2,\)",
        ),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=128),
            ValueError,
            r"PackedB: zero_point must be within \[-128, 127\], got 128",
        ),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=-129),
            ValueError,
            r"\[-128, 127\], got -129",
        ),
        (lambda: fbg.PackedB(W8, scale=1.0, zero_point=2**40), ValueError, r"\[-128, 127\], got"),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=0.5),
            TypeError,
            "PackedB: zero_point must be integer, got float64",
        ),
        (lambda: fbg.PackedB(W8, scale="1"), TypeError, "PackedB: scale must be float, got <U1"),
        (lambda: fbg.PackedB(W8, scale=1j), TypeError, "scale must be float, got complex128"),
        *(
            (
                lambda scale=scale: fbg.PackedB(W8, scale=scale),
                ValueError,
                "PackedB: scale must be finite and positive",
            )
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60, np.array([1, np.nan, 1], F32))
        ),
        (lambda: fbg.PackA([[1]]), TypeError, "PackA: x must be an array, got list"),
        (
            lambda: fbg.PackA(W32.astype(np.float64)),
            TypeError,
            "PackA: x must be uint8, float32 or bfloat16, got float64",
        ),
        (
            lambda: fbg.PackA(W8),
            TypeError,
            "PackA: x must be uint8, float32 or bfloat16, got int8",
        ),
        (lambda: fbg.PackA(A8[0]), ValueError, r"PackA: x must be 2-D \(M, K\), got shape \(3,\)"),
        (
            lambda: fbg.PackAWithRowOffset(W32, scale=1.0),
            TypeError,
            "PackAWithRowOffset: x must be uint8 or int8, got float32",
        ),
        *(
            (
                lambda scale=scale: fbg.PackAWithRowOffset(A8, scale=scale),
                ValueError,
                "PackAWithRowOffset: scale must be finite and positive",
            )
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60)
        ),
        *(
            (
                lambda scale=scale: fbg.PackAWithRowOffset(A8, scale=scale),
                TypeError,
                "PackAWithRowOffset: scale must be (one )?float, got",
            )
            for scale in ("1", None, 1j, [1.0], np.ones(3, F32))
        ),
        (
            lambda: fbg.PackAWithRowOffset(A8, scale=1.0, zero_point=256),
            ValueError,
            r"PackAWithRowOffset: zero_point must be within \[0, 255\], got 256",
        ),
        (
            lambda: fbg.PackAWithRowOffset(W8, scale=1.0, zero_point=128),
            ValueError,
            r"PackAWithRowOffset: zero_point must be within \[-128, 127\], got 128",
        ),
        *(
            (
                lambda point=point: fbg.PackAWithRowOffset(A8, scale=1.0, zero_point=point),
                TypeError,
                "PackAWithRowOffset: zero_point must be an integer, got",
            )
            for point in (1.5, "1", None, np.float32(3))
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(A8),
            TypeError,
            "PackAWithQuantRowOffset: x must be float32, got uint8",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, granularity="column"),
            ValueError,
            "PackAWithQuantRowOffset: granularity must be 'row' or 'tensor', got 'column'",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(
                W32, granularity="tensor", row_range=np.zeros((len(W32), 2), F32)
            ),
            TypeError,
            "PackAWithQuantRowOffset: row_range requires granularity='row'",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, channel_scale=np.ones(W32.shape[1] + 1, F32)),
            ValueError,
            "PackAWithQuantRowOffset: channel_scale must have shape ",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, channel_scale=np.ones(W32.shape[1])),
            TypeError,
            "PackAWithQuantRowOffset: channel_scale must be float32, got float64",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(
                W32,
                row_range=np.zeros((len(W32), 2), F32),
                channel_scale=np.ones(W32.shape[1], F32),
            ),
            TypeError,
            "PackAWithQuantRowOffset: row_range cannot be combined with channel_scale",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((99, 2), F32)),
            ValueError,
            rf"PackAWithQuantRowOffset: row_range must have shape \({len(W32)}, 2\), got \(99, 2\)",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((len(W32), 2))),
            TypeError,
            "PackAWithQuantRowOffset: row_range must be float32, got float64",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((2, len(W32)), F32).T),
            ValueError,
            "PackAWithQuantRowOffset: row_range must be C-contiguous",
        ),
    ],
)
def test_bad_operands_are_refused(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
