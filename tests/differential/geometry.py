"""Geometries of convolutions, every field drawn by itself, and the matrices that they multiply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fbg

__all__ = ["MOST_PRODUCTS", "Geometry", "draw_geometry"]

Array = npt.NDArray[Any]

MOST_PRODUCTS = 1_500_000


@dataclass(frozen=True)
class Geometry:
    """The arguments of PackedConv, the shape of x, and the shape of the weights."""

    kernel: list[int]
    stride: list[int]
    dilation: list[int]
    padding: list[tuple[int, int]]
    extra: list[int]
    size: list[int]
    groups: int
    inputs: int  # of a group
    outputs: int
    batch: int
    transposed: bool

    @property
    def output(self):
        """Sizes of the result."""
        axes = zip(
            self.size,
            self.kernel,
            self.stride,
            self.dilation,
            self.padding,
            self.extra,
            strict=True,
        )
        if self.transposed:
            return [(n - 1) * s + d * (k - 1) + 1 - sum(p) + e for n, k, s, d, p, e in axes]
        return [(n + sum(p) - d * (k - 1) - 1) // s + 1 for n, k, s, d, p, _ in axes]

    @property
    def products(self):
        """Multiplications of the whole."""
        pixels = self.batch * math.prod(self.output) * self.groups * self.outputs
        return pixels * self.inputs * math.prod(self.kernel)

    def pack(self, w, **options):
        """Return the packed weights."""
        return fbg.PackedConv(
            w,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            self.transposed,
            self.extra,
            **options,
        )

    def w_shape(self):
        """Return the shape of the weights as PackedConv takes them."""
        if self.transposed:
            return (self.groups * self.inputs, self.outputs, *self.kernel)
        return (self.groups * self.outputs, self.inputs, *self.kernel)

    def matrices(self, w):
        """Return the weights as matrices of groups, (groups, taps * inputs, outputs), float64."""
        g, i, o = self.groups, self.inputs, self.outputs
        if self.transposed:
            by_tap = w.reshape(g, i, o, -1).transpose(0, 3, 1, 2)
        else:
            by_tap = w.reshape(g, o, i, -1).transpose(0, 3, 2, 1)
        return by_tap.reshape(g, -1, o).astype(np.float64)

    def patches(self, x, outside):
        """Return what the outputs read, (groups, pixels, taps * inputs), float64.

        outside: for each image, what pixels around it count as.
        """
        reads, beyond = np.zeros((1, 1), np.int64), np.zeros((1, 1), bool)
        misses = beyond
        axes = zip(
            self.size,
            self.kernel,
            self.stride,
            self.dilation,
            self.padding,
            self.output,
            strict=True,
        )
        for n, k, s, d, (before, _), o in axes:
            places, taps = np.arange(o)[:, None], np.arange(k)[None, :] * d
            if self.transposed:
                at = places + before - taps
                none = at % s != 0
                at //= s
            else:
                at = places * s - before + taps
                none = np.zeros(at.shape, bool)
            out = (at < 0) | (at >= n)

            def join(whole, part, op):
                both = op(whole[:, None, :, None], part[None, :, None, :])
                return np.asarray(both).reshape(both.shape[0] * both.shape[1], -1)

            reads = join(reads * n, np.where(out, 0, at), np.add)
            beyond = join(beyond, out, np.logical_or)
            misses = join(misses, none, np.logical_or)
        channels = self.groups * self.inputs
        flat = x.reshape(self.batch, math.prod(self.size), channels).astype(np.float64)
        found = flat[:, np.where(beyond, 0, reads)]
        found = np.where(beyond[None, :, :, None], outside[:, None, None, None], found)
        found[:, misses] = 0
        pixels, taps = reads.shape
        split = found.reshape(self.batch * pixels, taps, self.groups, self.inputs)
        by_group = split.transpose(2, 0, 1, 3)
        return by_group.reshape(self.groups, self.batch * pixels, taps * self.inputs)

    def multiply(self, patches, matrices):
        """Return sums (pixels, outputs of all groups)."""
        sums = (patches @ matrices).transpose(1, 0, 2)
        return sums.reshape(patches.shape[1], self.groups * self.outputs)


def _channels(random):
    """Return groups, and inputs and outputs of each: depthwise, grouped, ordinary, deep ones."""
    kind = random.randrange(5)
    if kind == 0:
        return random.choice((1, 3, 8, 16, 17, 32, 40)), 1, random.choice((1, 1, 1, 2, 3))
    few = random.choice((1, 2, 3, 4, 5, 7, 8, 16))
    many = random.choice((24, 32, 33, 48, 64, 96, 128, 192))
    if kind == 2:  # whole blocks of a matrix unit
        return random.choice((1, 1, 2)), random.choice((64, 128)), random.choice((5, 16, 32, 40))
    if kind == 1:
        return random.choice((2, 3, 4, 8)), few, random.choice((1, 2, 4, 8, 9, 16))
    return 1, random.choice((few, many)), random.choice((1, 3, 8, 16, 17, 31, 32, 64, 64, 128))


def _axis(random, longest, transposed):
    """Return kernel, stride, dilation, padding, output padding and size of an axis."""
    kernel = random.choice((1, 1, 2, 3, random.randint(1, longest)))
    stride = random.choice((1, 1, 1, 2, random.randint(1, 4)))
    dilation = random.choice((1, 1, 1, random.randint(1, 3)))
    before, after = (random.choice((0, 0, 0, 1, random.randint(0, 4))) for _ in range(2))
    extra = random.randrange(max(stride, dilation)) if transposed else 0
    size = random.choice((1, 2, 3, random.randint(1, 9), random.randint(1, 6 * longest)))
    return kernel, stride, dilation, (before, after), extra, size


def draw_geometry(random):
    """Return a geometry that has an output, and not too much to compute."""
    while True:
        axes, transposed = random.choice((1, 2, 2, 3)), random.random() < 0.2
        drawn = [_axis(random, (7, 6, 4)[axes - 1], transposed) for _ in range(axes)]
        if random.random() < 0.4:  # but for their sizes, all axes are alike
            drawn = [(*drawn[0][:-1], size) for *_, size in drawn]
        kernel, stride, dilation, padding, extra, size = map(list, zip(*drawn, strict=True))
        groups, inputs, outputs = _channels(random)
        batch = random.choice((1, 1, 1, 2, 3, 0))
        g = Geometry(
            kernel, stride, dilation, padding, extra, size,
            groups, inputs, outputs, batch, transposed,
        )  # fmt: skip
        reaches = all(
            n + sum(p) >= d * (k - 1) + 1
            for n, p, d, k in zip(size, padding, dilation, kernel, strict=True)
        )
        if (transposed or reaches) and min(g.output) > 0 and g.products <= MOST_PRODUCTS:
            return g
