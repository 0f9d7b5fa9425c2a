"""The base class of all ops of graphs, and the values that they compute."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, singledispatch
from typing import Any, ClassVar

import numpy as np

from fbg.locks import cached_property

Shape = tuple[int | str, ...]
MOST_ELEMENTS = 2**48  # most elements of a tensor: its bytes are counted in 64 bits


@dataclass(frozen=True, eq=False)
class Value:
    """The result of an op of a graph. name: unique in the graph; it begins with its scope.

    nodes: the names of the nodes of the network from which the op was made.
    """

    name: str
    shape: Shape
    op: Op
    dtype: str = "float32"
    nodes: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """The name of the node that is refused if its op cannot be computed."""
        return self.nodes[0] if self.nodes else self.name

    def with_op(self, op: Op) -> Value:
        """Return a value of the same name that another op computes."""
        return (
            self
            if op is self.op
            else Value(self.name, op.infer(), op, op.element_type(), self.nodes)
        )

    @property
    def columns(self) -> int:
        """The last dimension, which is always a number."""
        columns = self.shape[-1]
        assert isinstance(columns, int)
        return columns


@dataclass(frozen=True, eq=False)
class Op(ABC):
    """An op. Its fields that hold values are what it reads."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The name of the op in printed graphs and in the names of values."""

    @abstractmethod
    def infer(self) -> Shape:
        """Return the shape of the result; raises ValueError for fields that do not fit."""

    is_brought: ClassVar[bool] = False  # whether it is input of a run: nothing is computed

    def element_type(self) -> str:
        """Return the type of the elements of the result."""
        return "float32"

    @cached_property
    def inputs(self) -> tuple[Value, ...]:
        """The values that the op reads, in the order of its fields."""
        return tuple(value for values in self._reads.values() for value in values)

    @cached_property
    def _reads(self) -> dict[str, tuple[Value, ...]]:
        """The values of each field that holds one, or a tuple of them."""
        fields = ((name, getattr(self, name)) for name in _fields_of_values(type(self)))
        return {
            name: value if isinstance(value, tuple) else (value,)
            for name, value in fields
            if value is not None
        }

    def reading(self, new: Mapping[Value, Value]) -> Op:
        """Return the op with other values in the place of those that it reads."""
        for value in self.inputs:
            if new[value] is not value:
                break
        else:
            return self
        fields: dict[str, Any] = {}
        for name, values in self._reads.items():
            others = tuple(new[value] for value in values)
            fields[name] = others if isinstance(getattr(self, name), tuple) else others[0]
        return dataclasses.replace(self, **fields)

    @property
    def label(self) -> str:
        """The last part of the name of the value."""
        return self.kind

    def literal(self) -> str | None:
        """Return the text printed in place of the number of a value that has no line of its own."""
        return None

    def expression(self, numbers: Mapping[Value, str]) -> str:
        """Return the op as it is printed. numbers: what values are called."""
        return f"{self.kind}({', '.join(self.describe(numbers))})"

    def describe(self, numbers: Mapping[Value, str]) -> list[str]:
        """Return the fields as they are printed, without fields that are not used."""
        shown: list[str] = []
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if each.name in self._reads:
                names = ", ".join(numbers[read] for read in self._reads[each.name])
                names = f"[{names}]" if isinstance(value, tuple) else names
                shown.append(f"{each.name}={names}" if shown else names)
            elif not (isinstance(value, str | int | float | tuple) and value == each.default):
                shown += described(value, each.name)
        return shown

    def error(self, name: str, must: str, got: Any) -> ValueError:
        """Return the error of a field that does not fit."""
        return ValueError(f"{self.kind}: {name} must {must}, got {got}")

    def checked(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape; raises ValueError if it has too many elements."""
        if math.prod(shape) > MOST_ELEMENTS:
            raise ValueError(f"a tensor of shape {shape} has too many elements")
        return shape

    def require_columns(self, name: str, value: Value, columns: int) -> None:
        if value.columns != columns:
            raise self.error(name, f"have {columns} columns", value.columns)

    def require_rows(self, name: str, value: Value, rows: str) -> None:
        if value.shape[0] != rows:
            raise self.error(name, f"have a row for each of the {rows}", list(value.shape))


@cache
def _fields_of_values(kind: type[Op]) -> tuple[str, ...]:
    """Return the names of the fields that values, or tuples of them, are declared for."""
    return tuple(each.name for each in dataclasses.fields(kind) if "Value" in str(each.type))


@singledispatch
def described(value: Any, name: str) -> list[str]:
    """Return a field that is not a value as it is printed. name: the name of the field."""
    return [] if value is None else [f"{name}={value}"]


@described.register
def _(value: np.ndarray, name: str) -> list[str]:
    return [f"{name} {list(value.shape)}"]


@described.register
def _(value: bool, name: str) -> list[str]:
    return [name] if value else []


@described.register
def _(value: float, name: str) -> list[str]:
    return [f"{name}={value:g}"]


@described.register(tuple)
def _(value: tuple[Any, ...], name: str) -> list[str]:
    return [f"{name}={list(value)}"]
