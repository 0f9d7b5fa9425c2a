"""Resize and Upsample: nearest neighbours are moved, interpolation is a weighted sum for each axis.

The positions and weights follow the definition of the operator in the ONNX specification.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.ops.builder import AxisMap, Builder, natural
from fbg.importers.ops.movement import moved
from fbg.importers.ops.registry import BYTES, FLOAT, op
from fbg.importers.ops.value import Value

Array = npt.NDArray[Any]
Coefficients = Callable[[float], Array]


@dataclass(frozen=True)
class _Axis:
    """One axis: sizes, scale, and the part of the input that is resized (0 to 1)."""

    input: int
    output: int
    scale: float
    start: float
    end: float


@dataclass(frozen=True)
class _Taps:
    """sources, weights: (output, taps). outside: outputs that lie beyond the input."""

    sources: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    outside: npt.NDArray[np.bool_]


def _position(axis: _Axis, i: int, mode: str) -> float:
    """Return the position in the input of an element of the output."""
    whole = axis.scale * axis.input
    last = axis.input - 1
    if mode == "align_corners":
        return 0.0 if whole == 1 else i * last / (whole - 1)
    if mode == "asymmetric":
        return i / axis.scale
    if mode == "tf_crop_and_resize":
        extent = axis.end - axis.start
        inner = extent * last / 2 if whole == 1 else i * extent * last / (whole - 1)
        return inner + axis.start * last
    if mode == "pytorch_half_pixel" and whole == 1:
        return -0.5
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / axis.scale
    position = (i + 0.5) / axis.scale - 0.5
    if mode == "half_pixel_symmetric":
        position += axis.input / 2 * (1 - axis.output / whole)
    return position


def _taps(axis: _Axis, node: Op, coefficients: Coefficients) -> _Taps:
    """Return where the elements of the output come from."""
    mode = node.attribute("coordinate_transformation_mode", "half_pixel")
    if node.node.version < 11:
        mode = "asymmetric"
    sources, weights, outside = [], [], []
    for i in range(axis.output):
        x = _position(axis, i, mode)
        ratio = 1.0 if float(x).is_integer() else x - math.floor(x)
        w = coefficients(ratio)
        at = math.ceil(x) - len(w) // 2 + np.arange(len(w))
        if node.attribute("exclude_outside", 0):
            w = np.where((at >= 0) & (at < axis.input), w, 0)
            w = w / w.sum()
        sources.append(np.clip(at, 0, axis.input - 1))
        weights.append(w)
        outside.append(mode == "tf_crop_and_resize" and not 0 <= x <= axis.input - 1)
    return _Taps(np.array(sources), np.array(weights, np.float32), np.array(outside))


def _nearest(node: Op) -> Coefficients:
    mode = node.attribute("nearest_mode", "round_prefer_floor")
    if node.node.version < 11:
        mode = "floor"

    def coefficients(ratio: float) -> Array:
        right = {
            "round_prefer_floor": ratio > 0.5,
            "round_prefer_ceil": ratio >= 0.5,
            "floor": False,
            "ceil": True,
        }[mode]
        right = right or ratio == 1.0
        return np.array([not right, right], np.float64)

    return coefficients


def _linear(scale: float) -> Coefficients:
    """The weights of linear interpolation; below a scale of 1 a wider triangle (antialias)."""

    def coefficients(ratio: float) -> Array:
        start = math.floor(-1 / scale) + 1
        at = (np.arange(start, 2 - start) - ratio) * scale
        w = np.clip(1 - np.abs(at), 0, 1)
        weights: Array = w / w.sum()
        return weights

    return coefficients


def _cubic(scale: float, a: float) -> Coefficients:
    """The weights of cubic convolution with parameter a (Keys, 1981); wider below a scale of 1."""

    def coefficients(ratio: float) -> Array:
        start = math.floor(-2 / scale) + 1
        x = np.abs((np.arange(start, 2 - start) - ratio) * scale)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        w = np.where(x <= 1, near, np.where(x < 2, far, 0))
        weights: Array = w / w.sum()
        return weights

    return coefficients


def _axes(builder: Builder, node: Op, shape: tuple[int, ...]) -> list[_Axis]:
    """Return every axis of x; the parameters may be about some of them only."""
    output = node.output_shape()
    rank = len(shape)
    old = node.node.version < 11
    roi = None if old else builder.constant_input(node, 1)
    given = builder.constant_input(node, 1 if old else 2)
    sizes = None if old else builder.constant_input(node, 3)
    if node.node.op == "Upsample" and given is None:
        given = np.array(node.attribute("scales"), np.float32)
    chosen = [axis % rank for axis in node.attribute("axes", range(rank))]
    if any(o and not i for o, i in zip(output, shape, strict=True)):
        raise Unsupported(node.node.name, f"resizing {shape}, which has no elements, to {output}")
    scales = [o / i if i else 1.0 for o, i in zip(output, shape, strict=True)]
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    if given is not None and given.size:
        for axis, scale in zip(chosen, given.reshape(-1), strict=True):
            scales[axis] = float(scale)
    elif policy != "stretch" and sizes is not None:
        sized = zip(chosen, sizes.reshape(-1), strict=True)
        ratios = [int(size) / shape[axis] for axis, size in sized if shape[axis]]
        common = (min if policy == "not_larger" else max)(ratios, default=1.0)
        for axis in chosen:
            scales[axis] = common
    starts, ends = [0.0] * rank, [1.0] * rank
    if roi is not None and roi.size == 2 * len(chosen):
        for i, axis in enumerate(chosen):
            starts[axis] = float(roi.reshape(-1)[i])
            ends[axis] = float(roi.reshape(-1)[len(chosen) + i])
    return [_Axis(*item) for item in zip(shape, output, scales, starts, ends, strict=True)]


@op("Resize", types=(*FLOAT, *BYTES), constants=(1, 2, 3), since=10)
@op("Upsample", types=(*FLOAT, *BYTES), constants=(1,), since=7)
def build_resize(builder: Builder, node: Op) -> None:
    """Nearest, linear or cubic, along all axes whose size or position changes."""
    x = builder.input(node, 0)
    mode = node.attribute("mode", "nearest")
    crops = node.attribute("coordinate_transformation_mode") == "tf_crop_and_resize"
    axes = _axes(builder, node, x.shape)
    if mode != "nearest" and x.dtype != np.float32:
        raise Unsupported(node.node.name, f"interpolation of {x.dtype}")
    maps = [AxisMap(extent, i) for i, extent in enumerate(x.shape)]
    outside = [np.zeros(axis.output, np.bool_) for axis in axes]
    result = x
    for i, axis in enumerate(axes):
        if axis.scale == 1.0 and not crops:
            continue
        narrow = min(axis.scale, 1.0) if node.attribute("antialias", 0) else 1.0
        if mode == "nearest":
            coefficients = _nearest(node)
        elif mode in ("linear", "bilinear"):
            coefficients = _linear(narrow)
        elif mode == "cubic":
            coefficients = _cubic(narrow, node.attribute("cubic_coeff_a", -0.75))
        else:
            raise Unsupported(node.node.name, f"mode {mode!r}")
        taps = _taps(axis, node, coefficients)
        outside[i] = taps.outside
        if mode == "nearest":
            picked = taps.sources[np.arange(axis.output), taps.weights.argmax(1)]
            table = tuple(int(v) for v in np.where(taps.outside, -1, picked))
            maps[i] = AxisMap(axis.output, i, table=table)
        else:
            result = _resampled(builder, result, i, taps)
    fill = float(node.attribute("extrapolation_value", 0.0)) if crops else None
    if mode == "nearest":
        result = moved(builder, x, node.output_shape(), maps, fill)
    elif any(part.any() for part in outside):
        tables = [tuple(int(v) for v in np.where(o, -1, np.arange(len(o)))) for o in outside]
        filled = [AxisMap(len(table), i, table=table) for i, table in enumerate(tables)]
        result = moved(builder, result, result.shape, filled, fill)
    builder.set_output(node, result)


def _resampled(builder: Builder, x: Value, axis: int, taps: _Taps) -> Value:
    """Return x interpolated along one axis, in the order of axes that it has."""
    order = x.order or natural(len(x.shape))
    at = order.index(axis)
    outer = math.prod(x.shape[a] for a in order[:at])
    inner = math.prod(x.shape[a] for a in order[at + 1 :])
    output = len(taps.sources)
    buffer = _fbg.tensor_resample(
        builder.graph,
        builder.buffer(x),
        outer,
        x.shape[axis],
        output,
        inner,
        taps.sources.reshape(-1).tolist(),
        taps.weights.reshape(-1).tolist(),
    )
    shape = tuple(output if a == axis else size for a, size in enumerate(x.shape))
    return Value(shape, x.dtype, order, buffer=builder.append(buffer))
