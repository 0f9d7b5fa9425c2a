"""Convolution layers to time: one of each class that networks have, and what others published.

A layer names its class, which says what it is called in tables. `float32` and `int8` are the least
ratio to the best peer that is asked of it (CLASSES); published layers ask for no more than parity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import shapes


@dataclass(frozen=True)
class Layer:
    """One convolution of one image; channels and sizes as torch names them."""

    kind: str
    inputs: int
    outputs: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: int = 1
    padding: tuple[int, ...] = ()
    dilation: int = 1
    groups: int = 1

    @property
    def pads(self) -> tuple[int, ...]:
        """Padding of each axis, the same before and after: by default what keeps the size."""
        if self.padding:
            return self.padding
        return tuple((k - 1) * self.dilation // 2 for k in self.kernel)

    @property
    def output(self) -> tuple[int, ...]:
        return tuple(
            (n + 2 * p - self.dilation * (k - 1) - 1) // self.stride + 1
            for n, p, k in zip(self.size, self.pads, self.kernel, strict=True)
        )

    @property
    def depth(self) -> int:
        return self.inputs // self.groups * math.prod(self.kernel)

    @property
    def operations(self) -> float:
        return 2.0 * math.prod(self.output) * self.outputs * self.depth

    @property
    def name(self) -> str:
        """Like 64->256 56x56 k3x3 s2 d2 g32."""
        text = f"{self.inputs}->{self.outputs} {_by(self.size)} k{_by(self.kernel)}"
        for letter, value in (("s", self.stride), ("d", self.dilation), ("g", self.groups)):
            text += f" {letter}{value}" if value != 1 else ""
        return text


def _by(values: tuple[int, ...]) -> str:
    return "x".join(map(str, values))


# Least ratio to the best peer: int8, float32.
CLASSES: dict[str, tuple[float, float]] = {
    "dense 3x3": (1.0, 1.1),
    "dense": (1.0, 1.0),
    "pointwise": (1.0, 1.0),
    "pointwise, small K": (1.15, 1.0),
    "stem 7x7": (1.3, 1.0),
    "stem 3x3": (1.5, 1.0),
    "depthwise 3x3": (3.0, 1.5),
    "depthwise 3x3 s2": (2.5, 1.5),
    "depthwise 5x5": (2.0, 1.5),
    "depthwise 7x7": (2.0, 1.5),
    "depthwise 3-D": (2.0, 1.5),
    "groupwise x4": (3.0, 1.0),
    "groupwise x8": (1.6, 1.0),
    "groupwise x16": (1.2, 1.0),
    "groupwise": (1.0, 1.0),
}


def _square(
    kind: str, inputs: int, outputs: int, size: int, kernel: int, stride: int = 1, groups: int = 1
) -> Layer:
    return Layer(
        kind, inputs, outputs, (size, size), (kernel, kernel), stride=stride, groups=groups
    )


def _depthwise(kind: str, channels: int, size: int, kernel: int, stride: int = 1) -> Layer:
    return _square(kind, channels, channels, size, kernel, stride, channels)


LAYERS = [
    _square("dense 3x3", 64, 64, 56, 3),
    _square("dense 3x3", 128, 128, 28, 3),
    _square("dense 3x3", 256, 256, 14, 3),
    _square("dense", 512, 512, 7, 3),
    _square("dense", 128, 128, 56, 3, 2),
    _square("pointwise, small K", 64, 256, 56, 1),
    _square("pointwise", 256, 64, 56, 1),
    _square("pointwise, small K", 24, 144, 56, 1),
    _square("pointwise", 1024, 256, 14, 1),
    _square("pointwise", 512, 2048, 7, 1),
    _square("pointwise", 256, 512, 56, 1, 2),
    _square("stem 7x7", 3, 64, 224, 7, 2),
    _square("stem 3x3", 3, 32, 224, 3, 2),
    _depthwise("depthwise 3x3", 144, 56, 3),
    _depthwise("depthwise 3x3", 512, 14, 3),
    _depthwise("depthwise 3x3 s2", 96, 112, 3, 2),
    _depthwise("depthwise 5x5", 240, 28, 5),
    _depthwise("depthwise 7x7", 384, 14, 7),
    Layer("depthwise 3-D", 32, 32, (16, 28, 28), (3, 3, 3), groups=32),
    _square("groupwise x4", 128, 128, 56, 3, groups=32),
    _square("groupwise x8", 256, 256, 28, 3, groups=32),
    _square("groupwise x16", 512, 512, 14, 3, groups=32),
    Layer("dense", 192, 192, (17, 17), (1, 7)),
    Layer("dense", 192, 192, (17, 17), (7, 1)),
    Layer("dense", 256, 256, (28, 28), (3, 3), dilation=2),
]


def _class(kernel: tuple[int, ...], stride: int, inputs: int, groups: int, depthwise: bool) -> str:
    if depthwise:
        if len(kernel) == 3:
            return "depthwise 3-D"
        suffix = " s2" if stride > 1 and kernel[0] == 3 else ""
        return f"depthwise {kernel[0]}x{kernel[0]}{suffix}"
    if groups > 1:
        each = inputs // groups
        return f"groupwise x{each}" if each in (4, 8, 16) else "groupwise"
    if inputs <= 4:
        return f"stem {kernel[0]}x{kernel[0]}"
    return "pointwise" if kernel == (1, 1) else "dense"


def _published(
    inputs: int,
    outputs: int,
    size: tuple[int, ...],
    kernel: int,
    stride: int,
    groups: int,
    pad: int | None = None,
) -> Layer:
    """pad: that of every axis; by default what keeps the size."""
    kernels = (kernel,) * len(size)
    kind = _class(kernels, stride, inputs, groups, groups == inputs)
    pads = () if pad is None else (pad,) * len(size)
    return Layer(kind, inputs, outputs, size, kernels, stride, pads, groups=groups)


# What bench/conv.py --set names.
SETS: dict[str, list[Layer]] = {
    "layers": LAYERS,
    "im2col": [_published(i, o, size, k, s, g) for _, i, o, size, g, k, s, _ in shapes.CONV_IM2COL],
    "resnext": [
        _published(i, o, (n, n), k, s, g) for i, o, n, g, k, s, _ in shapes.CONV_RESNEXT101
    ],
    "depthwise": [_published(c, c * m, n, k, s, c) for c, m, s, k, n in shapes.CONV_DEPTHWISE],
    "depthwise3d": [_published(c, c, n, 3, s, c) for _, c, n, s in shapes.CONV_DEPTHWISE_3D],
    "onednn": [_published(i, o, n, k, s, g, p) for i, o, n, g, k, s, p in shapes.CONV_ONEDNN],
    "groupwise": [_published(c, c, n, 3, s, 32) for _, c, n, s in shapes.CONV_GROUPWISE],
}
