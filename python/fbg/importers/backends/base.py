"""What a back end is to a session, and an op to a back end.

A back end says, op by op, whether it can compute it and what that would cost. The session places
every op, and hands parts over: `prepare` does everything that needs time or memory, and what it
returns is run on buffers that the session owns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from fbg.arrays import Array
from fbg.graph.refusal import Unsupported
from fbg.importers.description import Constants, Node, TensorType


@dataclass(frozen=True)
class Op:
    """A node with the types around it and the values that are known."""

    node: Node
    types: Mapping[str, TensorType]
    constants: Constants = field(default_factory=lambda: Constants({}))

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the node."""
        return self.node.attributes.get(name, default)

    def has_input(self, index: int) -> bool:
        """Whether there is an input of that number."""
        return index < len(self.node.inputs) and self.node.inputs[index] != ""

    def constant(self, index: int) -> Array | None:
        """Return the value of an input, or None where it is absent or not known."""
        return self.constants.get(self.node.inputs[index]) if self.has_input(index) else None

    def input_type(self, index: int) -> TensorType:
        """Return the type of an input."""
        return self.types.get(self.node.inputs[index], TensorType(np.dtype(object), None))

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of an input, which must be known."""
        fixed = self.input_type(index).fixed
        if fixed is None:
            raise Unsupported(self.node.name, f"the shape of '{self.node.inputs[index]}' varies")
        return fixed

    def output_shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of an output, which must be known."""
        kind = self.types.get(self.node.outputs[index])
        if kind is None or kind.fixed is None:
            raise Unsupported(self.node.name, f"the shape of '{self.node.outputs[index]}' varies")
        return kind.fixed

    @property
    def is_fixed(self) -> bool:
        """Whether the shapes of all that varies or is written are known, and none is empty."""
        varying = [name for name in self.node.reads if name not in self.constants]
        names = [*varying, *filter(None, self.node.outputs)]
        shapes = [self.types[name].fixed if name in self.types else None for name in names]
        return all(shape is not None and math.prod(shape) > 0 for shape in shapes)

    @property
    def bytes(self) -> int:
        """Bytes read and written, where that is known."""
        names = (*self.node.reads, *self.node.outputs)
        return sum(self.types[name].nbytes for name in names if name in self.types)

    @property
    def operations(self) -> float:
        """Multiplications and additions of products and convolutions; 0 for all others."""
        kind = self.types.get(self.node.outputs[0])
        if kind is None or kind.fixed is None or len(self.node.inputs) < 2:
            return 0.0
        size = 2.0 * math.prod(kind.fixed)
        weights = self.input_type(1).fixed
        if "Conv" in self.node.op and weights is not None:
            return size * math.prod(weights[1:])
        x = self.input_type(0).fixed
        if ("MatMul" in self.node.op or self.node.op == "Gemm") and x:
            return size * x[-1]
        return 0.0


@dataclass(frozen=True)
class Step:
    """A step of a prepared part: nodes it computes, how, and in how many seconds if measured."""

    nodes: tuple[str, ...]
    algorithm: str
    seconds: float | None = None


class PreparedPart(Protocol):
    """A run of consecutive ops, ready to run."""

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        """Compute and return the outputs: in the given arrays, new ones in place of None."""
        ...

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        """Do the same; also return the seconds of each step, or none if they are not known."""
        ...

    def steps(self) -> list[Step]:
        """Return what a run does."""
        ...


@dataclass(frozen=True)
class ForeignPart:
    """Consecutive ops of another back end than fbg, and the tensors that others know, too."""

    ops: tuple[Op, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    versions: Mapping[str, int]
    num_threads: int


class BackEnd(Protocol):
    """See the module. cost: modelled seconds of an op on one thread."""

    name: str

    def needs(self, op: Op) -> tuple[str, ...]:
        """Return the inputs whose values must be known beforehand."""
        ...

    def supports(self, op: Op) -> bool:
        """Whether it can compute the op."""
        ...

    def cost(self, op: Op) -> float:
        """Return the modelled seconds of an op that it supports."""
        ...


class ForeignBackEnd(BackEnd, Protocol):
    """Another back end than fbg."""

    def prepare(self, part: ForeignPart) -> PreparedPart:
        """Prepare a part; raises Unsupported for an op that it cannot compute after all."""
        ...
