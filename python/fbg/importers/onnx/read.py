"""Reads an ONNX file into a `Network`, and reports all errors in the file."""

from __future__ import annotations

import heapq
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import helper

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.files import open_regular, stand_in
from fbg.importers.description import UNKNOWN, Network, Node, TensorType
from fbg.importers.onnx.budget import Budget
from fbg.importers.onnx.check import GRAPHS, require_valid_node
from fbg.importers.onnx.counting import require_few_fields
from fbg.importers.onnx.inlining import inline_functions
from fbg.importers.onnx.opsets import (
    import_used,
    versions_of,
    with_plain_domains,
)
from fbg.importers.onnx.sizes import shape_of
from fbg.importers.onnx.tensors import Tensors, require_few_axes
from fbg.importers.onnx.widening import (
    can_widen,
    widened_array,
    widened_node,
    widened_type,
    with_casts,
)

DENSE = "tensor_type"
OVERRIDABLE_SINCE = 4  # version of the format in which inputs may have initializers as defaults
MOST_BYTES = 2**31 - 1  # limit of a protobuf message


def read_network(path: str | os.PathLike[str]) -> Network:
    """Return the network of a file; external data is looked for beside it.

    Raises ModelError naming the file, and the node or tensor that is wrong.
    """
    file = Path(path)
    model = onnx.ModelProto()
    try:
        with open_regular(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            if size > MOST_BYTES:
                raise ModelError(f"{file}: has {size} bytes; no ONNX file has more than 2 GiB")
            data = opened.read()
        if (what := stand_in(data[:64])) is not None:
            raise ModelError(f"{file}: {what}")
        require_few_fields(data, str(file))
        model.ParseFromString(data)
        del data
    except OSError as error:
        raise ModelError(f"{file}: cannot be read: {error.strerror or error}") from error
    except DecodeError as error:
        raise ModelError(f"{file}: not an ONNX file, or cut short: {error}") from None
    return read_model(model, str(file), file.parent)


def read_model(
    model: onnx.ModelProto,
    origin: str,
    directory: Path | None,
    known: Mapping[str, Array] = MappingProxyType({}),
    node_versions: Mapping[str, int] = MappingProxyType({}),
) -> Network:
    """Return the network of a model in memory.

    directory: of external data, if any. known: tensors besides those of the model.
    node_versions: operator sets of nodes, by name, where they differ from the model's.
    """
    if not model.HasField("graph"):
        raise ModelError(f"{origin}: not an ONNX model: it has no graph")
    if not model.opset_import:
        raise ModelError(f"{origin}: does not say which operator set its nodes are from")
    versions, own_versions = versions_of(model.opset_import, origin), dict(node_versions)
    budget = Budget.of(model.ByteSize())
    model = inline_functions(with_plain_domains(model), origin, budget, versions, own_versions)
    import_used(model.graph.node, versions, origin)
    reader = _Reader(origin, versions, own_versions, Tensors(directory, budget))
    if can_widen(model.graph):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        model, reader.casts = copy, with_casts(copy.graph)
    network = reader.network(model.graph, known)
    if model.ir_version >= OVERRIDABLE_SINCE and reader.casts is None:
        stored = [value for value in model.graph.input if value.name in network.constants]
        network = replace(network, overridable={v.name: _type_of(v, origin) for v in stored})
    return network


@dataclass
class _Reader:
    """Reads graphs. versions: operator sets. node_versions: those of nodes by name, if others.

    casts: if 16-bit floats are widened, the nodes that cast inputs and outputs; else None.
    """

    origin: str
    versions: dict[str, int]
    node_versions: Mapping[str, int]
    tensors: Tensors
    casts: Collection[str] | None = None

    def network(
        self,
        graph: onnx.GraphProto,
        known: Mapping[str, Array],
        around: Collection[str] | None = None,
    ) -> Network:
        """Return a graph as a network. around: if it is a branch, the tensors that it captures."""
        origin = self.origin
        constants = dict(known)
        for tensor in (*graph.initializer, *graph.sparse_initializer):
            name, values = self._read(tensor, origin)
            constants[name] = values  # of several with a name, the last one counts
        inputs = {v.name: _type_of(v, origin) for v in graph.input if v.name not in constants}
        outputs = {
            v.name: _type_of(v, origin) if _kind(v) == DENSE else UNKNOWN for v in graph.output
        }
        declared = {v.name: _type_of(v, origin) for v in graph.value_info if _kind(v) == DENSE}
        if self.casts is not None:
            declared = {name: widened_type(kind) for name, kind in declared.items()}
        nodes = [self._node(proto, i) for i, proto in enumerate(graph.node)]
        given = {*inputs, *constants, *(around or ())}
        ordered = _in_order(_unique_names(nodes), given, origin)
        computed = {*given, *(name for node in ordered for name in node.outputs)}
        for name in outputs:
            if name not in computed:
                raise ModelError(f"{origin}: nothing computes output '{name}'")
        if not outputs:
            raise ModelError(f"{origin}: the graph has no outputs")
        return Network(origin, inputs, outputs, constants, ordered, self.versions, declared)

    def _node(self, proto: onnx.NodeProto, index: int) -> Node:
        origin, domain = self.origin, proto.domain
        name = proto.name or f"{proto.op_type}_{index}"
        versions = _own(proto, self.versions, self.node_versions)
        where = f"{origin}: node {proto.op_type} '{name}'"
        own = self.tensors.own(proto, where)
        if self.casts is not None and name not in self.casts:
            proto = own = widened_node(own)
        require_valid_node(own, versions, where)
        attributes: dict[str, Any] = {}
        graphs: list[onnx.GraphProto] = []
        for attribute, owned in zip(proto.attribute, own.attribute, strict=True):
            if attribute.type == onnx.AttributeProto.TENSOR:
                attributes[attribute.name] = self.tensors.read(attribute.t, where)
            elif attribute.type == onnx.AttributeProto.SPARSE_TENSOR:
                attributes[attribute.name] = self.tensors.dense(attribute.sparse_tensor, where)
            elif attribute.type in GRAPHS:
                graphs += [owned.g, *owned.graphs]
            else:
                value = helper.get_attribute_value(attribute)
                attributes[attribute.name] = value.decode() if isinstance(value, bytes) else value
        return Node(
            proto.op_type,
            domain,
            name,
            tuple(proto.input),
            tuple(proto.output),
            attributes,
            versions[domain],
            tuple(dict.fromkeys(name for graph in graphs for name in _captures(graph))),
            own,
            versions if graphs else {},
            self._branches(own, domain, versions, where),
        )

    def _read(
        self, tensor: onnx.TensorProto | onnx.SparseTensorProto, where: str
    ) -> tuple[str, Array]:
        """Return the name of an initializer, and its values."""
        sparse = isinstance(tensor, onnx.SparseTensorProto)
        name = tensor.values.name if sparse else tensor.name
        values = (self.tensors.dense if sparse else self.tensors.read)(tensor, where)
        return name, values if self.casts is None else widened_array(values)

    def _branches(
        self, node: onnx.NodeProto, domain: str, versions: dict[str, int], where: str
    ) -> tuple[Network, ...]:
        """Return the branches of an If, then and else; none if they hold more than tensors."""
        if (domain, node.op_type) != ("", "If"):
            return ()
        named = {attribute.name: attribute.g for attribute in node.attribute}
        graphs = {name: named[name] for name in ("then_branch", "else_branch")}
        for graph in graphs.values():
            outputs = {value.name for value in graph.output if _kind(value) in (None, DENSE)}
            if len(outputs) != len(node.output) or graph.input or graph.sparse_initializer:
                return ()
        return tuple(
            _Reader(f"{where}: {name}", versions, {}, self.tensors).network(
                graph, {}, _captures(graph)
            )
            for name, graph in graphs.items()
        )


def _own(
    proto: onnx.NodeProto, versions: dict[str, int], node_versions: Mapping[str, int]
) -> dict[str, int]:
    """Return the versions of the operator sets as a node sees them."""
    version = node_versions.get(proto.name)
    return versions if version is None else {**versions, proto.domain: version}


def _kind(value: onnx.ValueInfoProto) -> str | None:
    """Return which kind of type a file declares for a tensor, or None if it declares none."""
    return value.type.WhichOneof("value")  # type: ignore[no-any-return]


def _type_of(value: onnx.ValueInfoProto, origin: str) -> TensorType:
    kind = _kind(value)
    if kind != DENSE:
        found = kind or "no type"
        raise ModelError(f"{origin}: tensor '{value.name}' must be a dense tensor, got {found}")
    tensor = value.type.tensor_type
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except (KeyError, TypeError, ValueError):
        number = tensor.elem_type
        raise ModelError(f"{origin}: tensor '{value.name}' has unknown type {number}") from None
    if not tensor.HasField("shape"):
        return TensorType(dtype, None)
    require_few_axes(len(tensor.shape.dim), f"{origin}: tensor '{value.name}'")
    return TensorType(dtype, shape_of(tensor.shape))


def _captures(graph: onnx.GraphProto) -> list[str]:
    """Return the tensors that a subgraph reads from outside."""
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    outside: list[str] = []
    for node in graph.node:
        read = list(node.input)
        for attribute in node.attribute:
            for graph_inside in (attribute.g, *attribute.graphs):
                read += _captures(graph_inside)
        outside += [name for name in read if name and name not in own]
        own.update(node.output)
    return outside + [value.name for value in graph.output if value.name not in own]


def _unique_names(nodes: list[Node]) -> list[Node]:
    """Return the nodes with numbers after names that occur several times."""
    seen: set[str] = set()
    counts: dict[str, int] = {}  # so that no number is tried twice
    renamed = []
    for node in nodes:
        name = node.name
        while name in seen:
            counts[node.name] = counts.get(node.name, 1) + 1
            name = f"{node.name}_{counts[node.name]}"
        seen.add(name)
        renamed.append(node if name == node.name else replace(node, name=name))
    return renamed


def _in_order(nodes: list[Node], known: set[str], origin: str) -> list[Node]:
    """Return the nodes sorted so that every tensor is computed before it is read, and as they are
    where they already are."""
    writers: dict[str, Node] = {}
    for node in nodes:
        for name in filter(None, node.outputs):
            if name in writers or name in known:
                raise ModelError(f"{origin}: node {node.title} writes tensor '{name}' again")
            writers[name] = node
    for node in nodes:
        for name in node.reads:
            if name not in writers and name not in known:
                raise ModelError(
                    f"{origin}: node {node.title} reads tensor '{name}', which nothing computes"
                )
    places = {node.name: place for place, node in enumerate(nodes)}
    missing = [
        {places[writers[name].name] for name in node.reads if name in writers} for node in nodes
    ]
    readers: list[list[int]] = [[] for _ in nodes]
    for place, needed in enumerate(missing):
        for other in needed:
            readers[other].append(place)
    ready = [place for place, needed in enumerate(missing) if not needed]  # a heap
    ordered: list[Node] = []
    while ready:
        place = heapq.heappop(ready)
        ordered.append(nodes[place])
        for reader in readers[place]:
            missing[reader].discard(place)
            if not missing[reader]:
                heapq.heappush(ready, reader)
    if len(ordered) < len(nodes):
        stuck = next(node for node, needed in zip(nodes, missing, strict=True) if needed)
        raise ModelError(f"{origin}: node {stuck.title} depends on its own output")
    return ordered
