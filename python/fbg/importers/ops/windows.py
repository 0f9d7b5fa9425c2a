"""Geometry that convolutions and pooling have in common: padding, strides, sizes of outputs."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.importers.backends.base import Op, Unsupported

__all__ = ["Geometry", "geometry", "three"]


@dataclass(frozen=True)
class Geometry:
    """Of a window: one number for each spatial axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def geometry(node: Op, spatial: tuple[int, ...], kernel: tuple[int, ...]) -> Geometry:
    """Return strides, dilations and padding of a node; `auto_pad` is resolved."""
    axes = len(spatial)
    if not 1 <= axes <= 3 or len(kernel) != axes:
        raise Unsupported(node.node.name, f"{axes} spatial axes")
    stride = tuple(node.attribute("strides", [1] * axes))
    dilation = tuple(node.attribute("dilations", [1] * axes))
    mode = node.attribute("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = list(node.attribute("pads", [0] * (2 * axes)))
        before, after = tuple(pads[:axes]), tuple(pads[axes:])
    elif mode == "VALID":
        before = after = (0,) * axes
    else:
        pairs = [
            _same(size, k, s, d, upper=mode == "SAME_UPPER")
            for size, k, s, d in zip(spatial, kernel, stride, dilation, strict=True)
        ]
        before, after = tuple(a for a, _ in pairs), tuple(b for _, b in pairs)
    if any(pad < 0 for pad in (*before, *after)):
        raise Unsupported(node.node.name, "negative padding")
    return Geometry(kernel, stride, dilation, before, after)


def _same(size: int, kernel: int, stride: int, dilation: int, *, upper: bool) -> tuple[int, int]:
    """Return the padding with which the output has ceil(size / stride) elements."""
    extent = (kernel - 1) * dilation + 1
    total = max((-(-size // stride) - 1) * stride + extent - size, 0)
    small = total // 2
    return (small, total - small) if upper else (total - small, small)


def three(values: tuple[int, ...], fill: int) -> tuple[int, int, int]:
    """Return one number for each of three axes: missing leading ones are `fill`."""
    padded = (*[fill] * (3 - len(values)), *values)
    return padded[0], padded[1], padded[2]
