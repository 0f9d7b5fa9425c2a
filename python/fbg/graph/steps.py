"""The steps of an epilogue: what is done to the results of a product before they are written.

A step changes one value. `Save` keeps it in a slot, and `Binary` combines it with a number, with
numbers for each channel, with a tensor of the shape of the result or with what a slot holds, so
that a list of steps may be any expression of elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fbg import _fbg
from fbg.arrays import Floats
from fbg.matmul.pipeline import Requantize

_STAGES = {row.function: row for row in _fbg.stage_rows() if row.function}
ACTIVATIONS = _fbg.FUNCTIONS | _STAGES.keys()  # functions of one value
OPERATIONS = _fbg.OPERATIONS  # functions of two values
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Activation:
    """A function of ACTIVATIONS, with its constants; raises ValueError if these do not fit."""

    function: str
    c0: float
    c1: float

    def __post_init__(self) -> None:
        self.native()

    def text(self, residual: str) -> str:
        """Return it as a graph prints it."""
        given = self.constants
        return f"{self.function}({', '.join(f'{c:g}' for c in given)})" if given else self.function

    @property
    def constants(self) -> tuple[float, ...]:
        """The constants that the function has."""
        row = _STAGES.get(self.function)
        return () if row is None else (self.c0, self.c1)[: len(row.constants)]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the greatest result, if the function only bounds its argument."""
        row = _STAGES.get(self.function)
        bounds = "open" if row is None else row.bounds
        if bounds == "low":
            return 0.0, np.inf
        return (self.c0, self.c1) if bounds == "both" else None

    @property
    def commutes(self) -> bool:
        """Whether dividing the result is the same as dividing the argument and the parameters."""
        return self.bounds is not None

    def divided(self, scale: float) -> Activation:
        """Return the step that gives 1 / scale times the result for 1 / scale times the value."""
        if not self.commutes:
            raise ValueError(f"{self.function} does not commute with a factor")
        c0, c1 = (float(np.clip(c / scale, -LARGEST, LARGEST)) for c in (self.c0, self.c1))
        return replace(self, c0=c0, c1=c1)

    def native(self) -> Any:
        """Return the stage."""
        row = _STAGES.get(self.function)
        if row is None:
            return _fbg.stage_binary(self.function, "none")
        return _fbg.stage(row.name, self.constants)


@dataclass(frozen=True)
class Save:
    """The value stays as it is, and a slot holds it from here on."""

    slot: int
    commutes = False

    def text(self, residual: str) -> str:
        """Return it as a graph prints it."""
        return f"save({self.slot})"

    def native(self) -> Any:
        """Return the stage."""
        return _fbg.stage_save(self.slot)


@dataclass(frozen=True)
class Binary:
    """value op operand, or operand op value if reversed; op: one of OPERATIONS.

    operand: "constant" (number), "columns" (numbers for each channel), "matrix" (a tensor of the
    shape of the result: float32, or 8-bit integers with a scale and zero point) or "slot".
    tensor: which of several tensors.
    """

    operation: str
    operand: str
    number: float = 1.0
    columns: Floats | None = None
    slot: int = 0
    reversed: bool = False
    kind: str = "float32"
    scale: float = 1.0
    zero_point: int = 0
    tensor: int = 0

    def text(self, residual: str) -> str:
        """Return it as a graph prints it."""
        shown = {"constant": f"{self.number:g}", "matrix": residual, "slot": f"slot {self.slot}"}
        other = shown.get(self.operand, "channels")
        return f"{self.operation}({other}{', x' if self.reversed else ''})"

    @property
    def is_factor(self) -> bool:
        """Whether it multiplies or divides by numbers that are known."""
        known = self.operand in ("constant", "columns") and not self.reversed
        return known and self.operation in ("multiply", "divide")

    @property
    def factor(self) -> Any:
        """The factor of such a step, in double precision."""
        numbers: Any = self.number if self.columns is None else self.columns
        numbers = np.asarray(numbers, np.float64)
        with np.errstate(all="ignore"):
            return numbers if self.operation == "multiply" else 1 / numbers

    @property
    def commutes(self) -> bool:
        """Whether dividing the result is the same as dividing the argument and the parameters."""
        if self.is_factor:
            return True
        if self.operation not in ("add", "subtract", "minimum", "maximum"):
            return False
        return self.operand in ("constant", "columns") or self.is_residual_of_bytes

    @property
    def is_residual_of_bytes(self) -> bool:
        """Whether it adds a tensor of integers or subtracts one."""
        adds = self.operation in ("add", "subtract") and self.operand == "matrix"
        return adds and self.kind != "float32"

    def divided(self, scale: float) -> Binary:
        """Return the step that gives 1 / scale times the result for 1 / scale times the value."""
        if self.is_factor:
            return self
        if self.operand == "matrix":
            return replace(self, scale=self.scale / scale)
        numbers: Any = self.number if self.columns is None else self.columns
        numbers = np.clip(np.asarray(numbers, np.float64) / scale, -LARGEST, LARGEST)
        if self.columns is None:
            return replace(self, number=float(numbers))
        return replace(self, columns=numbers.astype(np.float32))

    def native(self) -> Any:
        """Return the stage."""
        return _fbg.stage_binary(
            self.operation,
            self.operand,
            slot=self.slot,
            reversed=self.reversed,
            type=self.kind,
            constant=self.scale if self.operand == "matrix" else self.number,
            zero_point=self.zero_point,
            values=self.columns,
        )


