"""Products of every kind over shapes, ways to pass arrays, and long sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from cases import Array, Case, Setting
from inputs import floats, integers, small_weights

# M, N, K: single rows, columns and sums, tails of tiles and panels, several blocks, and nothing.
SHAPES = [
    *((1, 1, 1), (1, 1, 7), (5, 1, 3), (1, 9, 1), (4, 3, 1), (1, 33, 64), (2, 31, 5), (3, 16, 4)),
    *((6, 32, 128), (7, 65, 33), (13, 100, 129), (16, 64, 256), (31, 96, 257), (64, 768, 320)),
    *((1, 700, 900), (300, 100, 2100), (160, 530, 1300), (0, 5, 3), (3, 0, 4), (3, 4, 0)),
]
SWEEPS = {
    "every-m-to-33": [(m, 40, 50) for m in range(1, 34)],
    "every-n-to-70": [(5, n, 20) for n in range(1, 71)],
    "every-k-to-40": [(3, 20, k) for k in range(1, 41)],
}


class Product(NamedTuple):
    """Two operands, and the stages that make float32 of the sums, if they are to become that."""

    a: Any
    b: Any
    stages: tuple[Any, ...] = ()


def pack_int16(w: Array, **options: Any) -> Any:
    """Weights for int16 sums, whatever the CPU would choose."""
    import fbg

    with fbg.isa.limit("generic"):
        return fbg.PackedB(w, accum="int16", **options)


def products(shape: tuple[int, int, int]) -> dict[str, Product]:
    """Every kind of product: what is quantized, and how; where sums are kept; float weights."""
    import ml_dtypes

    import fbg

    m, n, k = shape
    x, w = floats((m, k), 1), floats((k, n), 2)
    unsigned = integers((m, k), 0, 255, np.uint8, 3)
    signed = integers((m, k), -128, 127, np.int8, 4)
    q, small = integers((k, n), -128, 127, np.int8, 5), small_weights((k, n), 6)
    columns: dict[str, Any] = {
        "scale": np.abs(floats((n,), 7)) + np.float32(0.01),
        "zero_point": integers((n,), -9, 9, np.int32, 8),
    }
    odd = x.copy()
    odd[1::3, :1], odd[2::3, -1:] = np.nan, np.inf
    extents = np.empty((m + 1, 2), np.float32)[:m]  # without rows, too, it has the strides of rows
    extents[:, 0] = x.min(axis=1, initial=np.inf)
    extents[:, 1] = x.max(axis=1, initial=-np.inf)
    rows, offset = fbg.PackAWithQuantRowOffset, fbg.PackAWithRowOffset
    shifted: dict[str, Any] = {"scale": 0.05, "zero_point": 110}
    real = (fbg.Dequantize(),)
    quantized, bfloat16 = fbg.PackedB(w), fbg.PackedB(w, dtype="bfloat16")
    return {
        "int8-sums": Product(fbg.PackA(unsigned), fbg.PackedB(q)),
        "int8": Product(offset(unsigned, **shifted), fbg.PackedB(q, **columns), real),
        "int8-signed": Product(
            offset(signed, scale=0.1, zero_point=-5), fbg.PackedB(q, scale=0.02), real
        ),
        "int8-rows": Product(rows(x), quantized, real),
        "int8-ranges": Product(rows(x, row_range=extents), quantized, real),
        "int8-channels": Product(
            rows(x, channel_scale=np.abs(floats((k,), 9)) + np.float32(0.1)), quantized, real
        ),
        "int8-not-finite": Product(rows(odd), quantized, real),
        "int8-asymmetric": Product(rows(x), fbg.PackedB(w, symmetric=False), real),
        "int8-tensor": Product(
            rows(x, granularity="tensor"), fbg.PackedB(w, granularity="tensor"), real
        ),
        "int16-sums": Product(fbg.PackA(unsigned), pack_int16(small)),
        "int16": Product(offset(unsigned, **shifted), pack_int16(small, **columns), real),
        "int16-rows": Product(rows(x), pack_int16(small, outlier_bits=3, **columns), real),
        "float32": Product(fbg.PackA(x), fbg.PackedB(w, dtype="float32")),
        "float16": Product(fbg.PackA(x), fbg.PackedB(w, dtype="float16")),
        "bfloat16": Product(fbg.PackA(x), bfloat16),
        "bfloat16-rounded": Product(fbg.PackA(x, dtype="bfloat16"), bfloat16),
        "bfloat16-given": Product(fbg.PackA(x.astype(ml_dtypes.bfloat16)), bfloat16),
    }


def shape_cases(setting: Setting) -> Iterator[Case]:
    import fbg

    def results(shape: tuple[int, int, int]) -> Iterator[Case]:
        for name, (a, b, stages) in products(shape).items():
            yield name, fbg.gemm(a, b, stages, num_threads=setting.threads)
        m, n, k = shape
        x, bias = floats((m, k), 10), floats((n,), 11)
        for dtype in ("int8", "float32"):
            b = fbg.PackedB(floats((k, n), 12), dtype=dtype)
            for activation in (None, "relu", "gelu"):
                name = f"linear-{dtype}-{activation or 'plain'}"
                yield name, fbg.linear(x, b, bias, activation)

    for shape in SHAPES:
        m, n, k = shape
        for name, result in results(shape):
            yield f"{name}/{m}x{n}x{k}", result
    for sweep, shapes in SWEEPS.items():
        swept: dict[str, list[Array]] = {}
        for shape in shapes:
            for name, result in results(shape):
                swept.setdefault(name, []).append(result)
        for name, arrays in swept.items():
            yield f"{name}/{sweep}", arrays


def view_cases(setting: Setting) -> Iterator[Case]:
    """Operands and results that do not lie end to end, and calls that were prepared."""
    import fbg

    m, n, k, threads = 23, 75, 61, setting.threads
    every_other = (slice(1, None, 2), slice(None, None, -3))
    wide = floats((2 * m + 1, 3 * k), 30)[every_other]
    wide_bytes = integers((2 * m + 1, 3 * k), 0, 255, np.uint8, 31)[every_other]
    w = floats((n, 2 * k), 32)[:, ::2]
    for dtype in ("int8", "float32", "float16", "bfloat16"):
        b = fbg.PackedB(w, transpose=True, dtype=dtype)
        a = fbg.PackAWithQuantRowOffset(wide) if dtype == "int8" else fbg.PackA(wide)
        real = [fbg.Dequantize()] if dtype == "int8" else []
        around = np.full((m, n + 9), np.float32(7))
        fbg.gemm(a, b, real, out=around[:, 4 : n + 4], num_threads=threads)
        yield f"views/{dtype}", around
        stages = [*real, fbg.Bias(floats((n,), 33)), fbg.GELU()]
        call = fbg.prepare(b, stages, rows=m + 5, num_threads=threads)
        yield f"prepared/{dtype}", [call(wide), call(wide[:1]), call(wide[:0])]
        three = np.ascontiguousarray(wide[:22]).reshape(2, 11, k)
        yield f"linear-of-many-axes/{dtype}", [fbg.linear(three, b), fbg.linear(three[0, 0], b)]
    b = fbg.PackedB(integers((k, n), -128, 127, np.int8, 34), scale=0.1, zero_point=3)
    yield "views/uint8", fbg.gemm(fbg.PackA(wide_bytes), b, num_threads=threads)
    call = fbg.prepare(b, rows=m, x_dtype=np.uint8, num_threads=threads)
    yield "prepared/uint8", [call(wide_bytes), call(wide_bytes[:2])]
    options: dict[str, Any] = {"packer": fbg.PackAWithRowOffset, "scale": 0.3, "zero_point": 7}
    call = fbg.prepare(b, fbg.Requantize(9.0, 4), rows=m, num_threads=threads, **options)
    yield "prepared/requantized", [call(wide_bytes), call(wide_bytes[:2])]


def depth_cases(setting: Setting) -> Iterator[Case]:
    """The longest sums there are: of all that int32 holds, and of what a pipeline takes."""
    import fbg

    for name, k, stages in (
        ("sums", 65793, []),
        ("corrected", 33025, [fbg.CorrectZeroPoints()]),
    ):
        a = fbg.PackAWithRowOffset(integers((2, k), 200, 255, np.uint8, 35), scale=1.0)
        b = fbg.PackedB(integers((k, 40), 100, 127, np.int8, 36), scale=1.0)
        yield f"depth/{name}", fbg.gemm(a, b, stages, num_threads=setting.threads)
