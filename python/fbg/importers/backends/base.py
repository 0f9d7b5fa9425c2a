"""The interface of back ends to a session, and of ops to back ends.

A back end says, op by op, whether it can compute it and what that would cost. The session places
every op where all of them together cost least, and hands parts over: `prepare` does everything that
needs time or memory, and its result is run on buffers that the session owns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from fbg.arrays import Array
from fbg.graph.refusal import Unsupported
from fbg.importers.description import UNKNOWN, Constants, Node, TensorType

# Inputs that are lists of sizes, axes or scales, or tell a type, by operator of ONNX.
LISTS: Mapping[str, Sequence[int]] = {
    **dict.fromkeys(("Reshape", "Expand", "Tile", "Squeeze", "Unsqueeze", "CenterCropPad"), (1,)),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"), (1,)),
    **dict.fromkeys(("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"), (1,)),
    **dict.fromkeys(("ReduceSumSquare", "Split", "SplitToSequence", "Upsample", "CastLike"), (1,)),
    "ConstantOfShape": (0,),
    "Pad": (1, 3),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
}


@dataclass(frozen=True)
class TypedNode:
    """A node with the types of its tensors and the values that are known."""

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
        return self.types.get(self.node.inputs[index], UNKNOWN)

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
        """Whether the shapes of all variables and outputs are known, and none is empty."""
        varying = [name for name in self.node.reads if name not in self.constants]
        names = [*varying, *filter(None, self.node.outputs)]
        shapes = [self.types[name].fixed if name in self.types else None for name in names]
        return all(shape is not None and math.prod(shape) > 0 for shape in shapes)

    @property
    def empty_inputs(self) -> tuple[str, ...]:
        """The inputs without elements, apart from lists of sizes and axes, which may be empty.

        A Loop and an If pass on what they read: none of theirs count.
        """
        node = self.node
        if node.versions and node.op != "Scan":
            return ()
        lists = LISTS.get(node.op, ()) if node.domain == "" else ()
        named = {name for i, name in enumerate(node.inputs) if name and i not in lists}
        shapes = {name: self.types[name].fixed for name in named if name in self.types}
        return tuple(name for name in node.inputs if 0 in (shapes.get(name) or ()))

    @property
    def bytes(self) -> int:
        """The number of bytes read and written, as far as known."""
        names = (*self.node.reads, *self.node.outputs)
        return sum(self.types[name].nbytes for name in names if name in self.types)

    @property
    def operations(self) -> float:
        """Multiplications and additions of products of all kinds; 0 for other ops."""
        kind = self.types.get(self.node.outputs[0])
        if kind is None or kind.fixed is None or len(self.node.inputs) < 2:
            return 0.0
        size = 2.0 * math.prod(kind.fixed)
        weights, more = (self.input_type(i).fixed if self.has_input(i) else None for i in (1, 2))
        if "Conv" in self.node.op and weights is not None:
            return size * math.prod(weights[1:])
        x = self.input_type(0).fixed
        if ("MatMul" in self.node.op or self.node.op == "Gemm") and x:
            return size * x[-1]
        if self.node.op in ("RNN", "GRU", "LSTM") and x and weights and more:
            return 2.0 * math.prod(x[:-1]) * (math.prod(weights) + math.prod(more))
        return 0.0


@dataclass(frozen=True)
class Step:
    """A step of a prepared part: its nodes, how it computes them, and its seconds if measured."""

    nodes: tuple[str, ...]
    algorithm: str
    seconds: float | None = None


class PreparedPart(Protocol):
    """A run of consecutive ops, ready to run."""

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        """Compute and return the outputs: in the given arrays, or in a new one in place of None."""
        ...

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        """Do the same; also return the seconds of each step, or none if they are not known."""
        ...

    def steps(self) -> list[Step]:
        """Return the steps of a run."""
        ...


@dataclass(frozen=True)
class ForeignPart:
    """Consecutive ops of a back end other than fbg, and the tensors that other parts read.

    features: CPU features for kernels.
    """

    ops: tuple[TypedNode, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    versions: Mapping[str, int]
    num_threads: int
    features: int = 0


class BackEnd(Protocol):
    """See the module. cost: modelled seconds of an op on one thread, without passing its tensors.

    It is compared with that of fbg: the bytes that are read and written and the operations of
    products, at fixed rates (`modelled_seconds`).
    """

    name: str

    def needs(self, op: TypedNode) -> tuple[str, ...]:
        """Return the inputs whose values must be known beforehand."""
        ...

    def supports(self, op: TypedNode) -> bool:
        """Whether it can compute the op."""
        ...

    def cost(self, op: TypedNode) -> float:
        """Return the modelled seconds of an op that it supports."""
        ...


class ForeignBackEnd(BackEnd, Protocol):
    """A back end other than fbg."""

    def prepare(self, part: ForeignPart) -> PreparedPart:
        """Prepare a part; raises Unsupported for an op that it turns out not to compute."""
        ...