@dataclass(frozen=True)
class Quantization:
    """The result as integers: saturate(rint(x / scale) + zero_point).

    bounded: x / scale is known to be within int32. table: 256 bytes, of which the result is that at
    the place which this integer is, modulo 256.
    """

    scale: float
    zero_point: int
    dtype: str
    bounded: bool = False
    table: bytes | None = None
    commutes = False

    def __post_init__(self) -> None:
        Requantize(self.scale, self.zero_point, self.dtype)  # which checks them

    def text(self, residual: str) -> str:
        """Return it as a graph prints it."""
        return "requantize" if self.table is None else "requantize > look_up"

    def native(self) -> Any:
        """Return the stage."""
        table = None if self.table is None else np.frombuffer(self.table, np.uint8)
        return _fbg.stage_requantize(
            self.scale, self.zero_point, self.dtype, True, self.bounded, table
        )

    def rounded(self, value: float) -> float:
        """Return the quantized number before it saturates."""
        with np.errstate(over="ignore"):  # for example when a bound is the greatest float
            quotient = np.float32(value) / np.float32(self.scale)
        return float(np.rint(quotient)) + self.zero_point

    def saturates(self, low: float, high: float) -> bool:
        """Whether results outside of these bounds saturate, so that bounding changes nothing."""
        limits = np.iinfo(self.dtype)
        return self.rounded(low) <= limits.min and self.rounded(high) >= limits.max


Step = Activation | Save | Binary | Quantization


def residual(kind: str = "float32", scale: float = 1.0, zero_point: int = 0) -> Binary:
    """Return the sum with a tensor of the same shape."""
    return Binary("add", "matrix", kind=kind, scale=scale, zero_point=zero_point)


def with_joined_factors(steps: Sequence[Step]) -> list[Step]:
    """Return steps in which one factor stands for several that follow each other."""
    joined: list[Step] = []
    for step in steps:
        before = joined[-1] if joined else None
        factor = None
        if isinstance(step, Binary) and isinstance(before, Binary):
            factor = _common_factor(before, step)
        if factor is None:
            joined.append(step)
        else:
            joined[-1] = factor_step(factor)
    return joined


def _common_factor(first: Binary, second: Binary) -> Any:
    """Return the product of the factors of two steps; None if they have no such factors."""
    if not (first.is_factor and second.is_factor):
        return None
    with np.errstate(all="ignore"):
        factor = (first.factor * second.factor).astype(np.float32)
    return factor if np.isfinite(factor).all() else None


def factor_step(factor: Any) -> Binary:
    """Return the step that multiplies by a number, or by one for each channel."""
    if np.ndim(factor) == 0:
        return Binary("multiply", "constant", number=float(factor))
    return Binary("multiply", "columns", columns=np.ascontiguousarray(factor, np.float32))
