"""Files whose tensors are float16 or bfloat16, as networks of float32.

Kernels sum in float32, so that nothing would be gained by rounding each result to 16 bits, as such
files say. All 16-bit floats become float32: stored tensors, declared types, and the types that
nodes name. Inputs and outputs of a run keep the types of the file: a Cast follows each of those
inputs, and precedes each of those outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fbg.arrays import Array
from fbg.importers.description import HALVES, TensorType

_KINDS = (TensorProto.FLOAT16, TensorProto.BFLOAT16)  # HALVES in files
# Attributes that name a type of elements.
_TYPES = ("to", "dtype", "output_dtype", "stash_type")
# Ops that compute nothing: a file of these alone stays as it is.
_MOVERS = """
    Cast Concat Constant ConstantOfShape DepthToSpace Expand Flatten Gather GatherElements GatherND
    Identity Pad Reshape Shape Size Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Where
"""
_DOMAINS = ("", "ai.onnx", "com.microsoft")


def can_widen(graph: onnx.GraphProto) -> bool:
    """Whether a graph computes with 16-bit floats, in tensors only, and not with their bits."""
    nodes = list(_nodes(graph))
    graphs = [graph, *(inner for node in nodes for inner in _graphs(node))]
    values = [v for g in graphs for v in (*g.input, *g.output, *g.value_info)]
    stored = [t.data_type for g in graphs for t in g.initializer]
    named = [kind for node in nodes for kind in _named(node)]
    declared = [v.type.tensor_type.elem_type for v in values]
    return (
        not {*stored, *named, *declared}.isdisjoint(_KINDS)
        and all(v.type.WhichOneof("value") in (None, "tensor_type") for v in values)
        and all(node.domain in _DOMAINS and node.op_type != "BitCast" for node in nodes)
        and not {node.op_type for node in nodes} <= set(_MOVERS.split())
    )


def widened_type(kind: TensorType) -> TensorType:
    """Return the type, of float32 if it is of 16-bit floats."""
    return TensorType(np.dtype(np.float32), kind.shape) if kind.dtype.name in HALVES else kind


def widened_array(values: Array) -> Array:
    """Return the values, as float32 if they are 16-bit floats."""
    return values.astype(np.float32) if values.dtype.name in HALVES else values


def widened_node(node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node, which holds its tensors, with float32 in the place of all 16-bit floats."""
    if not any(kind in _KINDS for inner in (node, *_inside(node)) for kind in _named(inner)) and (
        not list(_graphs(node))
    ):
        return node
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    for inner in (copy, *_inside(copy)):
        for attribute in inner.attribute:
            if attribute.name in _TYPES and attribute.i in _KINDS:
                attribute.i = TensorProto.FLOAT
            for tensor in (attribute.t, *attribute.tensors):
                _widen(tensor)
    for graph in _graphs(copy):
        for tensor in graph.initializer:
            _widen(tensor)
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type in _KINDS:
                value.type.tensor_type.elem_type = TensorProto.FLOAT
    return copy


def with_casts(graph: onnx.GraphProto) -> frozenset[str]:
    """Insert the Casts of inputs and outputs into a graph, in place; return their names."""
    stored = {tensor.name for tensor in graph.initializer}
    given = {v.name: v for v in graph.input if v.name not in stored}
    wanted = {v.name: v for v in graph.output if v.name not in given}
    taken = {name for node in _nodes(graph) for name in (*node.input, *node.output)}
    renamed: dict[str, str] = {}
    casts = []
    for name, value in (given | wanted).items():
        kind = value.type.tensor_type.elem_type
        if kind not in _KINDS:
            continue
        inner = f"{name}.float32"
        while inner in taken:
            inner += "_"
        taken.add(inner)
        renamed[name] = inner
        ends, to = ((name, inner), TensorProto.FLOAT) if name in given else ((inner, name), kind)
        casts.append(helper.make_node("Cast", [ends[0]], [ends[1]], name=f"Cast.{inner}", to=to))
    _rename(graph, renamed)
    for tensor in graph.initializer:
        tensor.name = renamed.get(tensor.name, tensor.name)
    graph.node.extend(casts)
    return frozenset(cast.name for cast in casts)


def _rename(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    """Rename the tensors that nodes read and write, also in subgraphs, whose names are others."""
    for node in _nodes(graph):
        for field in (node.input, node.output):
            field[:] = [names.get(name, name) for name in field]
        for inner in _graphs(node):
            for value in inner.output:
                value.name = names.get(value.name, value.name)


def _graphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of a node, also those in subgraphs."""
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            if graph.node or graph.output:
                yield graph
                for inner in graph.node:
                    yield from _graphs(inner)


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a graph and of its subgraphs."""
    for node in graph.node:
        yield node
        yield from _inside(node)


def _inside(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    return (inner for graph in _graphs(node) for inner in graph.node)


def _named(node: onnx.NodeProto) -> Iterable[int]:
    """Yield the types of elements that the attributes of a node name or hold."""
    for attribute in node.attribute:
        if attribute.name in _TYPES:
            yield attribute.i
        for tensor in (attribute.t, *attribute.tensors):
            yield tensor.data_type


def _widen(tensor: onnx.TensorProto) -> None:
    if tensor.data_type in _KINDS:
        values = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))
