"""Variants of a network for reports: with more outputs, with nodes moved to another back
end, or with some products in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy.typing as npt

from fbg.errors import ModelError
from fbg.importers.int8.costs import without_losses
from fbg.importers.int8.float_nodes import for_products
from fbg.importers.int8.observe import calibrate_network
from fbg.importers.int8.quantize import quantize_network
from fbg.importers.net import Net
from fbg.importers.products import fold_weights, quantizable, unchanged


def results_of_products(net: Net) -> dict[str, str]:
    """Return the name of the result of each node with constant weights that int8 would change."""
    names = set(quantizable(fold_weights(net.network)))
    return {node.name: node.outputs[0] for node in net.network.nodes if node.name in names}


def require_products(net: Net, path: str) -> None:
    """Raise ModelError for a network in float32 where int8 has nothing to change."""
    if net.dtype == "float32" and not results_of_products(net):
        raise ModelError(f"{unchanged(path, net.products)}; fbg bench times the file as it is")


def moved(net: Net, node: str | None) -> Net:
    """Return the network with one node on the reference; None: only without fused operators."""
    if node is not None:
        return net.variant(net.network, {node: "reference"})
    first = net.plan().steps[0]
    return net.variant(net.network, {first.nodes[0]: first.backend})


def quantizer(
    net: Net, feeds: Sequence[Mapping[str, npt.NDArray[Any]]]
) -> Callable[[Sequence[str]], Net]:
    """Calibrate once; return a function from names of nodes that stay in float32 to a network."""
    network = fold_weights(net.network)
    found = calibrate_network(network, feeds, partial(Net, num_threads=net.num_threads))
    found = without_losses(network, found)
    return lambda kept: net.variant(quantize_network(network, for_products(network, found, kept)))
