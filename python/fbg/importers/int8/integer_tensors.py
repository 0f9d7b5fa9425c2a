"""Which tensors of a float32 network become integers when it is quantized, and who reads these.

This follows from the steps of the network in float32 after fusion:

    inside a step   a tensor is never written to memory, and is not rounded, but for arguments of
                    functions of one tensor that take more instructions than a table of bytes
    for everyone    the step that computes it can end with the rounding, and all readers can
                    take integers: it is written as integers, a quarter of the bytes
    for products    otherwise, if products with constant weights read it: it is rounded for these in
                    a step of its own, and all others read the floating-point numbers

A function of one tensor reads numbers: its result is rounded anyway. Behind a product, where it
takes many instructions beside those of the product, as SiLU or GELU do behind few channels, its
argument is rounded, too, and the function is a table of 256 bytes. The range of the argument is
that for which the results have the least error (arguments.py): most of what the argument holds may
be what the function maps to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fbg.graph.expression import cost
from fbg.importers.description import Network, Node
from fbg.importers.onnx.inference import Inferred
from fbg.importers.ops.elementwise import FUNCTIONS
from fbg.importers.products import MOVES, PRODUCTS, output_axis, quantizable

ELEMENTWISE = {
    *("Relu", "Clip", "Tanh", "Sigmoid", "Gelu", "Swish", "Add", "Mul", "Sub", "Div", "HardSwish"),
    *("HardSigmoid", "LeakyRelu", "PRelu", "Elu", "Softplus", "Erf", "Mish", "Max", "Min"),
    *("Abs", "Celu", "Exp", "Log", "Pow", "Selu", "Softsign", "Sqrt", "ThresholdedRelu"),
}
ARITHMETIC = {"Add", "Sub", "Mul", "Div"}
# Functions that keep the steps of integers, apart from those that they cut off.
_KEEPING = {"Relu", "Clip", "LeakyRelu", "PRelu", "Max", "Min"}
_POOLING = {"MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean"}  # they round no numbers
_JOINING = {"Concat", *_POOLING}
_PRODUCING = {*PRODUCTS, "ConvTranspose"}
_ENDING = ELEMENTWISE | _JOINING  # whose steps read integers and can end with rounding to them
# A table costs accuracy. It has to save instructions for a vector of 32-bit elements, beyond those
# that it takes where 16 bytes are looked up at a time: one for so many products of a sum, which is
# an eighth of what the product takes with VNNI.
TABLE, PRODUCTS_OF_ONE = 12, 32
# Instructions of a pass over the sums of a depthwise or groupwise convolution, whose kernels look
# results up, but do not compute expressions.
PASS = 8


@dataclass(frozen=True)
class LookedUp:
    """A function of one tensor within a step, which a table of bytes computes: its nodes."""

    argument: str
    result: str
    nodes: tuple[Node, ...]


def integer_tensors(
    network: Network, inferred: Inferred, steps: Sequence[tuple[str, ...]]
) -> tuple[dict[str, frozenset[str] | None], list[LookedUp]]:
    """Return the tensors to round, each with the names of the products that read the integers, or
    with None where everyone does; and the functions to look up, whose arguments are among them.

    steps: of a run in float32: the names of the nodes that each computes.
    """
    flow = _Flow(network, inferred, steps)
    chosen: dict[str, frozenset[str] | None] = {}
    integers: set[str] = set()  # tensors that everyone reads, also after moves
    for name in [*network.inputs, *flow.writers]:
        kind = inferred.types.get(name)
        if kind is None or kind.dtype != np.float32:
            continue
        if kind.shape == () or flow.is_inside(name):  # () is a scale in an int8 file
            continue
        readers = flow.readers.get(name, [])
        products = frozenset(node.name for node in readers if flow.multiplies(node, name))
        rounds = flow.takes_integers(name) and flow.pooled(name) in {None, *integers}
        if name not in network.outputs and (flow.source(name) in integers or rounds):
            integers.add(name)
            if not all(map(_moves, readers)) or flow.source(name) is None:
                chosen[name] = None
        elif products:
            chosen[name] = products
    looked_up = flow.looked_up(integers)
    return chosen | dict.fromkeys([each.argument for each in looked_up]), looked_up


class _Flow:
    """The writers and readers of the tensors of a network, and their steps."""

    def __init__(
        self, network: Network, inferred: Inferred, steps: Sequence[tuple[str, ...]]
    ) -> None:
        self._constants, self._outputs = inferred.constants, frozenset(network.outputs)
        self._types = inferred.types
        self._quantizable = frozenset(quantizable(network))
        self.writers = {name: node for node in inferred.nodes for name in node.outputs if name}
        self.readers: dict[str, list[Node]] = {}
        for node in inferred.nodes:
            for name in dict.fromkeys(node.reads):
                self.readers.setdefault(name, []).append(node)
        self._step = {name: n for n, names in enumerate(steps) for name in names}
        nodes = {node.name: node for node in inferred.nodes}
        self._parts = [[nodes[name] for name in names if name in nodes] for names in steps]
        self._ends = [self._can_end(part) for part in self._parts]

    def multiplies(self, node: Node, name: str) -> bool:
        """Whether a node multiplies a tensor, and can multiply integers instead."""
        return node.name in self._quantizable and node.inputs[0] == name

    def _can_end(self, nodes: Sequence[Node]) -> bool:
        """Whether a step of these nodes reads integers, and can end with the rounding to them."""
        if not nodes:  # a copy
            return False
        first, *others = nodes
        weights = first.inputs[1] if first.op in _PRODUCING else ""
        starts = weights in self._constants or first.op in _ENDING
        return starts and all(node.op in _ENDING for node in others)

    def _ends_with_rounding(self, node: Node) -> bool:
        step = self._step.get(node.name)
        return node.domain == "" and step is not None and self._ends[step]

    def is_inside(self, name: str) -> bool:
        """Whether a tensor is passed on within a step."""
        writer, readers = self.writers.get(name), self.readers.get(name, [])
        step = None if writer is None else self._step.get(writer.name)
        if step is None or not readers or any(node.op == "Concat" for node in readers):
            return False
        return all(self._step.get(node.name) == step for node in readers)

    def looked_up(self, integers: set[str]) -> list[LookedUp]:
        """Return the functions behind products that take more instructions than a table.

        integers: tensors that everyone reads as integers.
        """
        found: list[LookedUp] = []
        for part, ends in zip(self._parts, self._ends, strict=True):
            if not ends or part[0].op not in PRODUCTS:
                continue
            names = [name for node in part for name in node.outputs if self.is_inside(name)]
            w = self._constants[part[0].inputs[1]]
            least = TABLE + w.size // w.shape[output_axis(part[0])] // PRODUCTS_OF_ONE
            if _is_grouped(part[0]):
                least -= PASS
            functions = (self._function(name, part, least) for name in names)
            function = next((each for each in functions if each is not None), None)
            if function is not None and function.result in integers:
                found.append(function)
        return found

    def _function(self, name: str, part: Sequence[Node], least: int) -> LookedUp | None:
        """Return what a step does to a tensor within it, if it is a function of more instructions
        than `least`.
        """
        known, nodes = {name}, []
        for node in part:
            varying = {x for x in node.reads if x not in self._constants}
            if not any(x in known and self.is_inside(x) for x in varying):
                continue  # also a Concat of the result
            numbers = [self._constants[x].size for x in node.reads if x not in varying]
            if varying - known or node.op not in FUNCTIONS or any(n != 1 for n in numbers):
                return None
            nodes.append(node)
            known.update(node.outputs)
        results = [x for x in known if not self.is_inside(x)]
        if len(results) != 1 or self._types[results[0]].shape != self._types[name].shape:
            return None
        worth = sum(map(self._cost, nodes)) > least
        return LookedUp(name, results[0], tuple(nodes)) if worth else None

    def _cost(self, node: Node) -> int:
        """Return the instructions of a node; numbers are factors and summands of one."""
        by_number = node.op in ARITHMETIC and not self._constants.keys().isdisjoint(node.reads)
        return 1 if by_number else cost(FUNCTIONS[node.op])

    def source(self, name: str) -> str | None:
        """Return the tensor that has the same elements in other places, if a node moves them."""
        writer = self.writers.get(name)
        return writer.inputs[0] if writer is not None and _moves(writer) else None

    def pooled(self, name: str) -> str | None:
        """Return the tensor of whose windows a tensor consists, if any."""
        writer = self.writers.get(name)
        return writer.inputs[0] if writer is not None and writer.op in _POOLING else None

    def takes_integers(self, name: str) -> bool:
        """Whether the step that writes a tensor can round it, and all readers take integers,
        also behind ops that only move elements.
        """
        writer = self.writers.get(name)
        if writer is None or _moves(writer) or not self._ends_with_rounding(writer):
            return False
        waiting = [name] if name in self.readers else []
        for read in waiting:
            for node in self.readers[read]:
                if _moves(node):
                    if not self._outputs.isdisjoint(node.outputs):
                        return False
                    waiting += [moved for moved in node.outputs if moved in self.readers]
                elif not (self.multiplies(node, read) or self._keeps_integers(node)):
                    return False
        return bool(waiting)

    def _keeps_integers(self, node: Node) -> bool:
        """Whether a node can read integers, and its step end with the rounding, without a loss.

        A product in float32 cannot: all that it would get is an input that is rounded.
        """
        if node.op in _PRODUCING:
            return False
        varying = [name for name in node.reads if name not in self._constants]
        bends = node.op in ELEMENTWISE - _KEEPING and len(varying) == 1
        return self._ends_with_rounding(node) and not bends


def _is_grouped(node: Node) -> bool:
    return node.op == "Conv" and node.attributes.get("group", 1) > 1


def _moves(node: Node) -> bool:
    """Whether a node only moves elements, both floating-point numbers and integers."""
    return node.domain == "" and node.op in MOVES and node.op not in _JOINING
