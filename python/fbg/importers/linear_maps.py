"""Convolutions, and affine maps by channel, as linear maps that can be added.

A linear map is written as the taps of a window: the position that a tap reads is that of the output
times the stride, plus an offset. Padding says only where the offsets begin, so that windows of
different sizes, paddings and dilations are added tap by tap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fbg.arrays import Array, Floats
from fbg.graph.ops.tensors import Sizes
from fbg.importers.description import Node


@dataclass(frozen=True)
class LinearMap:
    """A convolution of a tensor with zeros around it.

    w: (outputs, inputs of a group, *taps). bias: (outputs,). first: offset of the first tap along
    each axis, not above 0. step: between taps. margin: padding minus reach of the window: it
    decides the size of the output. cost: multiplications for each pixel of it.
    """

    w: Floats
    bias: Floats
    groups: int
    stride: Sizes
    first: Sizes
    step: Sizes
    margin: Sizes
    cost: int

    @property
    def taps(self) -> Sizes:
        """The number of taps along each axis."""
        return self.w.shape[2:]

    @property
    def channels(self) -> tuple[int, int]:
        """How many channels are read, and how many written."""
        return self.w.shape[1] * self.groups, self.w.shape[0]

    def scaled(self, factor: Floats, summand: Floats) -> LinearMap:
        """Return the map followed by a factor and a summand, one or one for each output."""
        w = self.w * factor.reshape(-1, *[1] * (self.w.ndim - 1))
        return replace(self, w=w, bias=self.bias * factor + summand)

    def attributes(self) -> dict[str, list[int] | int]:
        """Return the attributes of a Conv of these weights."""
        reach = [(taps - 1) * step for taps, step in zip(self.taps, self.step, strict=True)]
        axes = zip(self.margin, reach, self.first, strict=True)
        after = [margin + extent + first for margin, extent, first in axes]
        return {
            "kernel_shape": list(self.taps),
            "strides": list(self.stride),
            "dilations": list(self.step),
            "pads": [*(-first for first in self.first), *after],
            "group": self.groups,
        }


def identity(channels: int, axes: int) -> LinearMap:
    """Return the map of a tensor with these channels, and axes behind them, to itself."""
    w, bias = np.ones((channels, 1, *[1] * axes), np.float32), np.zeros(channels, np.float32)
    none, ones = (0,) * axes, (1,) * axes
    return LinearMap(w, bias, channels, ones, none, ones, none, channels)


def of_conv(node: Node, constants: Mapping[str, Array]) -> LinearMap | None:
    """Return a Conv, or None if its weights are not known, or its padding depends on sizes."""
    values = [constants.get(name) for name in filter(None, node.inputs[1:])]
    known = [value for value in values if value is not None and value.dtype == np.float32]
    if len(known) < max(len(values), 1) or known[0].ndim < 3:
        return None
    w, *biases = known
    axes, groups = w.ndim - 2, int(node.attributes.get("group", 1))
    stride, step = (
        tuple(node.attributes.get(name) or [1] * axes) for name in ("strides", "dilations")
    )
    reach = tuple((taps - 1) * d for taps, d in zip(w.shape[2:], step, strict=False))
    pads = _pads(node, stride, reach)
    if pads is None or {len(stride), len(step), len(pads) / 2} != {axes}:
        return None
    if min(pads) < 0 or min(*stride, *step, groups) < 1:
        return None
    if 0 in w.shape or len(w) % groups or any(bias.shape != w.shape[:1] for bias in biases):
        return None
    before, after = pads[:axes], pads[axes:]
    return LinearMap(
        w,
        sum(biases, np.zeros(len(w), np.float32)),
        groups,
        stride,
        tuple(-size for size in before),
        step,
        tuple(a + b - extent for a, b, extent in zip(before, after, reach, strict=True)),
        w.size,
    )


def _pads(node: Node, stride: Sizes, reach: Sizes) -> Sizes | None:
    """Return the padding before and after each axis, or None if it depends on their sizes."""
    mode = node.attributes.get("auto_pad") or "NOTSET"
    if mode == "NOTSET":
        return tuple(node.attributes.get("pads") or [0] * 2 * len(reach))
    if mode == "VALID":
        return (0,) * 2 * len(reach)
    if max(stride) > 1:
        return None
    fewer = tuple(extent // 2 for extent in reach)
    more = tuple(extent - less for extent, less in zip(reach, fewer, strict=True))
    return fewer + more if mode == "SAME_UPPER" else more + fewer


def added(one: LinearMap, other: LinearMap) -> LinearMap | None:
    """Return the sum of two maps of one tensor, or None if it costs more than they do."""
    if any(getattr(one, name) != getattr(other, name) for name in ("stride", "margin", "channels")):
        return None
    axes = [_joined_axis(one, other, axis) for axis in range(len(one.stride))]
    first, step, taps = (tuple(sizes) for sizes in zip(*axes, strict=True))
    groups = math.gcd(one.groups, other.groups)
    inputs, outputs = one.channels
    shape = (outputs, inputs // groups, *taps)
    cost = math.prod(shape)
    if cost > one.cost + other.cost:
        return None
    total = replace(
        one,
        w=np.zeros(shape, np.float32),
        bias=one.bias + other.bias,
        groups=groups,
        first=first,
        step=step,
        cost=cost,
    )
    for each in (one, other):
        _add_taps(total, each)
    return total


def _joined_axis(one: LinearMap, other: LinearMap, axis: int) -> tuple[int, int, int]:
    """Return first offset, step and number of the taps that both maps have along an axis."""
    both = [(each.first[axis], each.step[axis], each.taps[axis]) for each in (one, other)]
    begin = min(first for first, _, _ in both)
    last = max(first + (taps - 1) * step for first, step, taps in both)
    apart = [first - begin for first, _, _ in both]
    step = math.gcd(*apart, *(step for _, step, taps in both if taps > 1)) or 1
    return begin, step, (last - begin) // step + 1


def _add_taps(total: LinearMap, part: LinearMap) -> None:
    """Add the weights of a part to those of a sum, whose groups consist of groups of the part."""
    each = part.groups // total.groups
    inputs, outputs = (size // part.groups for size in part.channels)
    target = total.w.reshape(total.groups, each, outputs, each, inputs, *total.taps)
    places: list[slice] = [slice(None)] * 3
    for axis, taps in enumerate(part.taps):
        start = (part.first[axis] - total.first[axis]) // total.step[axis]
        step = part.step[axis] // total.step[axis] if taps > 1 else 1
        places.append(slice(start, start + (taps - 1) * step + 1, step))
    w = part.w.reshape(total.groups, each, outputs, inputs, *part.taps)
    for i in range(each):
        target[:, i, :, i][tuple(places)] += w[:, i]
