"""Products with every output stage, with the chains of a network, and with extreme values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from cases import Case, Setting
from inputs import floats, integers, words
from products import products

STAGED_SHAPES = [(1, 1, 1), (7, 37, 50), (14, 100, 129), (65, 260, 70)]
STAGED = ("int8", "int8-rows", "int16", "float32", "float16", "bfloat16-rounded")


def float_stages(m: int, n: int) -> dict[str, list[Any]]:
    """Chains of stages for float32 results: every stage, those of a network, and the longest."""
    import ml_dtypes

    import fbg

    bias, residual = fbg.Bias(floats((n,), 20)), floats((m, n), 21)
    unsigned, signed = (
        integers((m, n), limits.min, limits.max, limits.dtype, 22)
        for limits in (np.iinfo(np.uint8), np.iinfo(np.int8))
    )
    return {
        "nothing": [],
        "bias": [bias],
        "relu": [fbg.ReLU()],
        "gelu": [fbg.GELU()],
        "gelu-tanh": [fbg.GELU(approximate="tanh")],
        "tanh": [fbg.Tanh()],
        "sigmoid": [fbg.Sigmoid()],
        "clip": [fbg.Clip(-1.5, 2.25)],
        "scale": [fbg.Scale(0.3)],
        "cast-float16": [fbg.Cast("float16")],
        "cast-bfloat16": [fbg.Cast("bfloat16")],
        "add-float32": [fbg.Add(residual)],
        "add-float16": [fbg.Add(residual.astype(np.float16))],
        "add-bfloat16": [fbg.Add(residual.astype(ml_dtypes.bfloat16))],
        "add-uint8": [fbg.Add(unsigned, scale=0.02, zero_point=100)],
        "add-int8": [fbg.Add(signed, scale=0.02, zero_point=-3)],
        "requantize-uint8": [fbg.Requantize(0.11, 120)],
        "requantize-int8": [fbg.Requantize(0.11, -7, np.int8)],
        "bias-gelu": [bias, fbg.GELU()],
        "bias-add": [bias, fbg.Add(residual)],
        "bias-relu-requantize": [bias, fbg.ReLU(), fbg.Requantize(0.2)],
        "longest": [
            *(bias, fbg.Scale(0.5), fbg.Add(residual), fbg.Tanh(), fbg.Sigmoid()),
            *(fbg.Clip(0.4, 0.6), fbg.Cast("float16")),
        ],
    }


def integer_stages(n: int) -> dict[str, list[Any]]:
    """Chains that leave out Dequantize."""
    import fbg

    bias = fbg.Bias(integers((n,), -5000, 5000, np.int32, 23))
    return {
        "correct": [fbg.CorrectZeroPoints()],
        "integer-bias": [bias],
        "integer-bias-dequantize": [bias, fbg.Dequantize()],
        "correct-bias-relu": [fbg.CorrectZeroPoints(), bias, fbg.ReLU()],
        "requantize-sums-uint8": [fbg.Requantize(3.0, 128)],
        "requantize-sums-int8": [
            *(bias, fbg.CorrectZeroPoints(), fbg.ReLU(), fbg.Requantize(3.0, -100, np.int8))
        ],
    }


def stage_cases(setting: Setting) -> Iterator[Case]:
    import fbg

    threads = setting.threads
    for m, n, k in STAGED_SHAPES:
        every = products((m, n, k))
        for kind in STAGED:
            a, b, real = every[kind]
            chains = {name: [*real, *chain] for name, chain in float_stages(m, n).items()}
            if kind in ("int8", "int16"):
                chains |= integer_stages(n)
            where = f"{kind}/{m}x{n}x{k}"
            for name, stages in chains.items():
                yield f"{where}/{name}", fbg.gemm(a, b, stages, num_threads=threads)
            extents = np.empty((m, 2), np.float32)
            y = fbg.gemm(a, b, [*real, fbg.RowRange(extents)], num_threads=threads)
            yield f"{where}/row-range", [y, extents]
            sum_ = floats((m, n), 24)
            fbg.gemm(a, b, [*real, fbg.Add(sum_)], out=sum_, num_threads=threads)
            yield f"{where}/add-in-place", sum_


def value_cases(setting: Setting) -> Iterator[Case]:
    """What each stage makes of single values: those near 0, of every size, and none at all."""
    import fbg

    anything = words((4000,), 25).view(np.float32)
    anything = np.where(np.isnan(anything), np.float32(np.nan), anything)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45], np.float32)
    near = np.linspace(-12, 12, 6001).astype(np.float32)
    x = np.concatenate([near, special, anything]).reshape(-1, 1)
    one = fbg.PackedB(np.ones((1, 1), np.float32), dtype="float32")
    for name, stages in float_stages(len(x), 1).items():
        result = fbg.gemm(fbg.PackA(x), one, stages, num_threads=setting.threads)
        yield f"values/{name}", result
