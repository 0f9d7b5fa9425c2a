"""The ops that rows and tensors have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fbg.arrays import Floats
from fbg.graph.ops.op import Op, Shape, Value, described

MapStep = tuple[str, int, int, float, float]

MOST_REGISTERS = 32  # most registers of a map
MOST_PRINTED = 120  # longest map that is printed as a formula, else as a list of functions
ARITHMETIC = ("add", "subtract", "multiply", "divide", "power")  # take two operands, or one twice


def reads_bits(function: str) -> bool:
    """Whether a function takes the bits of int32, and not its numbers."""
    return function.endswith("_int32") and function != "to_int32"


@dataclass(frozen=True, eq=False)
class Map(Op):
    """A function of the elements of its operands; tensors are broadcast as NumPy does.

    A step is (function, register a, register b, constant, constant); registers are first the
    operands and then the steps, of which the last is the result.
    """

    operands: tuple[Value, ...]
    steps: tuple[MapStep, ...]
    dtype: str = "float32"

    @property
    def kind(self) -> str:
        return self.steps[0][0] if len(self.steps) == 1 else "map"

    def element_type(self) -> str:
        return self.dtype

    def infer(self) -> Shape:
        first, *others = (value.shape for value in self.operands)
        if all(shape == first for shape in others):
            return first
        sizes = [tuple(n for n in shape if isinstance(n, int)) for shape in (first, *others)]
        for shape, known in zip((first, *others), sizes, strict=True):
            if len(known) < len(shape):  # rows of a run: nothing is broadcast
                raise self.error("operands", f"have one shape, {list(first)}", list(others[-1]))
        return self.checked(np.broadcast_shapes(*sizes))

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
        cls,
        function: str,
        operands: tuple[Value, ...],
        c0: float = 0.0,
        c1: float = 0.0,
        dtype: str = "float32",
    ) -> Map:
        """Return function(operands) of one or two operands, which may be the same."""
        known = tuple(dict.fromkeys(operands))
        step = (function, 0, known.index(operands[-1]), float(c0), float(c1))
        return cls(known, (step,), dtype)

    @property
    def registers(self) -> int:
        """The number of its registers."""
        return len(self.operands) + len(self.steps)

    def binary(self, *functions: str) -> tuple[str, Value, Value] | None:
        """Return function, a, b if it is one of these functions of two operands, else None."""
        if len(self.steps) != 1 or len(self.operands) != 2:
            return None
        function, a, b, _, _ = self.steps[0]
        return (function, self.operands[a], self.operands[b]) if function in functions else None


@dataclass(frozen=True)
class LayerNorm:
    """(x - mean) / sqrt(variance + eps) * weight + bias."""

    weight: Floats
    bias: Floats | None
    eps: float


@dataclass(frozen=True)
class RmsNorm:
    """x / sqrt(mean of x^2 + eps) * weight."""

    weight: Floats
    eps: float


NormKind = LayerNorm | RmsNorm


@dataclass(frozen=True, eq=False)
class Norm(Op):
    """A norm of each row, or over the last axes of a tensor, namely the axes of the weight."""

    x: Value
    norm: NormKind

    @property
    def kind(self) -> str:
        return "rms_norm" if isinstance(self.norm, RmsNorm) else "layer_norm"

    def infer(self) -> Shape:
        wanted = self.norm.weight.shape
        got = self.x.shape[len(self.x.shape) - len(wanted) :]
        if got != wanted:
            raise self.error("x", f"have {_sizes(wanted)} columns", _sizes(got))
        return self.x.shape


def _sizes(shape: Shape) -> str:
    return " x ".join(map(str, shape))


@described.register(LayerNorm)
@described.register(RmsNorm)
def _(value: NormKind, name: str) -> list[str]:
    return [f"eps={value.eps:g}"]
