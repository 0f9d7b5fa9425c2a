"""Resize and Upsample: nearest neighbours are moved, interpolation is a weighted sum for each axis.

The weights follow the definition of the operator in the ONNX specification. Where its reference and
onnxruntime differ, onnxruntime is followed: an axis of scale 1 is kept, and so is a tensor
whose shape does not change, even if the region of interest is another part of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg.graph.ops.moves import AxisMap, Move, Resample
from fbg.graph.ops.tensors import shape_of
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder, require_table
from fbg.importers.ops.registry import BYTES, FLOAT, op
from fbg.importers.ops.resized_axes import ResizedAxis, parameters, positions, resized_axes

Floats = npt.NDArray[np.float64]
Coefficients = Callable[[Floats], Floats]  # the weights (n, taps) of ratios (n, 1)

TIE = 1e-6  # a position this close to the middle of two pixels counts as the middle
TAPS_AT_ONCE = 2**16  # that are computed in float64 together


@dataclass(frozen=True)
class _Taps:
    """sources, weights: (output, taps)."""

    sources: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]


def _mode(node: TypedNode) -> str:
    if node.node.version < 11:
        return "asymmetric"
    return str(node.attribute("coordinate_transformation_mode", "half_pixel"))


def _outside(axis: ResizedAxis, mode: str) -> npt.NDArray[np.bool_]:
    """Return which elements of the output are outside of the input and not its border."""
    if mode != "tf_crop_and_resize" or axis.is_kept:
        return np.zeros(axis.output, np.bool_)
    x = positions(axis, mode)
    return (x < 0) | (x > axis.input - 1)


def _taps(axis: ResizedAxis, node: TypedNode, coefficients: Coefficients) -> _Taps:
    """Return the source of the elements of the output."""
    taps = coefficients(np.ones((1, 1))).size
    require_table(node, axis.output * taps)
    at_once = max(TAPS_AT_ONCE // taps, 1)
    sources = np.empty((axis.output, taps), np.int32)
    weights = np.empty((axis.output, taps), np.float32)
    x = positions(axis, _mode(node)).reshape(-1, 1)
    for begin in range(0, axis.output, at_once):
        part = slice(begin, begin + at_once)
        at = x[part].astype(np.float64)
        sources[part], weights[part] = _taps_at(at, axis, node, coefficients)
    return _Taps(sources, weights)


def _taps_at(
    x: Floats, axis: ResizedAxis, node: TypedNode, coefficients: Coefficients
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return sources and weights (n, taps) at positions (n, 1)."""
    below = np.floor(x)
    w = coefficients(np.where(x == below, 1.0, x - below))
    taps = w.shape[1]
    at = np.ceil(x).astype(np.int64) - taps // 2 + np.arange(taps)
    if node.attribute("exclude_outside", 0):
        w = _normalized(np.where((at >= 0) & (at < axis.input), w, 0))
    return np.clip(at, 0, axis.input - 1), w


def _normalized(weights: Floats) -> Floats:
    sums: Floats = weights.sum(axis=1, keepdims=True)
    return weights / sums


def _nearest(axis: ResizedAxis, node: TypedNode) -> npt.NDArray[np.int64]:
    """Return the index in the input of each element of the output."""
    x = positions(axis, _mode(node)).astype(np.float64)  # in float64, adding a half is exact
    mode = node.attribute("nearest_mode", "round_prefer_floor")
    if node.node.version < 11:
        mode = "ceil" if axis.scale < 1 else "floor"
    below = np.floor(x)
    is_between = np.abs(x - below - 0.5) < TIE
    rounded = {
        "round_prefer_floor": np.where(is_between, below, np.ceil(x - 0.5)),
        "round_prefer_ceil": np.where(is_between, below + 1, np.floor(x + 0.5)),
        "floor": below,
        "ceil": np.ceil(x),
    }[mode]
    return np.clip(rounded, 0, axis.input - 1).astype(np.int64)


def _linear(scale: float) -> Coefficients:
    """The weights of linear interpolation; below a scale of 1 a wider triangle (antialias)."""

    def coefficients(ratio: Floats) -> Floats:
        start = math.floor(-1 / scale) + 1
        at = (np.arange(start, 2 - start) - ratio) * scale
        return _normalized(np.clip(1 - np.abs(at), 0, 1))

    return coefficients


def _cubic(scale: float, a: float) -> Coefficients:
    """The weights of cubic convolution with parameter a (Keys, 1981); wider below a scale of 1."""

    def coefficients(ratio: Floats) -> Floats:
        start = math.floor(-2 / scale) + 1
        x = np.abs((np.arange(start, 2 - start) - ratio) * scale)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return _normalized(np.where(x <= 1, near, np.where(x < 2, far, 0)))

    return coefficients


def _axes(builder: Builder, node: TypedNode, shape: tuple[int, ...]) -> list[ResizedAxis]:
    """Return every axis of x; none of them moves where the whole shape is kept."""
    given = [
        None if index is None else builder.constant_input(node, index)
        for index in parameters(node.node)
    ]
    axes = resized_axes(node.node, shape, *given)
    if any(axis.output and not axis.input for axis in axes):
        raise Unsupported(node.node.name, f"resizing {shape}, which has no elements")
    for axis in axes:
        require_table(node, axis.output)
    if all(axis.output == axis.input for axis in axes):
        return [replace(axis, scale=np.float32(1)) for axis in axes]
    return axes


def _picked(
    axis: int, sources: npt.NDArray[np.int64] | None, outside: npt.NDArray[np.bool_]
) -> AxisMap:
    """Return the source of elements along an axis: the same place if there are no `sources`."""
    if sources is None and not outside.any():
        return AxisMap(len(outside), axis)
    picked = np.arange(len(outside)) if sources is None else sources
    return AxisMap(len(outside), axis, table=tuple(np.where(outside, -1, picked).tolist()))


@op("Resize", types=(*FLOAT, *BYTES), constants=(1, 2, 3), since=10)
@op("Upsample", types=(*FLOAT, *BYTES), constants=(1,), since=7)
def build_resize(builder: Builder, node: TypedNode) -> None:
    """Nearest, linear or cubic, along all axes whose size or position changes."""
    x = builder.input(node, 0)
    mode = node.attribute("mode", "nearest")
    axes = _axes(builder, node, shape_of(x))
    outside = [_outside(axis, _mode(node)) for axis in axes]
    fill = float(node.attribute("extrapolation_value", 0.0)) if any(map(np.any, outside)) else None
    if mode == "nearest":
        sources = [None if axis.is_kept else _nearest(axis, node) for axis in axes]
        maps = tuple(map(_picked, range(len(axes)), sources, outside))
        return builder.set_output(node, builder.add(Move(x, maps, fill)))
    if x.dtype != "float32":
        raise Unsupported(node.node.name, f"interpolation of {x.dtype}")
    for i, axis in enumerate(axes):
        smooth = bool(node.attribute("antialias", 0))
        if axis.is_kept or (smooth and axis.output == axis.input):
            continue
        narrow = min(float(axis.scale), 1.0) if smooth else 1.0
        if mode in ("linear", "bilinear"):
            coefficients = _linear(narrow)
        elif mode == "cubic":
            coefficients = _cubic(narrow, node.attribute("cubic_coeff_a", -0.75))
        else:
            raise Unsupported(node.node.name, f"mode {mode!r}")
        taps = _taps(axis, node, coefficients)
        x = builder.add(Resample(x, i, taps.sources, taps.weights))
    if fill is not None:
        x = builder.add(Move(x, tuple(_picked(i, None, b) for i, b in enumerate(outside)), fill))
    builder.set_output(node, x)
