"""Tensors while a native graph is built: where they are, or how to get them.

A tensor of shape (N, C, H, W) may lie in memory with its axes in another order, such as
(N, H, W, C). `order` names the axes from the outermost to the innermost; ops that do not care keep
it, and transposing a tensor only changes it.

A tensor may also be deferred: an elementwise program that has not run yet, which the next
elementwise op extends, or a convolution whose epilogue is still open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from fbg.importers.ops.convolution import OpenConv

__all__ = ["Program", "Quantized", "QuantizedWeights", "Value", "strides_of"]

Array = npt.NDArray[Any]
Order = tuple[int, ...]
ProgramStep = tuple[str, int, int, float, float]


def strides_of(shape: tuple[int, ...], order: Order) -> list[int]:
    """Return the distance between elements along each axis of a dense tensor in that order.

    >>> strides_of((2, 3, 4, 5), (0, 2, 3, 1))
    [60, 1, 15, 3]
    """
    strides, distance = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = distance
        distance *= shape[axis]
    return strides


@dataclass
class Program:
    """An elementwise program: its operands, which are not deferred, and its steps.

    A step is (function, register a, register b, constant, constant); registers are first the
    operands and then the steps. nodes: those of the network that it computes.
    """

    operands: list[Value]
    steps: list[ProgramStep]
    nodes: list[str] = field(default_factory=list)


@dataclass
class Quantized:
    """Integers that stand for ``scale * (q - zero_point)``, one scale for the whole tensor."""

    integers: Value
    scale: float
    zero_point: int


@dataclass
class QuantizedWeights:
    """Constant integers that stand for ``scale * (q - zero_point)`` along `axis`.

    scale, zero_point: (), or one for each element of the axis.
    """

    integers: Array
    scale: Array
    zero_point: Array
    axis: int


@dataclass(eq=False)
class Value:
    """A tensor: in a buffer, constant, or deferred as a program, a convolution or integers.

    uses: how many readers it has; a deferred tensor with several is computed once and kept.
    reordered: copies in other orders. weights: where a constant comes from.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: Order
    buffer: int | None = None
    constant: Array | None = None
    program: Program | None = None
    conv: OpenConv | None = None
    quantized: Quantized | None = None
    weights: QuantizedWeights | None = None
    uses: int = 1
    reordered: dict[Order, Value] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def native_type(self) -> str:
        """Type of the elements as the native graph calls it; bool is stored as uint8."""
        return "uint8" if self.dtype == np.bool_ else str(self.dtype)

    def lies_in(self, order: Order) -> bool:
        """Whether its elements lie as in that order: axes of size 1 may stand anywhere."""
        mine = [axis for axis in self.order if self.shape[axis] != 1]
        return mine == [axis for axis in order if self.shape[axis] != 1]
