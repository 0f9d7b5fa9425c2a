"""The products of a network: which ones multiply integers, and weights that nodes compute.

Integers meet in a product where a DequantizeLinear stands before both of its operands, or where the
operator takes integers. Products without constant weights stay in float32.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fbg._fbg import MAX_DEPTH
from fbg.arrays import Array
from fbg.importers.description import Network, Node, TensorType, needed
from fbg.importers.onnx.inference import infer
from fbg.importers.session import computing_without_runtimes
from fbg.matmul.narrow import is_narrow, outputs_as_rows

PRODUCTS = {"Conv": 0, "Gemm": 1, "MatMul": 1}  # axes of output channels of the weights
MOVES = {  # operators whose results are elements of their first input
    *("Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Slice", "Split", "Gather"),
    *("Expand", "Tile", "DepthToSpace", "SpaceToDepth", "MaxPool"),
}

_REAL = {*PRODUCTS, "ConvTranspose"}
_INTEGER = {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"}
# Operators of onnxruntime's own domain.
_FOREIGN_REAL = {"FusedConv", "FusedGemm", "FusedMatMul", "MatMulNBits", "NhwcFusedConv"}
_FOREIGN_INTEGER = {"DynamicQuantizeMatMul", "MatMulIntegerToFloat", "QGemm", "QLinearConv"}


@dataclass(frozen=True)
class ProductCount:
    """How many products a network has, and how many of them multiply 8-bit integers."""

    int8: int
    all: int

    def __str__(self) -> str:
        if self.all == 0:
            return "no products"
        return f"int8 in {self.int8} of {self.all} product{'s' * (self.all > 1)}"


def is_product(node: Node) -> bool:
    """Whether a node is a product that fbg can compute with integers, if its weights fit."""
    return node.op in PRODUCTS and not node.domain and node.attributes.get("alpha", 1.0) == 1.0


def is_depthwise(node: Node, w: Array) -> bool:
    """Whether a product is a convolution whose outputs read one channel of x each."""
    return node.op == "Conv" and w.shape[1] == 1


def output_axis(node: Node) -> int:
    """Return the axis of the output channels of the weights of a product."""
    if node.op == "Gemm" and node.attributes.get("transB", 0):
        return 0
    return PRODUCTS[node.op]


def fits_sums(node: Node, w: Array) -> bool:
    """Whether int32 sums hold what a product with these weights, or their bytes, adds up."""
    depth: int = w.size // max(w.shape[output_axis(node)], 1)
    return depth <= MAX_DEPTH


def by_group(w: Array, channels: int) -> Array:
    """Return the weights of a convolution that reads so many channels: (groups, outputs of each,
    inputs of each, places of the window).
    """
    return w.reshape(channels // w.shape[1], -1, w.shape[1], math.prod(w.shape[2:]))


def count_products(network: Network) -> ProductCount:
    """Count the nodes that multiply tensors, and how many multiply integers."""
    found = integer_products(network)
    return ProductCount(sum(found.values()), len(found))


def integer_products(network: Network) -> dict[str, bool]:
    """Return by name of each product whether it multiplies integers."""
    operands = Operands(network)
    found = {}
    for node in network.nodes:
        foreign = node.domain != ""
        if node.op in (_FOREIGN_INTEGER if foreign else _INTEGER):
            found[node.name] = True
        elif node.op in (_FOREIGN_REAL if foreign else _REAL):
            found[node.name] = operands.weights_are_integers(node) and operands.x_is_integers(node)
    return found


def count_narrow(network: Network) -> int:
    """Return how many products that multiply integers have narrow weights; fbg/matmul/narrow.py."""
    operands, products = Operands(network), integer_products(network)
    nodes = (node for node in network.nodes if products.get(node.name))
    found = ((node, operands.integer_weights(node)) for node in nodes)
    return sum(
        q is not None
        and not is_depthwise(node, q)
        and is_narrow(outputs_as_rows(q, output_axis(node)))
        for node, q in found
    )


class Operands:
    """Tells which operands of the products of a network stand for integers."""

    def __init__(self, network: Network) -> None:
        self._constants = network.constants
        self._known = _known(network)
        self._writers = {name: node for node in network.nodes for name in node.outputs if name}

    def x_is_integers(self, node: Node) -> bool:
        """Whether x stands for bytes, with one scale for all of them."""
        x = self._writers.get(node.inputs[0])
        while x is not None and x.op in MOVES:
            x = self._writers.get(x.inputs[0])
        return x is not None and self._is_linear(x) and self._constants[x.inputs[1]].size == 1

    def weights_are_integers(self, node: Node) -> bool:
        """Whether a product that fbg computes has weights that stand for bytes and can be summed
        as bytes: with one scale, or one for each output channel.
        """
        if not is_product(node):
            return False
        name = node.inputs[1]
        w = self._writers.get(name)
        if w is None or name not in self._known or not self._is_linear(w):
            return False
        q, scale = self._constants.get(w.inputs[0]), self._constants[w.inputs[1]]
        rank = 2 if q is None else q.ndim
        axis = w.attributes.get("axis", 1) % max(rank, 1)
        if not (node.op == "Conv" or rank == 2) or (q is not None and not fits_sums(node, q)):
            return False
        return scale.size == 1 or axis == output_axis(node)

    def integer_weights(self, node: Node) -> Array | None:
        """Return the bytes of the weights of a product that fbg computes, where they are int8."""
        w = self._writers.get(node.inputs[1]) if self.weights_are_integers(node) else None
        q = None if w is None else self._constants.get(w.inputs[0])
        return None if q is None or q.dtype != np.int8 else q

    def _is_linear(self, node: Node) -> bool:
        """Whether a node dequantizes bytes by known scales."""
        if (node.domain, node.op) != ("", "DequantizeLinear") or node.attributes.get("block_size"):
            return False
        scale = self._constants.get(node.inputs[1])
        integers = [self._constants.get(name) for name in (node.inputs[0], *node.inputs[2:])]
        return (
            scale is not None
            and scale.dtype == np.float32
            and all(q is None or q.dtype in (np.int8, np.uint8) for q in integers)
        )


def _known(network: Network, kept: Collection[str] = ()) -> dict[str, Node | None]:
    """Return the tensors that depend on no input, with the node that computes each."""
    known: dict[str, Node | None] = dict.fromkeys(network.constants)
    for node in network.nodes:
        if node.name not in kept and not node.captures and all(n in known for n in node.reads):
            known.update((name, node) for name in node.outputs if name and name not in known)
    return known


def quantizable(network: Network) -> list[str]:
    """Return the names of the nodes with constant weights that could multiply integers but do not.

    Their weights are in float32, or stand for integers while the other operand does not. Constants
    are those that hold for all shapes of the inputs (`fold_weights`).
    """
    operands = Operands(network)
    return [
        node.name
        for node in network.nodes
        if has_float_weights(node, network.constants)
        or (operands.weights_are_integers(node) and not operands.x_is_integers(node))
    ]


def has_float_weights(node: Node, constants: Mapping[str, Array]) -> bool:
    """Whether a node is a product with float32 weights that can be rounded."""
    w = constants.get(node.inputs[1]) if is_product(node) else None
    if w is None or w.dtype != np.float32 or not (node.op == "Conv" or w.ndim == 2):
        return False
    return fits_sums(node, w)


def unchanged(origin: str, count: ProductCount) -> str:
    """Return why int8 changes no product of a network, for messages."""
    if count.int8:
        return f"{origin}: is quantized already, {count}: dtype='int8' changes none of the others"
    return (
        f"{origin}: {count}: only Conv, Gemm and MatMul can multiply integers, with float32 "
        f"weights that are known when the file is loaded, and {MAX_DEPTH} products in a sum at most"
    )


def fold_weights(network: Network, kept: Collection[str] = ()) -> Network:
    """Return the network in which weights and biases computed from constants are constants.

    A DequantizeLinear stays if the product can multiply its integers; they become constants. kept:
    names of nodes that do not change. Weights that are too much to compute stay, too.
    """
    known = _known(network, kept)
    wanted = {
        name: node
        for node in network.nodes
        if node.op in PRODUCTS and node.domain == ""
        for name in node.inputs[1:]
        if known.get(name) is not None
    }
    if not wanted:
        return network
    computing = {node.name for node in known.values() if node is not None}
    kinds = {name: TensorType(np.dtype(np.float32), None) for name in wanted}
    part = [node for node in network.nodes if node.name in computing]
    alone = replace(network, nodes=part, inputs={}, outputs=kinds)
    found = infer(alone, {}, {}, compute=computing_without_runtimes()).constants
    constants = dict(network.constants)
    for name, product in wanted.items():
        writer = known[name]
        weights = found.weights.get(name)
        if weights is None or writer is None:
            names = [name]
        elif product.op != "Conv" and len(weights.shape) != 2:
            continue
        else:
            taken = weights.scaled_along(output_axis(product))
            names = list(filter(None, writer.inputs)) if taken else [name]
        constants.update((each, found[each]) for each in names if each in found)
    nodes = [
        node
        for node in network.nodes
        if not all(name in constants for name in filter(None, node.outputs))
    ]
    nodes = needed(nodes, network.outputs)
    read = {name for node in nodes for name in node.reads} | network.outputs.keys()
    constants = {name: value for name, value in constants.items() if name in read}
    return replace(network, constants=constants, nodes=nodes)
