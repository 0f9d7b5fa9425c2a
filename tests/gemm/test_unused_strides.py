"""Strides along which there are no neighbours: any number, and no result depends on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import fbg
from fbg.arrays import has_dense_rows

Array = npt.NDArray[Any]

K, N = 5, 32
RNG = np.random.default_rng(3)
W = fbg.PackedB(RNG.standard_normal((K, N), np.float32), dtype="float32")
INT8 = fbg.PackedB(RNG.standard_normal((K, N), np.float32))
BFLOAT16 = fbg.PackedB(RNG.standard_normal((K, N), np.float32), dtype="bfloat16")


def with_odd_strides(values: Array, at: int = 0) -> Array:
    """Return a copy whose strides are odd wherever they lead nowhere, `at` bytes into memory."""
    empty = values.size == 0
    strides = [
        17 - 40 * (axis % 2) if empty or size <= 1 else stride
        for axis, (size, stride) in enumerate(zip(values.shape, values.strides, strict=True))
    ]
    memory = np.zeros(values.nbytes + 64, np.uint8)
    view: Array = np.ndarray(values.shape, values.dtype, memory, at, strides)
    view[...] = values
    return view


def floats(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


def result_in_place(x: Array) -> Array:
    out = with_odd_strides(np.zeros((len(x), N), np.float32))
    assert fbg.gemm(fbg.PackA(x), W, out=out) is out
    return out.copy()


def prepared(x: Array) -> Array:
    call = fbg.prepare(W, rows=3)
    out = with_odd_strides(np.zeros((len(x), N), np.float32))
    return np.stack([call(x), call(x, out)])


def with_ranges(x: Array) -> Array:
    extents = with_odd_strides(np.zeros((len(x), 2), np.float32))
    y = fbg.gemm(fbg.PackA(x), W, fbg.RowRange(extents))
    w = fbg.PackedB(np.eye(N, dtype=np.float32))
    a = fbg.PackAWithQuantRowOffset(y, row_range=extents)
    return fbg.gemm(a, w, fbg.Dequantize())


def strassen(x: Array) -> Array:
    even = np.zeros((len(x), 6), np.float32)
    even[:, :5] = x
    w = fbg.PackedB(np.ones((6, N), np.float32), dtype="float32")
    return fbg.prepare(w, rows=len(x), algorithm="strassen")(with_odd_strides(even))


OPERANDS: dict[str, Callable[[Array], Array]] = {
    "linear": lambda x: fbg.linear(x, W),
    "linear of bytes": lambda x: fbg.linear(x, INT8),
    "PackA": lambda x: fbg.gemm(fbg.PackA(x), W),
    "PackA of bfloat16": lambda x: fbg.gemm(
        fbg.PackA(with_odd_strides(x.astype(ml_dtypes.bfloat16))), BFLOAT16
    ),
    "PackA of bytes": lambda x: fbg.gemm(fbg.PackA(with_odd_strides(x.astype(np.uint8))), INT8),
    "PackAWithRowOffset": lambda x: fbg.gemm(
        fbg.PackAWithRowOffset(with_odd_strides(x.astype(np.int8)), scale=1), INT8, fbg.Dequantize()
    ),
    "PackAWithQuantRowOffset": lambda x: fbg.gemm(
        fbg.PackAWithQuantRowOffset(x), INT8, fbg.Dequantize()
    ),
    "row_range": with_ranges,
    "out": result_in_place,
    "prepared": prepared,
    "strassen": strassen,
    "residual": lambda x: fbg.gemm(
        fbg.PackA(x), W, fbg.Add(with_odd_strides(np.ones((len(x), N), np.float32)))
    ),
    "residual of float16": lambda x: fbg.gemm(
        fbg.PackA(x), W, fbg.Add(with_odd_strides(np.ones((len(x), N), np.float16)))
    ),
    "residual of bfloat16": lambda x: fbg.gemm(
        fbg.PackA(x), W, fbg.Add(with_odd_strides(np.ones((len(x), N), ml_dtypes.bfloat16)))
    ),
    "weights": lambda x: fbg.PackedB(x, dtype="float32").unpack(),
    "weights of bytes": lambda x: fbg.PackedB(with_odd_strides(x.astype(np.int8))).unpack(),
    "similarity": lambda x: fbg.similarity(x, x, metric="dot"),
    "search": lambda x: np.array(
        [hit["score"] for hits in fbg.semantic_search(floats(2, K), x, top_k=1) for hit in hits]
    ),
    "weights of a convolution": lambda x: fbg.PackedConv(x[:1, :, None], dtype="float32").unpack(),
}


@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize("rows", [1, 0, 2])
def test_one_row_may_have_any_stride(name: str, rows: int) -> None:
    if rows == 0 and name == "weights of a convolution":
        pytest.skip("weights are never empty")
    x = floats(rows, K)
    assert OPERANDS[name](with_odd_strides(x)).tobytes() == OPERANDS[name](x).tobytes()


def test_one_column_may_have_any_stride() -> None:
    x, w, b = floats(3, 1), floats(1, 1), floats(1)
    odd = [with_odd_strides(a) for a in (x, w, b)]
    assert not any(a.strides[-1] % 4 == 0 for a in odd)
    results = [
        fbg.linear(x, fbg.PackedB(w, dtype="float32"), b, activation="gelu")
        for x, w, b in (odd, (x, w, b))
    ]
    assert results[0].tobytes() == results[1].tobytes()
    scale = np.full(1, 0.5, np.float32)
    packers = [
        fbg.PackAWithQuantRowOffset(x, channel_scale=s) for s in (with_odd_strides(scale), scale)
    ]
    sums = [fbg.gemm(a, fbg.PackedB(w), fbg.Dequantize()) for a in packers]
    assert sums[0].tobytes() == sums[1].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_empty_operands_may_be_anywhere(dtype: Any) -> None:
    empty = with_odd_strides(np.zeros((0, N), dtype), at=1)
    x = with_odd_strides(np.zeros((0, K), np.float32), at=3)
    assert fbg.gemm(fbg.PackA(x), W, fbg.Add(empty)).shape == (0, N)
    assert fbg.linear(x, W).shape == (0, N)
    out = with_odd_strides(np.zeros((0, N), np.float32), at=1)
    assert fbg.gemm(fbg.PackA(x), W, out=out) is out
    assert fbg.prepare(W, rows=2)(x, out) is out
    extents = with_odd_strides(np.zeros((0, 2), np.float32), at=1)
    assert fbg.gemm(fbg.PackA(x), W, fbg.RowRange(extents)).shape == (0, N)


@pytest.mark.parametrize("axis", range(4))
def test_axes_of_one_element_of_images_may_have_any_stride(axis: int) -> None:
    shape = [2, 3, 4, 5]
    shape[axis] = 1
    w = floats(6, shape[3], 1, 1)
    for dtype, options in ((np.float32, {}), (np.uint8, {"scale": 0.5, "zero_point": 3})):
        x = np.abs(floats(*shape) * 50).astype(dtype)
        wc = fbg.PackedConv(w, dtype="float32" if dtype == np.float32 else "int8", padding=1)
        stages = fbg.Dequantize() if options else None
        wanted = fbg.conv(x, wc, stages, **options)
        odd = with_odd_strides(x)
        assert has_dense_rows(odd)  # read where it is
        call = fbg.prepare(wc, stages, shape=x.shape, x_dtype=dtype, **options)
        patches = fbg.gemm(fbg.PackAWithIm2Col(odd, wc, **options), wc, stages)
        for y in (fbg.conv(odd, wc, stages, **options), call(odd), call(odd), patches):
            assert y.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("shape", [(1, 4, 5), (3, 1, 5), (1, 1, 1), (1, 1, 5), (0, 4, 5)])
def test_axes_of_one_element_of_results_may_have_any_stride(shape: tuple[int, ...]) -> None:
    x = floats(*shape[:-1], 2)
    wc = fbg.PackedConv(floats(shape[-1], 2, 1), dtype="float32")
    out = with_odd_strides(np.zeros(shape, np.float32))
    residual = with_odd_strides(np.ones(shape, np.float32))
    assert fbg.conv(x, wc, fbg.Add(residual), out=out) is out
    assert fbg.prepare(wc, shape=x.shape)(x, out) is out
    assert out.tobytes() == fbg.conv(x, wc).tobytes()


def test_images_that_are_not_aligned_are_copied() -> None:
    x = floats(1, 3, 3, 4)
    shifted = with_odd_strides(x, at=1)
    assert not has_dense_rows(shifted)
    wc = fbg.PackedConv(floats(4, 4, 1, 1), dtype="float32")
    call = fbg.prepare(wc, shape=x.shape)
    assert call(shifted).tobytes() == call(x).tobytes() == fbg.conv(shifted, wc).tobytes()
