"""Sums of convolutions and affine maps of one tensor become one convolution.

Networks such as RepVGG (arXiv:2101.03697) and MobileOne (arXiv:2206.04040) are trained with several
branches that read the same tensor and are added, among them the tensor itself. All of it is linear,
so that one convolution has the same results up to rounding. Branches are joined where that takes no
more multiplications than they take apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from onnx import helper

from fbg.arrays import Array, Floats
from fbg.importers.description import Network, Node
from fbg.importers.linear_maps import LinearMap, added, identity, of_conv
from fbg.importers.onnx.budget import Budget
from fbg.importers.passes import is_known_norm, norm_terms, readers_of


def join_branches(network: Network, kept: Collection[str] = ()) -> Network:
    """Make one convolution of those that read the same tensor and whose results are added.

    It has the name of the largest of them.
    """
    return _Joining(network, kept).joined()


@dataclass(frozen=True)
class _Branch:
    """A summand, by the name of the tensor. x: what it is computed from. conv: reads x, if there is
    one. affine: nodes that scale or shift channels of the convolution, or of x, in order. sign: -1
    where it is subtracted.
    """

    name: str
    sign: int
    x: str
    conv: Node | None
    affine: tuple[Node, ...]


@dataclass(frozen=True)
class _Sum:
    """Branches that have been joined, the largest of them first."""

    branches: tuple[_Branch, ...]
    total: LinearMap

    @property
    def conv(self) -> Node:
        """The convolution whose place the sum takes."""
        return next(branch.conv for branch in self.branches if branch.conv is not None)

    @property
    def nodes(self) -> list[Node]:
        """The nodes that are no longer needed."""
        convs = [branch.conv for branch in self.branches if branch.conv is not None]
        return [*convs, *(node for branch in self.branches for node in branch.affine)]


class _Joining:
    """A network while sums of it are replaced, in the order of its nodes."""

    def __init__(self, network: Network, kept: Collection[str]) -> None:
        self._network = network
        self._constants = dict(network.constants)
        self._budget = Budget.of(sum(value.nbytes for value in self._constants.values()))
        readers = readers_of(network)
        # By the name of a tensor that one other node reads, the node that computes it.
        self._inside: dict[str, Node] = {}
        self._roots: list[Node] = []
        added_up: set[str] = set()
        for node in network.nodes:
            outputs = list(filter(None, node.outputs))
            if node.domain or node.name in kept or len(outputs) != 1 or len(node.inputs) < 2:
                continue
            if readers[outputs[0]] == 1 and outputs[0] not in network.outputs:
                self._inside[outputs[0]] = node
            if _adds(node):
                self._roots.append(node)
                added_up.update(node.inputs)
        inner = added_up & self._inside.keys()
        self._roots = [node for node in self._roots if node.outputs[0] not in inner]

    def joined(self) -> Network:
        """Return the network, with fewer nodes if it has such sums."""
        replaced: dict[str, list[Node]] = {}
        gone: list[Node] = []
        for root in self._roots:
            summands, inner = self._summands(root)
            sums = [found for own in _by_tensor(summands) for found in self._sums(own)]
            if not sums:
                continue
            joined = {id(branch) for found in sums for branch in found.branches}
            others = [branch for branch in summands if id(branch) not in joined]
            sums[0], others = self._with_constants(sums[0], others)
            gone += [*inner, *(node for found in sums for node in found.nodes)]
            replaced[root.name] = self._nodes(root, inner, sums, others)
        if not replaced:
            return self._network
        left = {id(node) for node in gone}
        nodes = [new for node in self._network.nodes for new in replaced.get(node.name, [node])]
        nodes = [node for node in nodes if id(node) not in left]
        used = {name for node in nodes for name in node.reads} | self._network.outputs.keys()
        constants = {name: value for name, value in self._constants.items() if name in used}
        return replace(self._network, constants=constants, nodes=nodes)

    # What is added --------------------------------------------------------------------------------

    def _summands(self, root: Node) -> tuple[list[_Branch], list[Node]]:
        """Return what a tree of sums adds, and its nodes but for the last."""
        summands: list[_Branch] = []
        inner: list[Node] = []
        waiting = [*_operands(root, 1)]
        while waiting:
            name, sign = waiting.pop()
            node = self._inside.get(name)
            if node is not None and _adds(node):
                inner.append(node)
                waiting += _operands(node, sign)
            else:
                summands.append(self._branch(name, sign))
        return summands, inner

    def _branch(self, name: str, sign: int) -> _Branch:
        affine: list[Node] = []
        x = name
        while (node := self._inside.get(x)) is not None:
            read = self._scaled_input(node)
            if read is None:
                break
            affine.append(node)
            x = read
        conv = node if node is not None and node.op == "Conv" else None
        x = x if conv is None else conv.inputs[0]
        return _Branch(name, sign, x, conv, tuple(reversed(affine)))

    def _scaled_input(self, node: Node) -> str | None:
        """Return what a node reads, if all else that it reads is known and may be for channels."""
        if node.op == "BatchNormalization":
            return node.inputs[0] if is_known_norm(node, self._constants) else None
        if node.op not in ("Add", "Sub", "Mul", "Div") or node.version < 7:
            return None
        a, b = node.inputs
        if b in self._constants:
            return a
        return b if a in self._constants and node.op in ("Add", "Mul") else None

    # Sums -----------------------------------------------------------------------------------------

    def _sums(self, branches: Sequence[_Branch]) -> Iterator[_Sum]:
        """Join branches that read the same tensor, beginning with the largest."""
        convs = [branch for branch in branches if branch.conv is not None]
        if not convs or len(branches) < 2:
            return
        found = [(branch, self._map(branch, None)) for branch in convs]
        first = next((known for _, known in found if known is not None), None)
        found += [(branch, self._map(branch, first)) for branch in branches if branch.conv is None]
        left = [(branch, known) for branch, known in found if known is not None]
        left.sort(key=lambda pair: -pair[1].cost)
        while left:
            (largest, total), *others = left
            own, left = [largest], []
            for branch, known in others:
                more = added(total, known) if self._budget.take(0, 4 * total.cost) else None
                if more is None:
                    left.append((branch, known))
                else:
                    total = more
                    own.append(branch)
            joins = len(own) > 1 and any(branch.conv is not None for branch in own)
            finite = joins and np.isfinite(total.w).all() and np.isfinite(total.bias).all()
            if finite and self._budget.take(total.w.nbytes):
                yield _Sum(tuple(own), total)

    def _map(self, branch: _Branch, like: LinearMap | None) -> LinearMap | None:
        """Return a branch as a linear map. like: another one that reads the same tensor."""
        if branch.conv is not None:
            total = of_conv(branch.conv, self._constants)
        else:
            total = None if like is None else identity(like.channels[0], len(like.stride))
        for node in branch.affine:
            if total is None or not self._budget.take(0, total.cost):
                return None
            terms = self._terms(node, total.channels[1], len(total.stride))
            total = None if terms is None else total.scaled(*terms)
        return total if total is None or branch.sign > 0 else total.scaled(-_ONE, _NONE)

    def _with_constants(
        self, joined: _Sum, others: Sequence[_Branch]
    ) -> tuple[_Sum, list[_Branch]]:
        """Return a sum with the constants for each channel that are added to it; and the rest."""
        total, left = joined.total, []
        for branch in others:
            value = self._constants.get(branch.name)
            if value is not None:
                value = _by_channel(value, total.channels[1], len(total.stride))
            if value is None:
                left.append(branch)
            else:
                total = replace(total, bias=total.bias + branch.sign * value)
        return replace(joined, total=total), left

    def _terms(self, node: Node, channels: int, axes: int) -> tuple[Floats, Floats] | None:
        """Return factor and summand of a node, each one number or one for each channel."""
        if node.op == "BatchNormalization":
            factor, mean, bias = norm_terms(node, self._constants)
            summand = bias - mean * factor
            return (factor, summand) if summand.shape == (channels,) else None
        name = next(name for name in reversed(node.inputs) if name in self._constants)
        value = _by_channel(self._constants[name], channels, axes)
        if value is None:
            return None
        return {
            "Add": (_ONE, value),
            "Sub": (_ONE, -value),
            "Mul": (value, _NONE),
            "Div": (_ONE / value, _NONE),
        }[node.op]

    # Nodes ----------------------------------------------------------------------------------------

    def _nodes(
        self,
        root: Node,
        inner: Sequence[Node],
        sums: Sequence[_Sum],
        others: Sequence[_Branch],
    ) -> list[Node]:
        """Return the nodes that compute a sum. others: summands that are in none of the sums."""
        output = root.outputs[0]
        alone = len(sums) == 1 and not others
        nodes = [self._convolution(each, output if alone else None) for each in sums]
        total, *names = (conv.outputs[0] for conv in nodes)
        signed = [*((name, 1) for name in names), *((each.name, each.sign) for each in others)]
        for i, (name, sign) in enumerate(signed):
            last = i == len(signed) - 1
            written = output if last else f"{root.name}.sum_{i}"
            op = "Add" if sign > 0 else "Sub"
            nodes.append(_node(root if last else inner[i], op, (total, name), written, {}))
            total = written
        if output in self._inside:  # where a sum around this one finds it
            self._inside[output] = nodes[-1]
        return nodes

    def _convolution(self, joined: _Sum, output: str | None) -> Node:
        conv, total = joined.conv, joined.total
        names = (f"{conv.name}.joined_weight", f"{conv.name}.joined_bias")
        self._constants.update(zip(names, (total.w, total.bias), strict=True))
        inputs = (conv.inputs[0], *names)
        return _node(conv, "Conv", inputs, output or conv.outputs[0], total.attributes())


_ONE, _NONE = np.ones(1, np.float32), np.zeros(1, np.float32)


def _adds(node: Node) -> bool:
    return node.op in ("Add", "Sub") and node.version >= 7


def _operands(node: Node, sign: int) -> list[tuple[str, int]]:
    """Return what a node adds, with signs if what it computes has this one, the last first."""
    a, b = node.inputs
    return [(b, sign if node.op == "Add" else -sign), (a, sign)]


def _node(
    like: Node, op: str, inputs: tuple[str, ...], output: str, attributes: Mapping[str, Any]
) -> Node:
    """Return a node in the place of another, and with its name."""
    source = helper.make_node(op, inputs, [output], like.name, **attributes)
    outputs = (output,)
    return replace(
        like, op=op, inputs=inputs, outputs=outputs, attributes=attributes, source=source
    )


def _by_tensor(branches: Iterable[_Branch]) -> list[list[_Branch]]:
    """Return the branches that read each tensor."""
    found: dict[str, list[_Branch]] = {}
    for branch in branches:
        found.setdefault(branch.x, []).append(branch)
    return list(found.values())


def _by_channel(value: Array, channels: int, axes: int) -> Floats | None:
    """Return the one number of a constant, or those for each channel of an image; else None."""
    if value.dtype != np.float32 or value.ndim > axes + 2 or value.size not in (1, channels):
        return None
    shape = (1,) * (axes + 2 - value.ndim) + value.shape
    return value.reshape(-1) if shape[1] == value.size else None
