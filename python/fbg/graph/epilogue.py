"""The epilogue of a convolution as data, and the output pipeline that computes it.

While a network is read, steps join the epilogue one by one. When it is complete, the epilogue
of an integer convolution whose result is quantized becomes a pipeline without divisions:

    bounds      bounds that saturation applies anyway are removed
    integers    where nothing but a bias is left, it is rounded to a multiple of the scale of the
                sums, and these are requantized
    otherwise   the scale of the result is divided out beforehand: from the scale of the sums, the
                bias unless it is rounded, bounds and the scale of a residual

Kernels leave out what parameters make superfluous: a zero point of 0, a scale of 1, and the bound
of what is rounded where no sum can exceed int32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fbg.arrays import Array
from fbg.graph.steps import (
    Activation,
    Binary,
    Quantization,
    Step,
    factor_step,
    with_joined_factors,
)
from fbg.matmul.pipeline import Bias, CorrectZeroPoints, Dequantize, Stage

MOST_SUM = 2.0**31  # int32 sums with their bias stay below this
# The most steps of the result that one step of the sums may be: the error of an int32 bias is at
# most half of that.
COARSEST = 0.25
MOST_DIFFERENCE = 512  # q - zero_point of 8 bits stays below this
LEAST_SCALE = 2.0**-60  # least scale of a result, so that dividing by it stays far from overflow


@dataclass(frozen=True)
class Sums:
    """The scale of the sums of products: one unit is worth x_scale * w_scale, (O,) or ().

    most: the absolute value that none of them exceeds.
    """

    x_scale: float
    w_scale: Array
    most: int


@dataclass(frozen=True)
class Epilogue:
    """The stages of an output pipeline, and the scale of x for which they were made."""

    stages: list[Any]
    x_scale: float

    @classmethod
    def of_integers(cls, sums: Sums, bias: Array | None, steps: Sequence[Step]) -> Epilogue:
        """Return a pipeline that makes sums float32, adds a float32 bias, and runs the steps."""
        last = steps[-1] if steps else None
        if not isinstance(last, Quantization) or last.scale < LEAST_SCALE:
            return cls(_from_sums(bias, steps), sums.x_scale)
        before = list(steps[:-1])
        while before and _is_saturation(before[-1], last):
            before.pop()
        last = replace(last, bounded=_most_steps(sums, bias, before, last) < MOST_SUM / 2)
        rounded = None if bias is None else _rounded_bias(sums, bias, last.scale)
        if not before and (bias is None or rounded is not None):
            return cls(sums_pipeline(rounded, False, [last]), sums.x_scale)
        return cls._divided(sums, bias if rounded is None else rounded, before, last)

    @classmethod
    def _divided(
        cls, sums: Sums, bias: Array | None, before: list[Step], last: Quantization
    ) -> Epilogue:
        """Return the pipeline with the scale of the result divided out.

        bias: float32, or rounded to the units of the sums.
        """
        divided = bias
        if bias is not None and bias.dtype == np.float32:
            with np.errstate(over="ignore"):
                divided = (bias / np.float32(last.scale)).astype(np.float32)
            if not np.isfinite(divided).all():
                return cls(_from_sums(bias, [*before, last]), sums.x_scale)
        start = 0  # the first of the last steps that all commute with a factor
        for i, step in enumerate(before):
            if not step.commutes:
                start = i + 1
        steps = [_divide(step, last.scale) for step in before[start:]]
        unit = replace(last, scale=1.0)
        if start:
            steps = with_joined_factors([factor_step(1.0 / last.scale), *steps])
            return cls(_from_sums(bias, [*before[:start], *steps, unit]), sums.x_scale)
        return cls(_from_sums(divided, [*steps, unit]), sums.x_scale / last.scale)


def _from_sums(bias: Array | None, steps: Sequence[Step]) -> list[Any]:
    """Return the stages that make sums float32, before or after the bias is added."""
    stages: list[Stage] = [Dequantize()]
    if bias is not None:
        stages.insert(int(bias.dtype == np.float32), Bias(bias))
    return [stage._native for stage in stages] + [step.native() for step in steps]


def _most_steps(
    sums: Sums, bias: Array | None, before: Sequence[Step], last: Quantization
) -> float:
    """Return a bound of all results, in units of the last step, or infinity."""
    most = sums.most * abs(float(sums.x_scale)) * float(np.abs(sums.w_scale).max(initial=0))
    if bias is not None and bias.size:
        most += float(np.abs(bias).max())
    for step in before:
        if isinstance(step, Binary) and step.is_residual_of_bytes:
            most += MOST_DIFFERENCE * abs(step.scale)
        elif isinstance(step, Activation) and step.bounds is not None:
            most = max(most, step.bounds[0], -step.bounds[1])
        else:
            return np.inf
    return most / last.scale


def _is_saturation(step: Step, last: Quantization) -> bool:
    bounds = step.bounds if isinstance(step, Activation) else None
    return bounds is not None and last.saturates(*bounds)


def _rounded_bias(sums: Sums, bias: Array, scale: float) -> Array | None:
    """Return the bias in units of the sums, or None where that would be too coarse or too large."""
    unit = np.float64(sums.x_scale) * np.asarray(sums.w_scale, np.float64)
    if unit.max() > COARSEST * scale or unit.min() <= 0:
        return None
    rounded = np.rint(bias.astype(np.float64) / unit)
    if not (np.abs(rounded) + sums.most < MOST_SUM).all():
        return None
    return rounded.astype(np.int32)


def _divide(step: Step, scale: float) -> Step:
    return step.divided(scale) if isinstance(step, (Activation, Binary)) else step


def sums_pipeline(bias: Array | None, corrects: bool, steps: Sequence[Step]) -> list[Any]:
    """Return the stages that keep sums as integers until a step requantizes them."""
    stages: list[Stage] = [CorrectZeroPoints()] if corrects else []
    if bias is not None:
        stages.append(Bias(bias))
    return [stage._native for stage in stages] + [step.native() for step in steps]
