"""Objects of every kind that can be pickled, each with what is computed with it."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import fbg

Array = npt.NDArray[Any]
Uses = dict[str, tuple[Any, ...]]  # a function of `result`, and its arguments

M, K, N = 4, 6, 32
SHAPE = (2, 5, 4, 8)  # of images


def _floats(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def _weights(dtype: Any = "int8") -> fbg.PackedB:
    return fbg.PackedB(_floats(K, N), dtype=dtype)


def _stages() -> Uses:
    steps: tuple[Any, ...] = (
        fbg.ReLU(),
        fbg.GELU(),
        fbg.GELU("tanh"),
        fbg.Tanh(),
        fbg.Sigmoid(),
        fbg.Clip(-0.5, 0.25),
        fbg.Scale(0.3),
        fbg.Bias(_floats(2 * N)[::2]),
        fbg.Add(_floats(M, 2 * N)[:, :N]),
        fbg.Add(_floats(M, N).astype(np.float16)),
        fbg.Add(_floats(M, N).astype(ml_dtypes.bfloat16)),
        fbg.Add(np.full((M, N), 9, np.uint8), scale=0.1, zero_point=3),
        fbg.Cast(np.float16),
        fbg.Cast("bfloat16"),
        fbg.Requantize(0.02, -5, np.int8),
        fbg.RowRange(np.zeros((M, 2), np.float32)),
        fbg.Pipeline(),
        fbg.Bias(_floats(N)) >> fbg.ReLU() >> fbg.Scale(2) >> fbg.Cast("float16"),
    )
    a, w = fbg.PackA(_floats(M, K)), _weights("float32")
    uses: Uses = {repr(step): ("gemm", a, w, step) for step in steps}
    q, int8 = fbg.PackAWithRowOffset(np.full((M, K), 9, np.int8), scale=0.5), _weights()
    for stages in (
        fbg.Bias(np.arange(N, dtype=np.int32)) >> fbg.CorrectZeroPoints(),
        fbg.Pipeline([fbg.Dequantize()]),
        fbg.Pipeline([fbg.Requantize(0.5)]),
    ):
        uses[repr(stages)] = ("gemm", q, int8, stages)
    return uses


def _packers() -> Uses:
    x = _floats(M, K)
    ranges = np.stack([x.min(axis=1), x.max(axis=1)], axis=1)
    q = np.arange(M * K, dtype=np.int8).reshape(M, K) - 9
    real, int8, bfloat16 = fbg.Dequantize(), _weights(), _weights("bfloat16")
    scale = np.abs(_floats(K))
    return {
        "PackA": ("gemm", fbg.PackA(x.T.copy().T), _weights("float32")),
        "of bfloat16": ("gemm", fbg.PackA(x.astype(ml_dtypes.bfloat16)), bfloat16),
        "to bfloat16": ("gemm", fbg.PackA(x, dtype="bfloat16"), bfloat16),
        "of bytes": ("gemm", fbg.PackA(q.view(np.uint8)), int8),
        "offsets": ("gemm", fbg.PackAWithRowOffset(q, scale=0.1, zero_point=-3), int8, real),
        "by row": ("gemm", fbg.PackAWithQuantRowOffset(x), int8, real),
        "by tensor": ("gemm", fbg.PackAWithQuantRowOffset(x, granularity="tensor"), int8, real),
        "ranges": ("gemm", fbg.PackAWithQuantRowOffset(x, row_range=ranges), int8, real),
        "factors": ("gemm", fbg.PackAWithQuantRowOffset(x, channel_scale=scale), int8, real),
    }


def _convolutions() -> Uses:
    w = _floats(8, 4, 3, 3)
    q = np.arange(w.size, dtype=np.int64).astype(np.int8).reshape(w.shape)
    points = np.array([0, 0, 0, 0, 3, -7, 100, 1])
    geometry: dict[str, Any] = {"padding": ((1, 2), (0, 1)), "groups": 2}
    x, bytes_ = _floats(*SHAPE), np.arange(np.prod(SHAPE)).astype(np.uint8).reshape(SHAPE)
    float_types: tuple[Any, ...] = ("float32", "float16", "bfloat16")
    uses: Uses = {t: ("conv", x, fbg.PackedConv(w, dtype=t, **geometry)) for t in float_types}
    grains: tuple[Any, ...] = ("column", "group", "tensor")
    sums: tuple[Any, ...] = ("int32", "int16")
    for grain, accum in itertools.product(grains, sums):
        wc = fbg.PackedConv(w, granularity=grain, accum=accum, **geometry)
        uses[f"int8 per {grain}, {accum}"] = ("conv", x, wc)
    raw = fbg.PackedConv(q, stride=(1, 2), dilation=(2, 1), groups=2)
    with_points = fbg.PackedConv(q, scale=0.1, zero_point=points, groups=2)
    transposed = fbg.PackedConv(
        w, 2, 1, groups=2, transposed=True, output_padding=1, dtype="float32"
    )
    patches = fbg.PackAWithIm2Col(bytes_, raw, zero_point=7)
    return uses | {
        "raw sums": ("conv", bytes_, raw),
        "zero points": ("conv", x, with_points),
        "transposed": ("conv", x, transposed),
        "depthwise": ("conv", x, fbg.PackedConv(_floats(8, 1, 3, 3), groups=8, dtype="float32")),
        "one axis": ("conv", x[0], fbg.PackedConv(_floats(3, 8, 2), dtype="float32")),
        "patches": ("gemm", patches, raw),
    }


def _calls() -> Uses:
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
    uses: Uses = {
        "call": ("call", fbg.prepare(floats, bias >> fbg.GELU(), rows=M, num_threads=2), x),
        "int8": ("call", fbg.prepare(int8, real >> bias, rows=M), x),
        "int4": ("call", fbg.prepare(_weights("int4"), bias, rows=M), x),
        "to bfloat16": (
            "call",
            fbg.prepare(bfloat16, fbg.Cast("bfloat16"), rows=M, dtype="bfloat16"),
            x,
        ),
        "of bfloat16": (
            "call",
            fbg.prepare(bfloat16, rows=M, x_dtype="bfloat16"),
            x.astype(ml_dtypes.bfloat16),
        ),
        "by tensor": ("call", fbg.prepare(int8, real, rows=M, granularity="tensor"), x),
        "ranges": ("call", fbg.prepare(int8, real, rows=M, row_range=ranges), x),
        "factors": ("call", fbg.prepare(int8, real, rows=M, channel_scale=scale), x),
        "a packer that cannot be pickled": ("call", own, q),
        "strassen": ("call", fbg.prepare(floats, bias, rows=M, algorithm="strassen"), x),
    }
    for name, (use, image, wc) in _convolutions().items():
        if use == "conv" and image.dtype == np.float32:
            uses[name] = ("call", fbg.prepare(wc, shape=image.shape), image)
    with_points = _convolutions()["zero points"][2]
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
    return uses | {"all options": ("call", exact, np.ones(SHAPE, np.int8))}


def uses() -> Uses:
    """Return all of them, the same ones each time."""
    parts = {
        "stage": _stages(), "packer": _packers(), "conv": _convolutions(), "call": _calls()
    }  # fmt: skip
    return {f"{part} {name}": use for part, uses in parts.items() for name, use in uses.items()}


def result(use: tuple[Any, ...]) -> Array:
    """Return what is computed."""
    name, *arguments = use
    if name == "call":
        call, x = arguments
        y: Array = call(x)
        return y
    return fbg.gemm(*arguments) if name == "gemm" else fbg.conv(*arguments)
