"""Prepared calls of every kind, and what they are called with."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import fbg

M, K, N = 4, 6, 32
SHAPE = (2, 5, 4, 8)  # of images


def _floats(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def _weights(dtype="int8"):
    return fbg.PackedB(_floats(K, N), dtype=dtype)


def _convolutions():
    w, points = _floats(8, 4, 3, 3), np.array([0, 0, 0, 0, 3, -7, 100, 1])
    q = np.arange(w.size, dtype=np.int64).astype(np.int8).reshape(w.shape)
    return [
        fbg.PackedConv(w, padding=((1, 2), (0, 1)), groups=2, dtype="float32"),
        fbg.PackedConv(w, 2, 1, groups=2, transposed=True, output_padding=1, dtype="float32"),
        fbg.PackedConv(_floats(8, 1, 3, 3), groups=8, dtype="float32"),
        fbg.PackedConv(q, scale=0.1, zero_point=points, groups=2),
    ]


def uses():
    """Return all of them, the same ones each time."""
    x, q = _floats(M, K), np.arange(M * K, dtype=np.int8).reshape(M, K)
    bias, real = fbg.Bias(_floats(N)), fbg.Dequantize()
    ranges = np.stack([np.full(M, -9, np.float32), np.full(M, 9, np.float32)], axis=1)
    floats, int8, bfloat16 = _weights("float32"), _weights(), _weights("bfloat16")
    own = fbg.prepare(
        int8,
        real,
        rows=M,
        packer=lambda x: fbg.PackAWithRowOffset(x, scale=0.5, zero_point=2),
        x_dtype=np.int8,
    )
    scale = np.abs(_floats(K))
    uses = {
        "call": (fbg.prepare(floats, bias >> fbg.GELU(), rows=M, num_threads=2), x),
        "int8": (fbg.prepare(int8, real >> bias, rows=M), x),
        "int4": (fbg.prepare(_weights("int4"), bias, rows=M), x),
        "to bfloat16": (
            fbg.prepare(bfloat16, fbg.Cast("bfloat16"), rows=M, dtype="bfloat16"),
            x,
        ),
        "of bfloat16": (
            fbg.prepare(bfloat16, rows=M, x_dtype="bfloat16"),
            x.astype(ml_dtypes.bfloat16),
        ),
        "by tensor": (fbg.prepare(int8, real, rows=M, granularity="tensor"), x),
        "ranges": (fbg.prepare(int8, real, rows=M, row_range=ranges), x),
        "factors": (fbg.prepare(int8, real, rows=M, channel_scale=scale), x),
        "a packer that cannot be pickled": (own, q),
    }
    image = _floats(*SHAPE)
    for wc in _convolutions():
        uses[repr(wc)] = fbg.prepare(wc, shape=SHAPE), image
    with_points = _convolutions()[-1]
    exact = fbg.prepare(
        with_points,
        real >> fbg.ReLU(),
        shape=SHAPE,
        x_dtype=np.int8,
        scale=0.25,
        zero_point=-3,
        algorithm="im2col",
        exact=True,
        num_threads=2,
    )
    return uses | {"all options": (exact, np.ones(SHAPE, np.int8))}


def result(use):
    call, x = use
    return call(x)
