"""The ops of tensors, whose shapes are known: what a network of an ONNX file is made of.

They say what is computed, and nothing about where axes lie in memory: `lower_tensors` decides that.
Products have a file of their own (`product_ops`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.graph.op import Op, Shape, Value
from fbg.graph.quantized_weights import QuantizedWeights

Array = npt.NDArray[Any]
Sizes = tuple[int, ...]
MapStep = tuple[str, int, int, float, float]

MOST_REGISTERS = 32  # of a map
ARITHMETIC = ("add", "subtract", "multiply", "divide", "power")  # of two operands, or one twice
MOST_PRINTED = 120  # letters of a map; a longer one is printed as a list of functions
MOST_ELEMENTS = 2**48  # of a tensor: its bytes are counted in 64 bits


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

    def checked(self, shape: Sizes) -> Sizes:
        """Return a shape; raises ValueError if it has too many elements."""
        if math.prod(shape) > MOST_ELEMENTS:
            raise ValueError(f"a tensor of shape {shape} has too many elements")
        return shape


@dataclass(frozen=True, eq=False)
class TensorInput(TensorOp):
    """A tensor that every run brings; for another back end, its shape may not be known."""

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
    """A tensor that is known, or that integers stand for which are."""

    source: Array | QuantizedWeights
    kind = "constant"

    def element_type(self) -> str:
        return "float32" if isinstance(self.source, QuantizedWeights) else str(self.source.dtype)

    def infer(self) -> Sizes:
        return self.source.shape

    def literal(self) -> str:
        if self.source.shape == () and isinstance(self.source, np.ndarray):
            return str(self.source)
        return f"{self.element_type()}{list(self.source.shape)}"

    @property
    def array(self) -> Array:
        """The elements: in a new array if integers stand for them."""
        source = self.source
        return source.dequantized() if isinstance(source, QuantizedWeights) else source


@dataclass(frozen=True, eq=False)
class Map(TensorOp):
    """A function of the elements of its operands, which are broadcast as NumPy does.

    A step is (function, register a, register b, constant, constant); registers are first the
    operands and then the steps, of which the last is the result.
    """

    operands: tuple[Value, ...]
    steps: tuple[MapStep, ...]
    dtype: str = "float32"
    kind = "map"

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Sizes:
        return self.checked(np.broadcast_shapes(*(shape_of(value) for value in self.operands)))

    def expression(self, numbers: Mapping[Value, str]) -> str:
        called = [numbers[value] for value in self.operands]
        for function, a, b, c0, c1 in self.steps:
            read = [called[a], called[b]] if a != b or function in ARITHMETIC else [called[a]]
            given = [f"{c:g}" for c in (c0, c1)] if c0 or c1 else []
            called.append(f"{function}({', '.join([*read, *given])})")
        if len(called[-1]) <= MOST_PRINTED:
            return called[-1]
        functions = [step[0] for step in self.steps]
        return f"map([{', '.join(called[: len(self.operands)])}], {' > '.join(functions)})"

    @classmethod
    def of(
        cls, function: str, operands: tuple[Value, ...], c0: float, c1: float, dtype: str
    ) -> Map:
        """Return function(operands) of one or two operands, which may be the same."""
        known = tuple(dict.fromkeys(operands))
        step = (function, 0, known.index(operands[-1]), float(c0), float(c1))
        return cls(known, (step,), dtype)

    @property
    def registers(self) -> int:
        """How many registers it has."""
        return len(self.operands) + len(self.steps)

    def binary(self, *functions: str) -> tuple[str, Value, Value] | None:
        """Return function, a, b if it is one of these functions of two operands, else None."""
        if len(self.steps) != 1 or len(self.operands) != 2:
            return None
        function, a, b, _, _ = self.steps[0]
        return (function, self.operands[a], self.operands[b]) if function in functions else None


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

        None stands for what lies outside of the range or between two steps, nor for NaN. Whatever
        puts a number among these integers asks here, and works in float32 where there is none.
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
class Convert(TensorOp):
    """Elements of another type: int64 as float32, or as int32."""

    x: Value
    dtype: str
    kind = "convert"

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Sizes:
        if self.x.dtype != "int64" or self.dtype not in ("float32", "int32"):
            raise ValueError(f"{self.x.dtype} to {self.dtype}")
        return shape_of(self.x)


@dataclass(frozen=True, eq=False)
class Foreign(TensorOp):
    """An output of an operator that another back end computes.

    shape: as far as it is known. operator, backend: their names.
    """

    values: tuple[Value, ...]
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
