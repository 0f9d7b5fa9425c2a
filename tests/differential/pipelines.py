"""Output pipelines at random, and what they make of sums: values in float64 with an error bound.

Sums of integers are exact and have no error. Each step in float32 adds the rounding of its result;
functions add the error that they promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import fbg
from differential.layouts import laid_out

__all__ = ["TINY", "UNIT", "Expected", "Step", "corrects", "dequantize", "draw_steps"]

Array = npt.NDArray[Any]

UNIT = 2.0**-24  # the rounding of one operation in float32, relative to its result
TINY = 1e-37  # what may be flushed to zero
_ERF = np.frompyfunc(math.erf, 1, 1)


@dataclass(frozen=True)
class Expected:
    """Results within `error` of `value`, as an array of `dtype`.

    scale: of sums, by which Dequantize multiplies them.
    """

    value: Array
    error: Array | float
    dtype: Any
    scale: Array | None = None

    def then(self, value, error):
        """Return a step's result in float32 that rounds once."""
        return Expected(value, error + UNIT * np.abs(value) + TINY, np.float32)

    def differs(self, y):
        """Return what is wrong with results, if anything is."""
        if y.dtype != self.dtype or y.shape != self.value.shape:
            return f"{y.dtype}{y.shape} instead of {np.dtype(self.dtype)}{self.value.shape}"
        got = y.astype(np.float64)
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(got - self.value) <= self.error)
        if self.dtype == np.float16:  # large values may become infinite
            wrong &= np.abs(self.value) < 65000
        if not wrong.any():
            return None
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        error = np.broadcast_to(self.error, y.shape)[at]
        return (
            f"{wrong.sum()} of {y.size} differ, at {at}: got {got[at]!r}, "
            f"wanted {self.value[at]!r} within {error:.3g}"
        )


@dataclass(frozen=True)
class Step:
    """A stage, and what it makes of values."""

    stage: fbg.matmul.pipeline.Stage
    apply: Callable[[Expected], Expected]


def corrects(steps):
    """Whether steps correct sums of integers for zero points."""
    kinds = (fbg.CorrectZeroPoints, fbg.Dequantize, fbg.Requantize)
    return any(isinstance(step.stage, kinds) for step in steps)


def dequantize(e):
    """Return what Dequantize makes of sums."""
    assert e.scale is not None
    value = e.value * e.scale
    return Expected(value, 4 * UNIT * np.abs(value) + TINY, np.float32)


def _quantized(scale, point, dtype):
    limits = np.iinfo(dtype)

    def apply(e):
        real = e.value * (1.0 if e.scale is None else e.scale) / np.float64(np.float32(scale))
        error = e.error / scale + (6 if e.scale is not None else 1) * UNIT * np.abs(real) + TINY
        # rint and clip are monotonic: results lie between those of the ends.
        low, high = (
            np.clip(np.rint(end) + point, limits.min, limits.max)
            for end in (real - error, real + error)
        )
        return Expected((low + high) / 2, (high - low) / 2, dtype)

    return apply


def _rounded(dtype, unit, tiny):
    return lambda e: Expected(e.value, e.error + unit * (np.abs(e.value) + e.error) + tiny, dtype)


def _cast(random):
    if random.random() < 0.5:
        return Step(fbg.Cast("float16"), _rounded(np.float16, 2.0**-11, 2.0**-25))
    return Step(fbg.Cast("bfloat16"), _rounded(ml_dtypes.bfloat16, 2.0**-8, TINY))


def _requantize(random):
    dtype = random.choice((np.uint8, np.int8))
    limits = np.iinfo(dtype)
    point = random.choice((0, random.randint(int(limits.min), int(limits.max))))
    scale = random.choice((1.0, 0.5, 2.0 ** random.uniform(-8, 8)))
    return Step(fbg.Requantize(scale, point, dtype), _quantized(scale, point, dtype))


def _added(residual, **parameters):
    """Return the stage. Products read its array later, so that it is refused, not copied, where
    elements are not aligned.
    """
    try:
        return fbg.Add(residual, **parameters)
    except ValueError:
        assert not residual.flags.aligned
        return fbg.Add(residual.copy(), **parameters)


