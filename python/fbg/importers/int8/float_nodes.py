"""Nodes of a quantized network that compute in float32, and who then still reads integers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fbg.importers.description import Network, Node
from fbg.importers.int8.observe import Calibration
from fbg.importers.products import MOVES, PRODUCTS, quantizable


def readers_of_integers(network: Network, calibration: Calibration) -> list[str]:
    """Return the names of the nodes that read integers and compute with them, in their order.

    Nodes that only move or join integers do not: no error is theirs.
    """
    return [
        node.name
        for node in network.nodes
        if not _passes_on(node) and any(_reads(node, name, calibration) for name in node.reads)
    ]


def in_float(network: Network, calibration: Calibration, kept: Collection[str]) -> Calibration:
    """Return the calibration of a network in which the nodes named `kept` compute in float32.

    A tensor that nobody else reads is not rounded. A function of integers alone is in float32 as a
    whole.
    """
    if not kept:
        return calibration
    arguments = {calibration.looked_up.get(name) for name in kept}
    kept = {*kept, *(n for n, argument in calibration.looked_up.items() if argument in arguments)}
    wanted: set[str] = set()  # tensors of which somebody reads the integers
    left: dict[str, set[str]] = {}  # the nodes that do, directly
    for node in reversed(network.nodes):
        passes_on = _passes_on(node)
        if node.name in kept or (passes_on and wanted.isdisjoint(node.outputs)):
            continue
        for name in node.reads:
            if passes_on or _reads(node, name, calibration):
                wanted.add(name)
                left.setdefault(name, set()).add(node.name)
    parameters = {n: value for n, value in calibration.parameters.items() if n in wanted}
    readers = {name: frozenset(left[name]) for name in parameters}
    return replace(calibration, parameters=parameters, readers=readers)


def for_products(network: Network, calibration: Calibration, kept: Collection[str]) -> Calibration:
    """Return the same, if only products read integers: sums, too, are then in float32."""
    if not kept:
        return calibration
    multiplying = set(quantizable(network)).difference(kept)
    read: set[str] = set()  # by products, also through nodes with a single input
    for node in reversed(network.nodes):
        varying = [name for name in node.reads if name not in network.constants]
        passes = len(varying) == 1 and any(name in read for name in node.outputs)
        if node.name in multiplying or (passes and node.op not in PRODUCTS):
            read.update(varying[:1])
    parameters = {n: value for n, value in calibration.parameters.items() if n in read}
    return in_float(network, replace(calibration, parameters=parameters), kept)


def _passes_on(node: Node) -> bool:
    return node.domain == "" and (node.op in MOVES or node.op == "Concat")


def _reads(node: Node, name: str, calibration: Calibration) -> bool:
    """Whether a node reads the integers of a tensor."""
    if name not in calibration.parameters:
        return False
    readers = calibration.readers.get(name)
    return readers is None or node.name in readers
