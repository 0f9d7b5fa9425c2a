"""Ops of tensors whose elements have any type of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, TensorOp, shape_of

COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal")  # give bool


@dataclass(frozen=True, eq=False)
class Function(TensorOp):
    """A function of elements that a `Map` lacks, or of types that it lacks, with broadcasting.

    "select" takes the elements of its second operand where the first, of bool, is true, else those
    of the third.
    """

    function: str
    operands: tuple[Value, ...]

    @property
    def kind(self) -> str:
        return self.function

    @property
    def operand_type(self) -> str:
        """The type of the operands, apart from the first one of "select"."""
        return self.operands[-1].dtype

    def element_type(self) -> str:
        return "bool" if self.function in COMPARISONS else self.operand_type

    def infer(self) -> Sizes:
        given = self.operands[1:] if self.function == "select" else self.operands
        types = [value.dtype for value in given]
        if len(set(types)) > 1:
            raise self.error("operands", "have one type", " and ".join(types))
        return self.checked(np.broadcast_shapes(*map(shape_of, self.operands)))

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        return [numbers[value] for value in self.operands]


@dataclass(frozen=True, eq=False)
class Convert(TensorOp):
    """Elements as another type. Floats are truncated to integers."""

    x: Value
    dtype: str
    kind = "convert"

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Sizes:
        return shape_of(self.x)


# Along an axis -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Accumulate(TensorOp):
    """Running sums or products along an axis. exclusive: each without its own element."""

    x: Value
    axis: int
    multiplies: bool = False
    exclusive: bool = False
    reverse: bool = False
    kind = "accumulate"

    def infer(self) -> Sizes:
        return shape_of(self.x)


@dataclass(frozen=True, eq=False)
class TopPositions(TensorOp):
    """The positions (int64) of the k greatest or least elements along an axis, in order."""

    x: Value
    axis: int
    k: int
    greatest: bool = True
    kind = "top_positions"

    def element_type(self) -> str:
        return "int64"

    def infer(self) -> Sizes:
        shape = shape_of(self.x)
        if not 1 <= self.k <= shape[self.axis]:
            raise self.error("k", f"be at least 1 and at most {shape[self.axis]}", self.k)
        return (*shape[: self.axis], self.k, *shape[self.axis + 1 :])


# Moves by indices that a run computes ------------------------------------------------------------


@dataclass(frozen=True)
class IndexMap:
    """Rows of a tensor by indices: a nest of loops, with one row for each step.

    strides, index_strides: elements of the tensor and of the indices from one step of a loop to the
    next. axes: the size of each indexed axis, and the distance between its elements; as many
    indices stand side by side. row: the number of elements of a row.
    """

    extents: Sizes
    strides: Sizes
    index_strides: Sizes
    axes: tuple[tuple[int, int], ...]
    row: int

    @property
    def limits(self) -> str:
        """What indices must be, in words."""
        sizes = [size for size, _ in self.axes]
        each = " and ".join(f"within [{-size}, {size - 1}]" for size in sizes)
        return f"indices must be {each}"


def _strides(shape: Sizes) -> Sizes:
    """Return the distance between elements along each axis of a dense tensor.

    >>> _strides((2, 3, 4))
    (12, 4, 1)
    """
    distances, distance = [], 1
    for size in reversed(shape):
        distances.append(distance)
        distance *= size
    return tuple(distances[::-1])


def rows_along(shape: Sizes, axis: int, indices: Sizes) -> IndexMap:
    """Return the map of slices along an axis: x[..., indices, ...]."""
    row, count = _strides(shape)[axis], int(np.prod(indices, dtype=np.int64))
    outer = int(np.prod(shape[:axis], dtype=np.int64))
    return IndexMap((outer, count), (shape[axis] * row, 0), (0, 1), ((shape[axis], row),), row)


def elements_along(shape: Sizes, axis: int, indices: Sizes) -> IndexMap:
    """Return the map of elements that differ from an index in its place along an axis alone."""
    strides = _strides(shape)
    others = tuple(0 if a == axis else stride for a, stride in enumerate(strides))
    return IndexMap(indices, others, _strides(indices), ((shape[axis], strides[axis]),), 1)


def rows_of_places(shape: Sizes, batch: int, indices: Sizes) -> IndexMap:
    """Return the map of slices by whole places, behind `batch` axes that both have."""
    *steps, depth = indices
    strides = _strides(shape)
    end = batch + depth
    axes = tuple(zip(shape[batch:end], strides[batch:end], strict=True))
    outer = (*strides[:batch], *[0] * (len(steps) - batch))
    row = int(np.prod(shape[end:], dtype=np.int64))
    return IndexMap(tuple(steps), outer, _strides(indices)[:-1], axes, row)


@dataclass(frozen=True, eq=False)
class Gather(TensorOp):
    """Rows of x by indices."""

    x: Value
    indices: Value
    places: IndexMap
    shape: Sizes
    kind = "gather"

    def infer(self) -> Sizes:
        return self.checked(self.shape)

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        return [numbers[self.x], numbers[self.indices]]


@dataclass(frozen=True, eq=False)
class Scatter(TensorOp):
    """x, in which rows of updates replace those at indices, or are combined with them."""

    x: Value
    indices: Value
    updates: Value
    places: IndexMap
    how: str = "replace"
    kind = "scatter"

    def infer(self) -> Sizes:
        return shape_of(self.x)

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        shown = [numbers[value] for value in (self.x, self.indices, self.updates)]
        return shown if self.how == "replace" else [*shown, f"how={self.how}"]
