"""Ops of tensors that put elements in other places."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from fbg.graph.ops.elements import Convert
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, TensorInput, TensorOp, shape_of, size_of


@dataclass(frozen=True, eq=False)
class Reshape(TensorOp):
    """The same elements in another shape."""

    x: Value
    shape: Sizes
    kind = "reshape"

    def infer(self) -> Sizes:
        if math.prod(self.shape) != size_of(self.x):
            raise self.error("shape", f"have {size_of(self.x)} elements", self.shape)
        return self.shape

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        return [numbers[self.x]]


@dataclass(frozen=True, eq=False)
class Transpose(TensorOp):
    """Axis i of the result is axis perm[i] of x."""

    x: Value
    perm: Sizes
    kind = "transpose"

    def infer(self) -> Sizes:
        shape = shape_of(self.x)
        if sorted(self.perm) != list(range(len(shape))):
            raise self.error("perm", f"name each of {len(shape)} axes once", self.perm)
        return tuple(shape[axis] for axis in self.perm)


@dataclass(frozen=True)
class AxisMap:
    """The source of the elements along one axis of a result.

    They are elements ``start + i * step`` of axis `source` of the input, or, with a table, the
    elements that it names (-1: none, the result holds the fill value); without `source`, all are
    the same.
    """

    extent: int
    source: int | None = None
    start: int = 0
    step: int = 1
    table: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.table:
            return f"{len(self.table)} picked"
        if self.source is None:
            return f"{self.extent} times"
        end = self.start + self.extent * self.step
        return f"{self.start}:{end}" + (f":{self.step}" if self.step != 1 else "")


@dataclass(frozen=True, eq=False)
class Move(TensorOp):
    """Elements of x in other places. fill: the value of elements that come from nowhere."""

    x: Value
    axes: tuple[AxisMap, ...]
    fill: float | None = None
    kind = "move"

    def infer(self) -> Sizes:
        dtype = np.dtype(self.x.dtype)
        if self.fill is not None:
            with np.errstate(all="ignore"):
                element = np.array(self.fill).astype(dtype)
            if dtype.kind in "iub" and element != self.fill:
                raise ValueError(f"{self.fill} in a tensor of {dtype}")
        return self.checked(tuple(axis.extent for axis in self.axes))

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        whole = [AxisMap(extent, axis) for axis, extent in enumerate(shape_of(self.x))]
        pairs = enumerate(zip_longest(self.axes, whole))
        moved = [f"axis {i} {axis}" for i, (axis, kept) in pairs if axis not in (None, kept)]
        fill = [] if self.fill is None else [f"fill={self.fill:g}"]
        return [numbers[self.x], *moved, *fill]

    def pattern(self) -> bytes:
        """Return the bytes of a filled element."""
        if self.fill is None:
            return b""
        with np.errstate(all="ignore"):
            return np.array(self.fill).astype(self.x.dtype).tobytes()


@dataclass(frozen=True, eq=False)
class Concat(TensorOp):
    """Tensors one after the other along an axis."""

    values: tuple[Value, ...]
    axis: int
    kind = "concat"

    def infer(self) -> Sizes:
        first, *others = (shape_of(value) for value in self.values)
        rest = [size for axis, size in enumerate(first) if axis != self.axis]
        for shape in others:
            if [size for axis, size in enumerate(shape) if axis != self.axis] != rest:
                raise self.error("values", f"agree with {first} but along the axis", shape)
        extent = sum(shape_of(value)[self.axis] for value in self.values)
        return self.checked((*first[: self.axis], extent, *first[self.axis + 1 :]))


@dataclass(frozen=True, eq=False)
class Resample(TensorOp):
    """Weighted sums of elements along one axis. sources, weights: (output, taps)."""

    x: Value
    axis: int
    sources: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]
    kind = "resample"

    def infer(self) -> Sizes:
        output = len(self.sources)
        shape = shape_of(self.x)
        return self.checked((*shape[: self.axis], output, *shape[self.axis + 1 :]))


def input_behind(value: Value) -> str | None:
    """Return the input that has the same integers in any order; None if they are computed."""
    while isinstance(value.op, (Reshape, Transpose, Convert)):
        value = value.op.x
    known = isinstance(value.op, TensorInput) and value.dtype in ("int32", "int64")
    return value.op.tensor if isinstance(value.op, TensorInput) and known else None
