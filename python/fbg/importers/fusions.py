"""Subgraphs that stand for one operator, as exporters write them: GELU, SiLU, layer normalization.

They are looked for where types are known, before ops are placed, and replaced by the operators that
later versions of ONNX have for them. (arXiv:1606.08415, arXiv:1702.03118, arXiv:1607.06450)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.importers.description import Node, TensorType, needed

__all__ = ["fuse"]

Array = npt.NDArray[Any]
TOLERANCE = 1e-3  # relative, of constants such as the square root of 2
GELU_VERSION, SWISH_VERSION, LAYER_NORM_VERSION = 20, 24, 17


@dataclass
class _Index:
    """Who writes and who reads a tensor. kept: names that outputs of the network have."""

    types: dict[str, TensorType]
    constants: Mapping[str, Array]
    writers: dict[str, Node]
    readers: dict[str, list[Node]]
    kept: set[str]

    def writer(self, name: str, *ops: str) -> Node | None:
        """Return the node that computes a tensor, if it is one of these operators."""
        node = self.writers.get(name)
        return node if node is not None and node.op in ops and node.domain == "" else None

    def reader(self, name: str, *ops: str) -> Node | None:
        """Return the only node that reads a tensor, if it is one of these operators."""
        readers = self.readers.get(name, [])
        if len(readers) != 1 or name in self.kept:
            return None
        return readers[0] if readers[0].op in ops and readers[0].domain == "" else None

    def is_scalar(self, name: str) -> bool:
        """Whether a tensor is a constant of one element."""
        shape = self.types[name].fixed if name in self.constants else None
        return shape is not None and math.prod(shape) == 1

    def is_number(self, name: str, *values: float) -> bool:
        """Whether a tensor is a constant and close to one of these numbers."""
        if not self.is_scalar(name):
            return False
        number = float(self.constants[name].reshape(-1)[0])
        return any(math.isclose(number, wanted, rel_tol=TOLERANCE) for wanted in values)

    def other(self, node: Node, *values: float) -> str | None:
        """Return the operand of a commutative node whose other one is one of these numbers."""
        for i in (0, 1):
            if self.is_number(node.inputs[i], *values):
                return node.inputs[1 - i]
        return None


@dataclass(frozen=True)
class _Found:
    """An operator, what it reads and its attributes, in place of the node that writes `output`."""

    op: str
    version: int
    inputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    last: Node


def fuse(
    nodes: list[Node],
    types: dict[str, TensorType],
    constants: Mapping[str, Array],
    outputs: Iterable[str],
) -> list[Node]:
    """Return the nodes with subgraphs replaced. outputs: names that must still be written.

    types: of all tensors; those of new ones are added.
    """
    readers: dict[str, list[Node]] = {}
    for node in nodes:
        for name in node.reads:
            readers.setdefault(name, []).append(node)
    writers = {name: node for node in nodes for name in node.outputs if name}
    index = _Index(types, constants, writers, readers, set(outputs))
    replaced: dict[str, list[Node]] = {}
    for node in nodes:
        if node.op == "Concat" and node.domain == "":
            replaced.update(_join_of_integers(index, node))
        found = _gelu(index, node) or _silu(index, node) or _layer_norm(index, node)
        if found is not None and _is_float(index, found):
            replaced[found.last.name] = [_node(found)]
    if not replaced:
        return nodes
    return needed([new for node in nodes for new in replaced.get(node.name, [node])], outputs)


def _is_float(index: _Index, found: _Found) -> bool:
    kind = index.types.get(found.inputs[0])
    shape = None if kind is None else kind.fixed
    # Constants of more axes than the input would give the result more axes, too.
    return (
        kind is not None
        and kind.dtype == np.float32
        and shape is not None
        and 0 not in shape
        and index.types.get(found.last.outputs[0]) == kind
    )


def _node(found: _Found) -> Node:
    last = found.last
    outputs = last.outputs[:1]
    return Node(found.op, "", last.name, found.inputs, outputs, found.attributes, found.version)


# Joined integers -------------------------------------------------------------------------------


def _join_of_integers(index: _Index, concat: Node) -> dict[str, list[Node]]:
    """Quantize what is joined instead of the result, which is the same: integers are then joined.

    Each input must stand for integers of its own scale, and the result must be quantized.
    """
    last = index.reader(concat.outputs[0], "QuantizeLinear")
    if last is None or not all(index.is_scalar(name) for name in last.inputs[1:]):
        return {}
    result = index.types.get(last.outputs[0])
    if result is None or str(result.dtype) not in ("uint8", "int8"):
        return {}
    for name in concat.inputs:
        writer = index.writer(name, "DequantizeLinear")
        kind = index.types.get(name)
        if writer is None or kind is None or kind.fixed is None:
            return {}
        if not all(index.is_scalar(parameter) for parameter in writer.inputs[1:]):
            return {}
    parts, nodes = [], []
    for i, name in enumerate(concat.inputs):
        part = f"{last.outputs[0]}.part{i}"
        index.types[part] = TensorType(result.dtype, index.types[name].shape)
        names = (name, *last.inputs[1:])
        nodes.append(
            Node(last.op, "", f"{last.name}.part{i}", names, (part,), last.attributes, last.version)
        )
        parts.append(part)
    joined = replace(concat, inputs=tuple(parts), outputs=last.outputs[:1], source=None)
    return {last.name: [*nodes, joined]}


# GELU ------------------------------------------------------------------------------------------


def _gelu(index: _Index, node: Node) -> _Found | None:
    """x (1 + erf(x / sqrt 2)) / 2, or x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2."""
    if node.domain or node.op not in ("Erf", "Tanh"):
        return None
    x = _erf_argument(index, node) if node.op == "Erf" else _tanh_argument(index, node)
    shifted = index.reader(node.outputs[0], "Add")
    if x is None or shifted is None or index.other(shifted, 1.0) is None:
        return None
    last = _half_of_product(index, shifted.outputs[0], x)
    if last is None:
        return None
    approximate = "none" if node.op == "Erf" else "tanh"
    return _Found("Gelu", GELU_VERSION, (x,), {"approximate": approximate}, last)


def _erf_argument(index: _Index, erf: Node) -> str | None:
    scaled = index.writer(erf.inputs[0], "Div", "Mul")
    if scaled is None:
        return None
    if scaled.op == "Div":
        return scaled.inputs[0] if index.is_number(scaled.inputs[1], math.sqrt(2)) else None
    return index.other(scaled, math.sqrt(0.5))


def _tanh_argument(index: _Index, tanh: Node) -> str | None:
    scaled = index.writer(tanh.inputs[0], "Mul")
    inner = None if scaled is None else index.other(scaled, math.sqrt(2 / math.pi))
    total = None if inner is None else index.writer(inner, "Add")
    if total is None:
        return None
    for x, rest in (total.inputs, total.inputs[::-1]):
        small = index.writer(rest, "Mul")
        cube = None if small is None else index.other(small, 0.044715)
        if cube is not None and _is_cube(index, cube, x):
            return x
    return None


def _is_cube(index: _Index, name: str, x: str) -> bool:
    power = index.writer(name, "Pow", "Mul")
    if power is None:
        return False
    if power.op == "Pow":
        return power.inputs[0] == x and index.is_number(power.inputs[1], 3.0)
    for a, b in (power.inputs, power.inputs[::-1]):
        square = index.writer(b, "Mul")
        if a == x and square is not None and set(square.inputs) == {x}:
            return True
    return False


def _half_of_product(index: _Index, name: str, x: str) -> Node | None:
    """Return the node that computes x times the tensor times 0.5, in any order."""
    first = index.reader(name, "Mul")
    if first is None:
        return None
    other = first.inputs[1] if first.inputs[0] == name else first.inputs[0]
    half = index.writer(other, "Mul")
    if half is not None and index.other(half, 0.5) == x:
        return first
    last = index.reader(first.outputs[0], "Mul")
    if last is None:
        return None
    if other == x:
        return last if index.other(last, 0.5) == first.outputs[0] else None
    if index.is_number(other, 0.5):
        return last if set(last.inputs) == {x, first.outputs[0]} else None
    return None


def _silu(index: _Index, node: Node) -> _Found | None:
    """x sigmoid(x)."""
    if node.domain or node.op != "Sigmoid":
        return None
    last = index.reader(node.outputs[0], "Mul")
    if last is None or set(last.inputs) != {node.inputs[0], node.outputs[0]}:
        return None
    return _Found("Swish", SWISH_VERSION, (node.inputs[0],), {}, last)


# Layer normalization ---------------------------------------------------------------------------


def _layer_norm(index: _Index, node: Node) -> _Found | None:
    """(x - mean) / sqrt(mean((x - mean)^2) + eps) * gamma + beta over the last axis."""
    if node.domain or node.op != "Sqrt":
        return None
    shifted = index.writer(node.inputs[0], "Add")
    quotient = index.reader(node.outputs[0], "Div")
    if shifted is None or quotient is None or quotient.inputs[1] != node.outputs[0]:
        return None
    centered = index.writer(quotient.inputs[0], "Sub")
    x = None if centered is None else _centered(index, centered)
    variance, eps = _split_constant(index, shifted)
    if centered is None or x is None or eps is None or eps.size != 1:
        return None
    if not _is_mean_square(index, variance, x):
        return None
    scaled = index.reader(quotient.outputs[0], "Mul")
    gamma = None if scaled is None else _vector(index, scaled, x)
    added = None if scaled is None else index.reader(scaled.outputs[0], "Add")
    beta = None if added is None else _vector(index, added, x)
    if scaled is None or gamma is None or added is None or beta is None:
        return None
    attributes = {"axis": -1, "epsilon": float(eps.reshape(-1)[0])}
    return _Found("LayerNormalization", LAYER_NORM_VERSION, (x, gamma, beta), attributes, added)


def _split_constant(index: _Index, node: Node) -> tuple[str, Array | None]:
    for name, other in (node.inputs, node.inputs[::-1]):
        if other in index.constants:
            return name, index.constants[other]
    return "", None


def _is_mean(index: _Index, name: str) -> str | None:
    """Return what a tensor is the mean of, over the last axis, which is kept; else None."""
    mean = index.writer(name, "ReduceMean")
    if mean is None or not mean.attributes.get("keepdims", 1):
        return None
    kind = index.types.get(mean.inputs[0])
    axes = mean.attributes.get("axes")
    if axes is None and len(mean.inputs) > 1 and mean.inputs[1] in index.constants:
        axes = index.constants[mean.inputs[1]].reshape(-1).tolist()
    if kind is None or kind.fixed is None or axes is None or len(axes) != 1:
        return None
    return mean.inputs[0] if axes[0] in (-1, len(kind.fixed) - 1) else None


def _centered(index: _Index, node: Node) -> str | None:
    """Return x of x - mean(x)."""
    return node.inputs[0] if _is_mean(index, node.inputs[1]) == node.inputs[0] else None


def _is_mean_square(index: _Index, name: str, x: str) -> bool:
    squares = _is_mean(index, name)
    square = None if squares is None else index.writer(squares, "Pow", "Mul")
    if square is None:
        return False
    centered = index.writer(square.inputs[0], "Sub")
    if centered is None or _centered(index, centered) != x:
        return False
    if square.op == "Mul":
        return square.inputs[0] == square.inputs[1]
    return index.is_number(square.inputs[1], 2.0)


def _vector(index: _Index, node: Node, x: str) -> str | None:
    """Return the operand of a node that is a constant along the last axis of x."""
    kind = index.types[x].fixed
    for name in node.inputs:
        if name in index.constants and kind and index.types[name].shape == kind[-1:]:
            return name
    return None
