"""Local functions of a file: their nodes replace calls, unless there would be too many.

Twenty functions that each call the previous one twice are a million nodes: every call and every
node is charged to the budget of the file before it is made.

A node keeps the meaning that it has in its function: attributes that the call leaves out have their
defaults, and the operator set is that of the function, where it is another one than the file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field

import onnx
from onnx import helper

from fbg.errors import ModelError
from fbg.importers.onnx.budget import Budget
from fbg.importers.onnx.opsets import domain_of, nodes_inside, same_versions, versions_of

MOST_DEPTH = 50  # depth of functions that call each other

# Operators that take the same inputs and attributes in all versions, and mean another thing.
_CHANGED = ("GroupNormalization", "Hardmax", "LogSoftmax", "Softmax")

Key = tuple[str, str, str]
Nodes = Iterable[onnx.NodeProto]


def inline_functions(
    model: onnx.ModelProto,
    origin: str,
    budget: Budget,
    versions: MutableMapping[str, int],
    node_versions: MutableMapping[str, int],
) -> onnx.ModelProto:
    """Return the model without local functions; raises ModelError.

    versions: operator sets of the model; those that only functions import are added.
    node_versions: operator sets of nodes by name, added where they are others than the model's.
    """
    if not model.functions:
        return model
    inliner = _Inliner(model, origin, budget, versions, node_versions)
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.functions[:], copy.graph.node[:]
    copy.graph.node.extend(inliner.expanded(model.graph.node, _Body("", versions), versions))
    return copy


@dataclass
class _Body:
    """Where nodes are: in a function that is being inlined, or in the file itself.

    prefix: of new names; "" in the file itself, whose names stay. versions: operator sets.
    attributes: those of the call by name. names: what tensors of the body are called afterwards.
    depth: of calls.
    """

    prefix: str
    versions: Mapping[str, int]
    attributes: Mapping[str, onnx.AttributeProto] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    depth: int = 0


class _Inliner:
    """See `inline_functions`. open: the functions that are being inlined."""

    def __init__(
        self,
        model: onnx.ModelProto,
        origin: str,
        budget: Budget,
        versions: MutableMapping[str, int],
        node_versions: MutableMapping[str, int],
    ) -> None:
        self._origin, self._budget = origin, budget
        self._versions, self._node_versions = versions, node_versions
        self._functions: dict[Key, onnx.FunctionProto] = {}
        for function in model.functions:
            key = _key(function.domain, function.name, function.overload)
            if key in self._functions:
                raise ModelError(f"{origin}: local function '{function.name}' is defined twice")
            self._functions[key] = function
        self._open: set[Key] = set()
        self._taken = _names(model)

    def expanded(
        self, nodes: Nodes, body: _Body, around: Mapping[str, int], inside: bool = False
    ) -> Iterator[onnx.NodeProto]:
        """Yield nodes of a body with all calls replaced.

        around: operator sets by which the nodes are read unless they are named one by one.
        """
        for node in nodes:
            if body.depth:
                self._charge(node, body)
            made = onnx.NodeProto(op_type=node.op_type, domain=domain_of(node.domain))
            own_name = f"{body.prefix}{node.name or node.op_type}"
            made.name = self._unused(own_name) if body.depth else node.name
            made.overload = node.overload
            made.input.extend(self._renamed(node.input, body))
            made.output.extend(self._renamed(node.output, body))
            function = self._functions.get(_key(node.domain, node.op_type, node.overload))
            own = around
            if function is None:
                own = self._versioned(made, node, body, around, inside)
            for attribute in node.attribute:
                self._add_attribute(made, attribute, body, own)
            if function is None:
                yield made
            else:
                yield from self._inlined(made, function, body, around, inside)

    def _add_attribute(
        self,
        made: onnx.NodeProto,
        attribute: onnx.AttributeProto,
        body: _Body,
        versions: Mapping[str, int],
    ) -> None:
        """Add an attribute to a node: that of the call, if it refers to one, and there is one."""
        if attribute.ref_attr_name and body.depth:
            given = body.attributes.get(attribute.ref_attr_name)
            if given is not None:
                made.attribute.add().CopyFrom(given)
                made.attribute[-1].name = attribute.name
            return
        copy = made.attribute.add()
        copy.CopyFrom(attribute)
        for graph in (copy.g, *copy.graphs) if copy.HasField("g") or copy.graphs else ():
            nodes = list(self.expanded(list(graph.node), body, versions, inside=True))
            del graph.node[:]
            graph.node.extend(nodes)
            sparse = [tensor.values for tensor in graph.sparse_initializer]
            values = (*graph.input, *graph.output, *graph.value_info, *graph.initializer, *sparse)
            for value in values:
                value.name = self._renamed([value.name], body)[0]

    def _inlined(
        self,
        call: onnx.NodeProto,
        function: onnx.FunctionProto,
        body: _Body,
        around: Mapping[str, int],
        inside: bool,
    ) -> Iterator[onnx.NodeProto]:
        """Yield the nodes of a function in the place of a call."""
        key, where = _key(function.domain, function.name, function.overload), self._origin
        if key in self._open:
            raise ModelError(f"{where}: local function '{function.name}' calls itself")
        if body.depth >= MOST_DEPTH:
            raise ModelError(
                f"{where}: local functions call each other more than {MOST_DEPTH} deep"
            )
        if len(call.input) > len(function.input) or len(call.output) > len(function.output):
            raise ModelError(
                f"{where}: node {call.op_type} '{call.name}' has {len(call.input)} inputs and "
                f"{len(call.output)} outputs; the local function has {len(function.input)} and "
                f"{len(function.output)}"
            )
        versions = versions_of(function.opset_import, f"{where}: local function '{function.name}'")
        given = {a.name: a for a in (*function.attribute_proto, *call.attribute)}
        part = _Body(f"{call.name or call.op_type}/", versions, given, depth=body.depth + 1)
        part.names.update(dict.fromkeys(function.input, ""))
        part.names.update(zip(function.input, call.input, strict=False))
        passed = []
        for name, outer in zip(function.output, call.output, strict=False):
            if name in part.names and outer:
                passed.append((part.names[name], outer))
            elif outer:
                part.names[name] = outer
        self._open.add(key)
        yield from self.expanded(function.node, part, around, inside)
        self._open.remove(key)
        for name, outer in passed:  # an input or an output that is also another output
            yield helper.make_node("Identity", [name], [outer], self._unused(outer))

    def _versioned(
        self,
        made: onnx.NodeProto,
        node: onnx.NodeProto,
        body: _Body,
        around: Mapping[str, int],
        inside: bool,
    ) -> Mapping[str, int]:
        """Note the operator set of a node if it needs one of its own; return those inside of it."""
        version, other = body.versions.get(made.domain), around.get(made.domain)
        if version is None or version == other:
            return around
        if other is None:
            self._versions[made.domain] = version
            return {**around, made.domain: version}
        same = version in same_versions(made.op_type, made.domain, other)
        if inside:
            if made.op_type in _CHANGED and not same:
                raise ModelError(
                    f"{self._origin}: a subgraph of operator set {other} calls a local function "
                    f"of operator set {version}, whose node {made.op_type} '{node.name}' would "
                    "mean another thing there"
                )
            return around
        nested = any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)
        if same and not nested:
            return around
        self._node_versions[made.name] = version
        return {**around, made.domain: version}

    def _charge(self, node: onnx.NodeProto, body: _Body) -> None:
        """Take a node of a function from the budget, with what the call passes to it."""
        size = (len(body.prefix) + 8) * (1 + len(node.input) + len(node.output))
        for attribute in node.attribute:
            passed = body.attributes.get(attribute.ref_attr_name)
            nested = attribute.HasField("g") or attribute.graphs
            size += 0 if nested else (passed or attribute).ByteSize()
        if not self._budget.take(size, nodes=1):
            raise ModelError(
                f"{self._origin}: its {len(self._functions)} local functions would become more "
                "nodes or bytes where they are called than belong to a file of its size"
            )

    def _renamed(self, names: Iterable[str], body: _Body) -> list[str]:
        if not body.depth:
            return list(names)
        return [
            body.names.setdefault(name, self._unused(body.prefix + name))
            if name and name not in body.names
            else body.names.get(name, "")
            for name in names
        ]

    def _unused(self, name: str) -> str:
        """Return a name that no tensor and no node has, and take it."""
        found = name
        while found in self._taken:
            self._taken[name] += 1
            found = f"{name}_{self._taken[name]}"
        self._taken[found] = 1
        return found


def _key(domain: str, name: str, overload: str) -> Key:
    return (domain_of(domain), name, overload)


def _names(model: onnx.ModelProto) -> dict[str, int]:
    """Return the names of all tensors and nodes of a model, also in subgraphs, each with 1."""
    graphs = [model.graph]
    names: set[str] = set()
    for node in nodes_inside(model.graph.node):
        names.update((node.name, *node.input, *node.output))
        graphs += [g for a in node.attribute for g in (a.g, *a.graphs)]
    for graph in graphs:
        names.update(value.name for value in (*graph.input, *graph.output, *graph.initializer))
    return dict.fromkeys(names, 1)
