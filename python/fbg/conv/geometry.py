"""Arguments that say what a convolution is, checked and brought to three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_integer

__all__ = ["Extents", "as_geometry", "canonical_weights", "per_axis"]

Array = npt.NDArray[Any]
Extents = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]]

MOST = 2**31 - 1


def per_axis(value: object, name: str, axes: int, lowest: int) -> list[int]:
    """Return one integer for each spatial axis: `value`, or its items."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be an integer or {axes} integers, got {value!r}")
    if not isinstance(value, Sequence) and not isinstance(value, np.ndarray):
        return [require_integer(value, name, lowest, MOST)] * axes
    if len(value) != axes:
        raise ValueError(
            f"{name} must be an integer or have one for each of the {axes} spatial axes, "
            f"got {len(value)}"
        )
    return [require_integer(item, name, lowest, MOST) for item in value]


def _padding(value: object, axes: int) -> tuple[list[int], list[int]]:
    """Return padding before and after each axis: from a number, one per axis, or pairs."""
    name = "PackedConv: padding"
    if isinstance(value, Sequence) and any(isinstance(item, Sequence) for item in value):
        if len(value) != axes:
            raise ValueError(f"{name} must have a pair for each of the {axes} spatial axes")
        pairs = [per_axis(item, f"{name} of an axis", 2, 0) for item in value]
        return [before for before, _ in pairs], [after for _, after in pairs]
    both = per_axis(value, name, axes, 0)
    return both, list(both)


def as_geometry(
    shape: tuple[int, ...],
    *,
    stride: object,
    padding: object,
    dilation: object,
    groups: object,
    transposed: bool,
    output_padding: object,
) -> _fbg.ConvGeometry:
    """Return the geometry of weights (O, I / groups, *kernel), or transposed (I, O / groups, …)."""
    if not 3 <= len(shape) <= 5:
        wanted = "(I, O / groups, *kernel)" if transposed else "(O, I / groups, *kernel)"
        raise ValueError(f"PackedConv: w must be {wanted} with 1 to 3 kernel axes, got {shape}")
    if 0 in shape:
        raise ValueError(f"PackedConv: w must not be empty, got shape {shape}")
    axes = len(shape) - 2
    group_count = require_integer(groups, "PackedConv: groups", 1, MOST)
    if transposed:
        inputs, outputs = shape[0], shape[1] * group_count
    else:
        inputs, outputs = shape[1] * group_count, shape[0]
    before, after = _padding(padding, axes)
    ones, zeros = [1] * (3 - axes), [0] * (3 - axes)
    return _fbg.ConvGeometry(
        inputs,
        outputs,
        group_count,
        ones + list(shape[2:]),
        ones + per_axis(stride, "PackedConv: stride", axes, 1),
        ones + per_axis(dilation, "PackedConv: dilation", axes, 1),
        zeros + before,
        zeros + after,
        transposed,
        zeros + per_axis(output_padding, "PackedConv: output_padding", axes, 0),
    )


def canonical_weights(w: Array, groups: int, transposed: bool) -> Array:
    """Return w as the core takes it: dense (O, taps, I / groups)."""
    taps = int(np.prod(w.shape[2:]))
    flat = w.reshape(*w.shape[:2], taps)
    if transposed:
        inputs, outputs = w.shape[0] // groups, w.shape[1]
        by_group = flat.reshape(groups, inputs, outputs, taps)
        flat = by_group.transpose(0, 2, 1, 3).reshape(groups * outputs, inputs, taps)
    return np.ascontiguousarray(flat.transpose(0, 2, 1))
