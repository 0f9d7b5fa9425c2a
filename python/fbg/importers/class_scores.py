"""Which outputs of a network are scores of classes, so that their largest element is an answer.

A file does not say so. Scores are results of softmax, tensors that are named logits or the like,
and the matrix of a last linear layer with a bias. Embeddings usually end differently: with
a norm, a mean, an activation or a projection without a bias.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fbg.importers.description import Network, Node

NAMES = re.compile(r"logit|prob|score|softmax|class", re.IGNORECASE)
# Operators that only move elements, or do nothing at inference.
MOVES = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Dropout", "Cast"}


def class_scores(network: Network) -> list[str]:
    """Return the names of the floating outputs that are scores of classes."""
    makers = {name: node for node in network.nodes for name in node.outputs}
    return [
        name
        for name, kind in network.outputs.items()
        if kind.dtype.kind == "f" and (NAMES.search(name) or _are_scores(name, makers, network))
    ]


def _are_scores(name: str, makers: Mapping[str, Node], network: Network) -> bool:
    node = makers.get(name)
    while node is not None and node.op in MOVES:
        node = makers.get(node.inputs[0])
    if node is None:
        return False
    if node.op in ("Softmax", "LogSoftmax"):
        return True
    shape = network.outputs[name].shape
    if node.op == "Add" and shape is not None and len(shape) == 2:  # adds a bias to a product
        products = [makers.get(each) for each in node.inputs if each not in network.constants]
        return len(products) == 1 and products[0] is not None and products[0].op == "MatMul"
    return node.op == "Gemm" and len(node.inputs) == 3 and node.inputs[2] != ""
