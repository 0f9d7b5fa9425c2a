"""Checks the arguments of a convolution and extends them to three spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from fbg import _fbg
from fbg.arrays import Array, require_flag, require_integer, shown
from fbg.conv.layouts import weight_hint

Extents = int | Sequence[int]
Padding = int | Sequence[int] | Sequence[tuple[int, int]] | Literal["same", "valid"]

MOST = 2**31 - 1


def per_axis(value: object, name: str, axes: int, lowest: int) -> list[int]:
    """Return one integer for each spatial axis: `value`, or its items."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be an integer or {axes} integers, got {shown(value)}")
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, Sequence):
        return [require_integer(value, name, lowest, MOST)] * axes
    if len(value) != axes:
        raise ValueError(
            f"{name} must be an integer or have one for each of the {axes} spatial axes, "
            f"got {len(value)}"
        )
    return [require_integer(item, name, lowest, MOST) for item in value]


def sizes_of(shape: object, name: str) -> tuple[int, ...]:
    """Return a shape that a user gave, which may be any sequence of integers."""
    if isinstance(shape, np.ndarray):
        shape = shape.tolist()
    if isinstance(shape, (str, bytes)) or not isinstance(shape, Sequence):
        raise TypeError(f"{name} must be sizes such as (1, 224, 224, 3), got {shown(shape)}")
    return tuple(require_integer(s, f"{name}[{i}]", 0, MOST) for i, s in enumerate(shape))


def _padding(value: object, axes: int) -> tuple[list[int], list[int]]:
    """Return padding before and after each axis: from a number, one per axis, or pairs."""
    name = "PackedConv: padding"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str) and value == "valid":
        value = 0
    if isinstance(value, str):
        wanted = "an integer, one for each spatial axis, pairs (before, after), 'same' or 'valid'"
        raise ValueError(f"{name} must be {wanted}, got {shown(value)}")
    if isinstance(value, Sequence) and any(isinstance(item, Sequence) for item in value):
        if len(value) != axes:
            raise ValueError(
                f"{name} must have a pair for each of the {axes} spatial axes, got {len(value)}"
            )
        pairs = [per_axis(item, f"{name} of an axis", 2, 0) for item in value]
        return [before for before, _ in pairs], [after for _, after in pairs]
    if isinstance(value, Sequence) and len(value) == 2 * axes > 2:
        onnx = list(zip(value[:axes], value[axes:], strict=True))
        raise ValueError(
            f"{name} must have one number or pair for each of the {axes} spatial axes, got "
            f"{len(value)}; for the pads of an ONNX node, pass {onnx}"
        )
    both = per_axis(value, name, axes, 0)
    return both, list(both)


def _same(
    kernel: Sequence[int], stride: list[int], dilation: list[int], transposed: bool
) -> list[tuple[int, int]]:
    """Return the padding with which the output is as large as the input.

    The odd pixel goes to the end, as in torch and SAME_UPPER of ONNX.
    """
    name = "PackedConv: padding='same'"
    if transposed:
        raise ValueError(f"{name} is for convolutions that are not transposed")
    if any(step != 1 for step in stride):
        raise ValueError(
            f"{name} requires stride 1, got {stride}: the padding then depends on the size of "
            "the input; pass pairs (before, after)"
        )
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def as_geometry(
    shape: tuple[int, ...],
    *,
    stride: object,
    padding: object,
    dilation: object,
    groups: object,
    transposed: object,
    output_padding: object,
) -> _fbg.ConvGeometry:
    """Return the geometry of weights (O, I / groups, *kernel), or transposed (I, O / groups, …)."""
    transposed = require_flag(transposed, "PackedConv: transposed")
    if not 3 <= len(shape) <= 5:
        wanted = "(I, O / groups, *kernel)" if transposed else "(O, I / groups, *kernel)"
        raise ValueError(f"PackedConv: w must be {wanted} with 1 to 3 kernel axes, got {shape}")
    if 0 in shape:
        raise ValueError(f"PackedConv: w must not be empty, got shape {shape}")
    axes = len(shape) - 2
    group_count = require_integer(groups, "PackedConv: groups", 1, MOST)
    if shape[0] % group_count:
        kind = "input" if transposed else "output"
        raise ValueError(
            f"PackedConv: groups must divide the {kind} channels, the first axis of w {shape}, "
            f"got {group_count}{weight_hint(shape, group_count, transposed, None)}"
        )
    channels = [shape[0], shape[1] * group_count]
    inputs, outputs = channels if transposed else reversed(channels)
    strides = per_axis(stride, "PackedConv: stride", axes, 1)
    dilations = per_axis(dilation, "PackedConv: dilation", axes, 1)
    if isinstance(padding, str) and padding == "same":
        padding = _same(shape[2:], strides, dilations, transposed)
    before, after = _padding(padding, axes)
    ones, zeros = [1] * (3 - axes), [0] * (3 - axes)
    extra = per_axis(output_padding, "PackedConv: output_padding", axes, 0)
    return _fbg.ConvGeometry(
        inputs,
        outputs,
        group_count,
        ones + list(shape[2:]),
        ones + strides,
        ones + dilations,
        zeros + before,
        zeros + after,
        transposed,
        zeros + extra,
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
