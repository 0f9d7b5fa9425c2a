"""Ops of tensors that reduce: windows, whole axes, and softmax."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, TensorOp, shape_of


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
    def pixels(self) -> int:
        """The most pixels of x that a window holds."""
        sizes = zip(self.geometry.kernel, shape_of(self.x)[2:], strict=True)
        return math.prod(min(pair) for pair in sizes)


@dataclass(frozen=True, eq=False)
class Reduce(TensorOp):
    """A function ("max", "min", "mean", "sum") of all elements along some axes, which vanish."""

    x: Value
    function: str
    axes: Sizes

    @property
    def kind(self) -> str:
        return f"reduce_{self.function}"

    def infer(self) -> Sizes:
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
