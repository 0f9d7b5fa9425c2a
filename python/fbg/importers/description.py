"""A network as files describe it: nodes connected by named tensors, with nothing chosen yet.

The vocabulary of operators is that of ONNX, with the version of the operator set that the file
names. Readers of files produce a `Network`; inference.py finds types and constants for given
shapes of the inputs; the session places the nodes on back ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fbg.arrays import Array
from fbg.graph.quantized_weights import QuantizedWeights
from fbg.locks import cached_property

DTYPES = ("float32", "bfloat16", "int8")  # in which products of a network are computed
HALVES = ("float16", "bfloat16")  # types of 16-bit floats, as NumPy calls them


@dataclass(frozen=True)
class TensorType:
    """Type of a tensor. shape: None if even the rank is unknown; names are symbolic sizes."""

    dtype: np.dtype[Any]
    shape: tuple[int | str | None, ...] | None

    @cached_property
    def fixed(self) -> tuple[int, ...] | None:
        """The shape if all of it is known, else None."""
        if self.shape is None or not all(isinstance(size, int) for size in self.shape):
            return None
        return tuple(int(size) for size in self.shape if size is not None)

    def bound(self, sizes: Mapping[str, int]) -> TensorType:
        """Return the type with sizes in place of their names, as far as they are given."""
        if self.shape is None:
            return self
        named = (sizes.get(s, s) if isinstance(s, str) else s for s in self.shape)
        return TensorType(self.dtype, tuple(named))

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape fits; sizes that are not known fit any."""
        if self.shape is None or self.shape == shape:
            return True
        return len(shape) == len(self.shape) and all(
            not isinstance(want, int) or want == got
            for got, want in zip(shape, self.shape, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of such a tensor, or 0 where its shape is not known."""
        return 0 if self.fixed is None else math.prod(self.fixed) * self.dtype.itemsize

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype} of unknown rank"
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.dtype}({sizes})"


UNKNOWN = TensorType(np.dtype(object), None)  # of a tensor of which nothing is known


class Constants(MutableMapping[str, Array]):
    """Tensors that are known, by name. weights: tensors that are stored as bytes.

    Such weights are computed whenever they are read, and never kept: they are mostly read by
    products, which take the bytes.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = dict(arrays)
        self.weights: dict[str, QuantizedWeights] = {}

    def __getitem__(self, name: str) -> Array:
        weights = self.weights.get(name)
        return self._arrays[name] if weights is None else weights.dequantized()

    def __setitem__(self, name: str, value: Array) -> None:
        self._arrays[name] = value

    def __delitem__(self, name: str) -> None:
        if name in self.weights:
            del self.weights[name]
        else:
            del self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays or name in self.weights

    def __iter__(self) -> Iterator[str]:
        yield from self._arrays
        yield from self.weights

    def __len__(self) -> int:
        return len(self._arrays) + len(self.weights)


@dataclass(frozen=True)
class Node:
    """One application of an operator.

    name: unique in its network. inputs, outputs: names of tensors, "" where an optional one is
    absent. captures: tensors of the network that subgraphs of the node read. version: that of the
    operator set of `domain`. source: the node as its file has it, for back ends that need it.
    versions: operator sets of nodes in its subgraphs; empty if it has none. branches: those of an
    If, then and else, if they consist of tensors only. reads: names of all tensors that it needs.
    """

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    version: int
    captures: tuple[str, ...] = ()
    source: Any = None
    versions: Mapping[str, int] = field(default_factory=dict)
    branches: tuple[Network, ...] = ()
    reads: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = (*self.inputs, *self.captures)
        object.__setattr__(self, "reads", tuple(name for name in names if name))

    @property
    def title(self) -> str:
        """The operator and the name, for messages."""
        return f"{self.op} '{self.name}'"


@dataclass
class Network:
    """Nodes in an order in which they can run, with inputs, constants and outputs.

    inputs: those of a run; a branch of an If has none, and reads tensors of the network around it.
    constants: tensors known from the file. outputs: their types as the file declares them; those of
    a branch, or those without a type, are UNKNOWN. versions: operator sets by domain. origin: the
    file, for messages. overridable: types of constants of which a run may bring other values.
    """

    origin: str
    inputs: dict[str, TensorType]
    outputs: dict[str, TensorType]
    constants: dict[str, Array]
    nodes: list[Node]
    versions: dict[str, int]
    declared: dict[str, TensorType] = field(default_factory=dict)
    overridable: Mapping[str, TensorType] = field(default_factory=dict)

    def undeclared(self) -> Network:
        """Return the network without the shapes that its file declares for tensors and outputs."""
        return replace(
            self,
            declared={name: TensorType(kind.dtype, None) for name, kind in self.declared.items()},
            outputs={
                name: kind if kind is UNKNOWN else TensorType(kind.dtype, None)
                for name, kind in self.outputs.items()
            },
            nodes=[
                replace(node, branches=tuple(branch.undeclared() for branch in node.branches))
                for node in self.nodes
            ],
        )

    def overridden(self, names: Iterable[str]) -> Network:
        """Return the network with overridable constants as inputs, which every run brings."""
        given = {name: self.overridable[name] for name in names}
        constants = {name: x for name, x in self.constants.items() if name not in given}
        inputs = {**self.inputs, **given}
        return replace(self, inputs=inputs, constants=constants, overridable={})


def needed(nodes: list[Node], outputs: Iterable[str]) -> list[Node]:
    """Return the nodes that outputs depend on."""
    wanted = set(outputs)
    kept = []
    for node in reversed(nodes):
        if any(name in wanted for name in node.outputs):
            wanted.update(node.reads)
            kept.append(node)
    return kept[::-1]
