"""Branches of If in place of their node, where the condition is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import onnx
from onnx import helper

from fbg.arrays import Array
from fbg.importers.description import Network, Node

T = TypeVar("T")
Names = Mapping[str, str]


def branch_of(node: Node, constants: Mapping[str, Array]) -> Network | None:
    """Return the branch that an If takes in every run, or None if its condition is not known."""
    if not node.branches or node.inputs[0] not in constants:
        return None
    condition = constants[node.inputs[0]]
    if condition.size != 1 or condition.dtype != bool:
        return None
    return node.branches[0 if condition.item() else 1]


class Inlining:
    """A network in which branches take the place of If nodes, one after the other.

    kept: names of If nodes that stay; None: all. network: what it has become; its nodes are those
    that `branch` was asked for. Names of nodes and tensors of a branch change where the network
    has them already: subgraphs of which none is inside of the other may share names.
    """

    def __init__(self, network: Network, kept: Collection[str] | None) -> None:
        self._kept = () if kept is None else kept
        self._inlines = kept is not None and any(node.branches for node in network.nodes)
        constants, declared = dict(network.constants), dict(network.declared)
        self.network = replace(network, constants=constants, declared=declared, nodes=[])
        if self._inlines:
            self._tensors = Counter((*network.inputs, *network.constants))
            self._nodes = Counter(node.name for node in network.nodes)
            for node in network.nodes:
                self._tensors.update(node.outputs)
                self._tensors.update(_written_inside(node))

    def branch(self, node: Node, constants: Mapping[str, Array]) -> Network | None:
        """Return the constants and nodes that take the place of a node, or None if it stays."""
        stays = not self._inlines or node.name in self._kept
        taken = None if stays else branch_of(node, constants)
        if taken is None:
            self.network.nodes.append(node)
            return None
        part = self._renamed(node, taken)
        self.network.constants.update(part.constants)
        self.network.declared.update(part.declared)
        return part

    def _renamed(self, node: Node, branch: Network) -> Network:
        """Return a branch as a part of the network around it, whose outputs are those of its If."""
        self._tensors.subtract(_written_inside(node))
        written = (name for inner in branch.nodes for name in inner.outputs if name)
        own = [*branch.constants, *written]
        names = {name: _unused(name, node.name, self._tensors) for name in own}
        for inner in branch.nodes:
            self._tensors.update(names.get(name, name) for name in _written_inside(inner))
        nodes = [
            replace(with_names(n, names), name=_unused(n.name, node.name, self._nodes))
            for n in branch.nodes
        ]
        for result, outer in zip(branch.outputs, node.outputs, strict=True):
            if outer:
                name = _unused(f"{node.name}/{outer}", node.name, self._nodes)
                nodes.append(_identity(names.get(result, result), outer, name, branch))
        return replace(
            branch,
            constants=_with_names(branch.constants, names),
            declared=_with_names(branch.declared, names),
            nodes=nodes,
        )


def _unused(name: str, scope: str, taken: Counter[str]) -> str:
    """Return a name that is not taken, and take it."""
    found, count = name, 1
    while taken[found] > 0:
        found = f"{scope}/{name}" if count == 1 else f"{scope}/{name}_{count}"
        count += 1
    taken[found] += 1
    return found


def _written_inside(node: Node) -> Iterator[str]:
    """Yield the names of all tensors of the subgraphs of a node."""
    return _tensors_inside([node.source]) if node.versions else iter(())


def _tensors_inside(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    for node in nodes:
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from (value.name for value in (*graph.input, *graph.initializer))
                yield from (name for inner in graph.node for name in inner.output)
                yield from _tensors_inside(graph.node)


def _identity(read: str, written: str, name: str, branch: Network) -> Node:
    source = helper.make_node("Identity", [read], [written], name)
    return Node("Identity", "", name, (read,), (written,), {}, branch.versions[""], source=source)


def with_names(node: Node, names: Names) -> Node:
    """Return the node with renamed tensors; its subgraphs, too, read and write these."""
    if all(names.get(name, name) == name for name in (*node.reads, *node.outputs)):
        return node
    source = onnx.NodeProto()
    source.CopyFrom(node.source)
    _rename_inside([source], names)
    return replace(
        node,
        inputs=_all(node.inputs, names),
        outputs=_all(node.outputs, names),
        captures=_all(node.captures, names),
        source=source,
        branches=tuple(_renamed_branch(branch, names) for branch in node.branches),
    )


def _renamed_branch(branch: Network, names: Names) -> Network:
    return replace(
        branch,
        outputs=_with_names(branch.outputs, names),
        constants=_with_names(branch.constants, names),
        declared=_with_names(branch.declared, names),
        nodes=[with_names(node, names) for node in branch.nodes],
    )


def _all(listed: Collection[str], names: Names) -> tuple[str, ...]:
    return tuple(names.get(name, name) for name in listed)


def _with_names(values: Mapping[str, T], names: Names) -> dict[str, T]:
    return {names.get(name, name): value for name, value in values.items()}


def _rename_inside(nodes: Collection[onnx.NodeProto], names: Names) -> None:
    for node in nodes:
        for listed in (node.input, node.output):
            listed[:] = _all(listed, names)
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
                    value.name = names.get(value.name, value.name)
                _rename_inside(graph.node, names)
