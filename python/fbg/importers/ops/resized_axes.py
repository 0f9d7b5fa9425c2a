"""The axes of Resize and Upsample: sizes, scales, and the positions of outputs in the input.

The arithmetic is float32, in the same steps as onnxruntime's: in double precision, decimal
scales would round to other sizes and nearest neighbours to other pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array
from fbg.importers.description import Node

Parameters = tuple[int | None, int, int | None]


@dataclass(frozen=True)
class ResizedAxis:
    """One axis: sizes, scale, and the part of the input that is resized (0 to 1)."""

    input: int
    output: int
    scale: np.float32
    start: np.float32
    end: np.float32

    @property
    def is_kept(self) -> bool:
        """Whether elements stay where they are, whatever the region of interest is."""
        return bool(self.scale == 1)


def parameters(node: Node) -> Parameters:
    """Return the indices of the inputs `roi`, `scales` and `sizes`."""
    return (1, 2, 3) if node.op == "Resize" and node.version >= 11 else (None, 1, None)


def resized_axes(
    node: Node, shape: Sequence[int], roi: Array | None, scales: Array | None, sizes: Array | None
) -> list[ResizedAxis]:
    """Return every axis of the input; the parameters may cover only some of them.

    roi, scales, sizes: the values of those inputs, None or empty where they are absent.
    """
    rank = len(shape)
    chosen = [axis % rank for axis in node.attributes.get("axes") or range(rank)]
    if scales is None and "scales" in node.attributes:
        scales = np.array(node.attributes["scales"], np.float32)
    given = sizes if scales is None or not scales.size else scales
    if given is None or given.size != len(chosen):
        count = 0 if given is None else given.size
        raise ValueError(f"scales or sizes must be given for {len(chosen)} axes, got {count}")
    factors, output = [np.float32(1)] * rank, list(shape)
    for axis, value in zip(chosen, given.reshape(-1), strict=True):
        if given is scales:
            factors[axis] = np.float32(value)
            output[axis] = int(factors[axis] * np.float32(shape[axis]))
        elif shape[axis]:
            output[axis] = int(value)
            factors[axis] = np.float32(output[axis]) / np.float32(shape[axis])
    policy = node.attributes.get("keep_aspect_ratio_policy", "stretch")
    if given is not scales and policy != "stretch":
        common = (min if policy == "not_larger" else max)(factors[axis] for axis in chosen)
        for axis in chosen:
            factors[axis] = common
            output[axis] = int(np.floor(float(common * np.float32(shape[axis])) + 0.5))
    starts, ends = [np.float32(0)] * rank, [np.float32(1)] * rank
    if roi is not None and roi.size == 2 * len(chosen):
        for i, axis in enumerate(chosen):
            starts[axis] = np.float32(roi.reshape(-1)[i])
            ends[axis] = np.float32(roi.reshape(-1)[len(chosen) + i])
    if min(output) < 0 or not all(factor > 0 for factor in factors):
        raise ValueError(f"the output would have shape {tuple(output)}")
    return [ResizedAxis(*item) for item in zip(shape, output, factors, starts, ends, strict=True)]


def positions(axis: ResizedAxis, mode: str) -> npt.NDArray[np.float32]:
    """Return the position in the input of each element of the output."""
    i = np.arange(axis.output, dtype=np.float32)
    size, count, scale = np.float32(axis.input), np.float32(axis.output), axis.scale
    if mode == "asymmetric":
        return i / scale
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if mode == "align_corners":
        return i * (size - 1) / (count - 1) if axis.output > 1 else i
    if mode == "tf_crop_and_resize":
        if axis.output > 1:
            extent = axis.end - axis.start
            return axis.start * (size - 1) + i * extent * (size - 1) / (count - 1)
        return i + np.float32(0.5 * float(axis.start + axis.end) * float(size - 1))
    if mode == "half_pixel_symmetric":
        offset = size / 2 * (1 - count / (scale * size))
        return (float(offset) + (i.astype(np.float64) + 0.5) / float(scale) - 0.5).astype(
            np.float32
        )
    if mode == "pytorch_half_pixel" and axis.output <= 1:
        return i
    return (i + 0.5) / scale - 0.5
