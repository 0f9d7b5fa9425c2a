"""Builder: adds the ops of a network to a graph, and knows its tensors by name.

The functions in this package express each operator of ONNX by ops of tensors, and say nothing
about fusion or the storage of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array
from fbg.graph.graph import Graph
from fbg.graph.ops.common import Map
from fbg.graph.ops.moves import Reshape, Transpose
from fbg.graph.ops.op import Op, Value
from fbg.graph.ops.tensors import Constant, Sizes, TensorInput
from fbg.graph.packed_weights import Packer, Weights
from fbg.graph.quantized_weights import QuantizedWeights
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.description import Constants

MOST_IN_TABLE = 2**22  # positions along an axis, as they are Python integers while a plan is made


def require_table(node: TypedNode, extent: int) -> None:
    """Raise Unsupported for an axis that is too long for a table of its elements."""
    if extent > MOST_IN_TABLE:
        raise Unsupported(node.node.name, f"an axis of {extent} elements is too long for a table")


def constant_of(value: Value) -> Array | None:
    """Return the elements of a tensor if they are known: in a new array if integers make them."""
    return value.op.array if isinstance(value.op, Constant) else None


def weights_of(value: Value) -> Weights | None:
    """Return the elements if they are known, not computed yet if integers make them."""
    return Weights.of(value.op.source) if isinstance(value.op, Constant) else None


@dataclass
class Builder:
    """The graph of one part, while it is built. values: tensors by name. node: the node that is
    added. packer: keeps tensors made of constants.
    """

    constants: Constants
    packer: Packer
    graph: Graph = field(default_factory=Graph)
    values: dict[str, Value] = field(default_factory=dict)
    node: str = ""

    def add(self, op: Op) -> Value:
        """Add an op, which belongs to the node."""
        return self.graph.add(op, (self.node,))

    def add_input(self, name: str, shape: Sizes, dtype: np.dtype[Any]) -> None:
        """Declare a tensor that every run brings."""
        self.values[name] = self.graph.add(TensorInput(name, shape, str(dtype)))

    def value(self, name: str) -> Value:
        """Return a tensor: computed before, input of a run, or constant."""
        found = self.values.get(name)
        if found is None:
            weights = self.constants.weights.get(name)
            if weights is None and name not in self.constants:
                raise Unsupported(self.node, f"tensor '{name}' is not known")
            source = self.constants[name] if weights is None else weights
            found = self.values[name] = self.constant(source)
        return found

    def input(self, op: TypedNode, index: int) -> Value:
        """Return an input of an op."""
        return self.value(op.node.inputs[index])

    def constant_input(self, op: TypedNode, index: int) -> Array | None:
        """Return the value of an input that must be known, or None where it is absent."""
        if not op.has_input(index):
            return None
        constant = constant_of(self.input(op, index))
        if constant is None:
            raise Unsupported(op.node.name, f"'{op.node.inputs[index]}' is not constant")
        return constant

    def set_output(self, op: TypedNode, value: Value, index: int = 0) -> None:
        """Name a tensor that is an output of an op."""
        name = op.node.outputs[index]
        shape = op.output_shape(index)
        if value.shape != shape:
            raise Unsupported(op.node.name, f"shape {value.shape} where {shape} was inferred")
        if name in self.values:
            raise Unsupported(op.node.name, f"'{name}' is written twice")
        self.values[name] = value

    def constant(self, source: Array | QuantizedWeights) -> Value:
        """Return a constant tensor."""
        return self.add(Constant(source))

    def made_of(self, constant: Array, step: Hashable, make: Callable[[], Array]) -> Value:
        """Return the tensor that `step` makes of a constant, once for all nodes that need it."""
        return self.packer.once(step, (constant,), lambda: self.constant(make()))

    def apply(
        self,
        function: str,
        *operands: Value,
        c0: float = 0.0,
        c1: float = 0.0,
        dtype: npt.DTypeLike = np.float32,
    ) -> Value:
        """Return function(operands) of one or two tensors, broadcast as NumPy does."""
        return self.add(Map.of(function, operands, c0, c1, str(np.dtype(dtype))))

    def reshaped(self, x: Value, shape: Sizes) -> Value:
        """Return x in another shape."""
        if x.shape == shape:
            return x
        if (constant := constant_of(x)) is not None:
            return self.constant(constant.reshape(shape))
        return self.add(Reshape(x.op.x if isinstance(x.op, Reshape) else x, shape))

    def transposed(self, x: Value, perm: Sizes) -> Value:
        """Return x with axis perm[i] as axis i."""
        if (constant := constant_of(x)) is not None:
            return self.constant(constant.transpose(perm))
        return self.add(Transpose(x, perm))
