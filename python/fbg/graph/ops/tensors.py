"""The ops of tensors, whose shapes are known: the ops of networks from ONNX files.

They say what is computed, and nothing about how axes are stored: lowering decides that.
Moves, windows and products have files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fbg.arrays import Array
from fbg.graph.ops.op import Op, Shape, Value
from fbg.graph.quantized_weights import QuantizedWeights

Sizes = tuple[int, ...]


@lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    return str(dtype)  # takes as long as all the rest of an op


def shape_of(value: Value) -> Sizes:
    """Return the shape of a tensor."""
    return tuple(int(size) for size in value.shape)


def size_of(value: Value) -> int:
    """Return the number of elements of a tensor."""
    return math.prod(shape_of(value))


class TensorOp(Op):
    """An op of tensors."""

    def element_type(self) -> str:
        return self.inputs[0].dtype


@dataclass(frozen=True, eq=False)
class TensorInput(TensorOp):
    """A tensor that is input of every run; for another back end, its shape may be unknown."""

    tensor: str
    shape: Shape
    dtype: str
    kind = "input"
    is_brought = True

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Shape:
        self.checked(tuple(size for size in self.shape if isinstance(size, int)))
        return self.shape

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        return [self.tensor]


@dataclass(frozen=True, eq=False)
class Constant(TensorOp):
    """A constant tensor, or one that constant integers stand for."""

    source: Array | QuantizedWeights
    kind = "constant"

    def element_type(self) -> str:
        return "float32" if isinstance(self.source, QuantizedWeights) else _name(self.source.dtype)

    def infer(self) -> Sizes:
        return self.source.shape

    def literal(self) -> str:
        if self.source.shape == () and isinstance(self.source, np.ndarray):
            return str(self.source)
        return f"{self.element_type()}{list(self.source.shape)}"

    @property
    def array(self) -> Array:
        """The elements, in a new array if integers stand for them."""
        source = self.source
        return source.dequantized() if isinstance(source, QuantizedWeights) else source


@dataclass(frozen=True, eq=False)
class Quantize(TensorOp):
    """saturate(rint(x / scale) + zero_point)."""

    x: Value
    scale: float
    zero_point: int
    dtype: str
    kind = "quantize"

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Sizes:
        return shape_of(self.x)


@dataclass(frozen=True, eq=False)
class Dequantize(TensorOp):
    """scale * (q - zero_point), one scale for the whole tensor."""

    q: Value
    scale: float
    zero_point: int
    kind = "dequantize"

    def element_type(self) -> str:
        return "float32"

    def infer(self) -> Sizes:
        return shape_of(self.q)

    def integer_of(self, number: float) -> int | None:
        """Return the integer that stands for a number, bit for bit, or None where there is none.

        None stands for numbers outside of the range or between two steps, and for NaN. Whatever
        puts a number among these integers calls this, and works in float32 where there is none.
        """
        limits = np.iinfo(self.q.dtype)
        scale = np.float32(self.scale)
        with np.errstate(all="ignore"):
            wanted = np.float32(number)
            q = np.rint(np.float64(wanted) / scale) + self.zero_point
            real = np.float32(q - self.zero_point) * scale
        if not limits.min <= q <= limits.max or real.tobytes() != wanted.tobytes():
            return None
        return int(q)


@dataclass(frozen=True, eq=False)
class Foreign(TensorOp):
    """An output of an operator that another back end computes.

    values: what the operator reads. output: the name of the result in the node. shape: as far as
    it is known. operator, backend: names.
    """

    values: tuple[Value, ...]
    output: str
    operator: str
    backend: str
    shape: Shape
    dtype: str
    kind = "foreign"

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Shape:
        return self.shape

    def expression(self, numbers: Mapping[Value, str]) -> str:
        read = "".join(f", {numbers[value]}" for value in self.values)
        return f"{self.backend}({self.operator}{read})"
