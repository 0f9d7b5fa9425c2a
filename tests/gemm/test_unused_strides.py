"""Strides along which there are no neighbours: any number, and no result depends on them.

tests/differential draws them for products and convolutions; these are the other functions.
"""

from __future__ import annotations

import numpy as np
import pytest

import fbg

K, N = 5, 32
RNG = np.random.default_rng(3)
W = fbg.PackedB(RNG.standard_normal((K, N), np.float32), dtype="float32")
INT8 = fbg.PackedB(RNG.standard_normal((K, N), np.float32))
BFLOAT16 = fbg.PackedB(RNG.standard_normal((K, N), np.float32), dtype="bfloat16")


def with_odd_strides(values, at=0):
    """Return a copy whose strides are odd wherever they lead nowhere, `at` bytes into memory."""
    empty = values.size == 0
    strides = [
        17 - 40 * (axis % 2) if empty or size <= 1 else stride
        for axis, (size, stride) in enumerate(zip(values.shape, values.strides, strict=True))
    ]
    memory = np.zeros(values.nbytes + 64, np.uint8)
    view = np.ndarray(values.shape, values.dtype, memory, at, strides)
    view[...] = values
    return view


def floats(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)


def with_ranges(x):
    extents = with_odd_strides(np.zeros((len(x), 2), np.float32))
    y = fbg.gemm(fbg.PackA(x), W, fbg.RowRange(extents))
    w = fbg.PackedB(np.eye(N, dtype=np.float32))
    a = fbg.PackAWithQuantRowOffset(y, row_range=extents)
    return fbg.gemm(a, w, fbg.Dequantize())


def strassen(x):
    even = np.zeros((1, len(x), 6), np.float32)
    even[0, :, :5] = x
    w = fbg.PackedConv(np.ones((N, 6, 1), np.float32), dtype="float32")
    return fbg.conv(with_odd_strides(even), w, algorithm="strassen")[0]


OPERANDS = {
    "linear": lambda x: fbg.linear(x, W),
    "linear of bytes": lambda x: fbg.linear(x, INT8),
    "row_range": with_ranges,
    "strassen": strassen,
    "similarity": lambda x: fbg.similarity(x, x, metric="dot"),
    "search": lambda x: np.array(
        [hit["score"] for hits in fbg.semantic_search(floats(2, K), x, top_k=1) for hit in hits]
    ),
}


@pytest.mark.parametrize("name", OPERANDS)
@pytest.mark.parametrize("rows", [1, 0, 2])
def test_one_row_may_have_any_stride(name, rows):
    x = floats(rows, K)
    assert OPERANDS[name](with_odd_strides(x)).tobytes() == OPERANDS[name](x).tobytes()
