"""Ops of tensors that reduce: windows, whole axes, and softmax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fbg.arrays import Floats
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, TensorOp, shape_of

WINDOW_FUNCTIONS = ("max", "min", "mean", "sum")  # of windows of float32
POSITIONS = ("first_max", "first_min", "last_max", "last_min")


@dataclass(frozen=True)
class Geometry:
    """The geometry of a window, with one number for each spatial axis. output: number of windows.

    before, after: padding, which is negative where an image is cut. extra: the number
    of elements at the end of a transposed convolution that no window reaches.
    """

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    before: Sizes
    after: Sizes
    output: Sizes
    extra: Sizes = ()

    def __str__(self) -> str:
        kernel = " x ".join(map(str, self.kernel))
        steps = (("stride", self.stride), ("dilation", self.dilation))
        more = [f"{name} {list(sizes)}" for name, sizes in steps if set(sizes) != {1}]
        return " ".join([kernel, *more])


@dataclass(frozen=True)
class Integers:
    """The result of a window of integers: real numbers, times `factor`, or integers again.

    zero_point: the zero point of x. rounded: that of an integer result, of the type of x.
    """

    factor: float
    zero_point: int
    rounded: int | None = None


@dataclass(frozen=True, eq=False)
class Window(TensorOp):
    """A function ("max", "min", "mean", "sum") of each window of x (N, C, *spatial)."""

    x: Value
    function: str
    geometry: Geometry
    shape: Sizes
    count_padding: bool = False
    integers: Integers | None = None

    @property
    def kind(self) -> str:
        return f"{self.function}_window"

    def element_type(self) -> str:
        floats = self.integers is not None and self.integers.rounded is None
        return "float32" if floats else self.x.dtype

    def infer(self) -> Sizes:
        return self.checked(self.shape)

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        rounded = self.integers is not None and self.integers.rounded is not None
        return [numbers[self.x], str(self.geometry), *(["requantize"] if rounded else [])]

    @property
    def is_whole(self) -> bool:
        """Whether there is one window, which holds all pixels and nothing else."""
        g = self.geometry
        return g.kernel == shape_of(self.x)[2:] and not any((*g.before, *g.after))

    @property
    def pixels(self) -> int:
        """The most pixels of x that a window holds."""
        sizes = zip(self.geometry.kernel, shape_of(self.x)[2:], strict=True)
        return math.prod(min(pair) for pair in sizes)


@dataclass(frozen=True, eq=False)
class Reduce(TensorOp):
    """A function of all elements along some axes, which vanish.

    function: one of WINDOW_FUNCTIONS; of any type "max", "min", "sum", "product", or the position
    of an extreme element along a single axis, such as "first_max".
    """

    x: Value
    function: str
    axes: Sizes

    @property
    def kind(self) -> str:
        return f"reduce_{self.function}"

    def element_type(self) -> str:
        return "int64" if self.function in POSITIONS else self.x.dtype

    def infer(self) -> Sizes:
        if self.function in POSITIONS and len(self.axes) != 1:
            raise self.error("axes", "be a single axis", self.axes)
        return tuple(n for axis, n in enumerate(shape_of(self.x)) if axis not in self.axes)

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        return [numbers[self.x], f"axes={list(self.axes)}"]


@dataclass(frozen=True, eq=False)
class Softmax(TensorOp):
    """A softmax along one axis, or along all axes from that one on as if they were one."""

    x: Value
    axis: int
    flat: bool = False
    kind = "softmax"

    def infer(self) -> Sizes:
        return shape_of(self.x)


@dataclass(frozen=True, eq=False)
class LogSoftmax(TensorOp):
    """The logarithm of a softmax, along the same axes."""

    x: Value
    axis: int
    flat: bool = False
    kind = "log_softmax"

    def infer(self) -> Sizes:
        return shape_of(self.x)


@dataclass(frozen=True, eq=False)
class GroupNorm(TensorOp):
    """(x - mean) / sqrt(variance + eps) * weight + bias of x (N, C, *spatial).

    The mean and the variance are those of a group of channels of an image; weight and bias have an
    element for each channel.
    """

    x: Value
    groups: int
    weight: Floats
    bias: Floats
    eps: float
    kind = "group_norm"

    def infer(self) -> Sizes:
        shape = shape_of(self.x)
        for name, own in (("weight", self.weight), ("bias", self.bias)):
            if own.shape != (shape[1],):
                raise self.error(name, f"have shape ({shape[1]},)", own.shape)
        if self.groups < 1 or shape[1] % self.groups:
            raise self.error("groups", f"divide {shape[1]} channels", self.groups)
        return shape

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        return [numbers[self.x], f"groups={self.groups}", f"eps={self.eps:g}"]


@dataclass(frozen=True, eq=False)
class GridSample(TensorOp):
    """x (N, C, *spatial) at places between its pixels; grid: (N, *output, axes).

    interpolation: "nearest", "linear" or "cubic". beyond: what pixels outside of the image are,
    "zeros", "border" or "reflection".
    """

    x: Value
    grid: Value
    interpolation: str
    beyond: str
    align_corners: bool = False
    kind = "grid_sample"

    def infer(self) -> Sizes:
        shape, places = shape_of(self.x), shape_of(self.grid)
        axes = len(shape) - 2
        if len(places) != len(shape) or places[0] != shape[0] or places[-1] != axes:
            raise self.error("grid", f"have {axes} numbers for each place", places)
        if not 1 <= axes <= 3 or (self.interpolation == "cubic" and axes > 2):
            raise self.error("x", "have one to three axes (cubic: two)", shape)
        return self.checked((*shape[:2], *places[1:-1]))