def _add(random, rng, shape):
    kind = random.choice(("float32", "float16", "bfloat16", "uint8", "int8"))
    if kind in ("uint8", "int8"):
        limits = np.iinfo(kind)
        values = rng.integers(limits.min, limits.max + 1, shape).astype(kind)
        scale = float(np.float32(random.uniform(0.01, 1)))
        point = random.choice((0, random.randint(int(limits.min), int(limits.max))))
        stage = _added(laid_out(random, values, rows=True), scale=scale, zero_point=point)
        real = (values.astype(np.float64) - point) * scale
    else:
        values = rng.standard_normal(shape, np.float32).astype(
            ml_dtypes.bfloat16 if kind == "bfloat16" else kind
        )
        stage = _added(laid_out(random, values, rows=True))
        real = values.astype(np.float64)
    real = real.reshape(math.prod(shape[:-1]), shape[-1])
    return Step(stage, lambda e: e.then(e.value + real, e.error + UNIT * np.abs(real)))


def _gelu(e):
    value = 0.5 * e.value * (1 + _ERF(e.value / math.sqrt(2)).astype(np.float64))
    return Expected(value, 1.13 * e.error + 1e-6 + 4 * UNIT * np.abs(value), np.float32)


def _gelu_tanh(e):
    inner = math.sqrt(2 / math.pi) * (e.value + 0.044715 * e.value**3)
    value = 0.5 * e.value * (1 + np.tanh(inner))
    return Expected(value, 1.13 * e.error + 2e-6 + 4 * UNIT * np.abs(value), np.float32)


def _relu(e):
    return Expected(np.maximum(e.value, 0), e.error, e.dtype, e.scale)


def _float_step(random, rng, shape):
    choice = random.randrange(9)
    n = shape[-1]
    if choice == 0:
        values = rng.standard_normal(n, np.float32)
        return Step(
            fbg.Bias(laid_out(random, values)),
            lambda e: e.then(e.value + values.astype(np.float64), e.error),
        )
    if choice == 1:
        return Step(fbg.ReLU(), _relu)
    if choice == 2:
        return Step(fbg.GELU(), _gelu)
    if choice == 3:
        return Step(fbg.GELU("tanh"), _gelu_tanh)
    if choice == 4:
        return Step(fbg.Tanh(), lambda e: Expected(np.tanh(e.value), e.error + 5e-7, np.float32))
    if choice == 5:

        def sigmoid(e):
            with np.errstate(over="ignore"):
                value = 1 / (1 + np.exp(-e.value))
            return Expected(value, e.error / 4 + 5e-7, np.float32)

        return Step(fbg.Sigmoid(), sigmoid)
    if choice == 6:
        lo, hi = (float(np.float32(x)) for x in sorted((random.gauss(0, 3), random.gauss(0, 3))))
        return Step(
            fbg.Clip(lo, hi), lambda e: Expected(np.clip(e.value, lo, hi), e.error, np.float32)
        )
    if choice == 7:
        factor = float(np.float32(random.choice((1.0, -1.0, 0.0, random.gauss(0, 2)))))
        return Step(fbg.Scale(factor), lambda e: e.then(e.value * factor, e.error * abs(factor)))
    return _add(random, rng, shape)


def draw_steps(random, rng, shape, sums, scaled, pointed=False):
    """Return steps for a result of that shape; the last axis has its columns.

    sums: whether they begin with sums of integers. scaled: whether these have scales. pointed:
    whether they can be corrected for zero points where they have none.
    """
    steps = []
    n = shape[-1]
    if sums:
        if random.random() < 0.2:
            values = rng.integers(-(2**20), 2**20, n, np.int32)
            added = values.astype(np.float64)
            steps.append(
                Step(
                    fbg.Bias(laid_out(random, values)),
                    lambda e: Expected(e.value + added, 0.0, np.int32, e.scale),
                )
            )
        if not scaled:
            correct = [Step(fbg.CorrectZeroPoints(), lambda e: e)]
            return steps + correct * (pointed and random.random() < 0.5)
        end = random.randrange(4)
        if end == 0 or random.random() < 0.2:
            steps.append(Step(fbg.CorrectZeroPoints(), lambda e: e))
            if random.random() < 0.3:
                steps.append(Step(fbg.ReLU(), _relu))
        if end == 0:
            return steps
        if end == 1:
            return [*steps, _requantize(random)]
        steps.append(Step(fbg.Dequantize(), dequantize))
    steps += [_float_step(random, rng, shape) for _ in range(random.choice((0, 0, 1, 1, 2, 3)))]
    if random.random() < 0.25:
        steps.append(random.choice((_cast, _requantize))(random))
    return steps
