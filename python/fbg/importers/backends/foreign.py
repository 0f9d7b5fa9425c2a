"""Shared code of the back ends that take ONNX models: makes a model of a part."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.importers.backends.base import ForeignPart, TypedNode
from fbg.importers.description import TensorType
from fbg.importers.onnx.folding import node_proto

MOST_REPEATED = 2**16  # most bytes of an initializer that repeats one element
_NEWEST_IR = 10  # IR version that every runtime of recent years reads


def part_model(part: ForeignPart) -> onnx.ModelProto:
    """Return a part as a model: its constants as initializers, its border as inputs and outputs."""
    model = onnx.ModelProto(ir_version=_NEWEST_IR)
    model.opset_import.extend(helper.make_opsetid(*item) for item in _oldest_versions(part).items())
    graph = model.graph
    graph.name = "part"
    graph.input.extend(_value(name, part.ops) for name in part.inputs)
    graph.output.extend(_value(name, part.ops) for name in part.outputs)
    constants = dict.fromkeys(name for op in part.ops for name in op.node.reads)
    for name in constants:
        known = part.ops[0].constants
        if name in known and name not in part.inputs:
            _add_constant(graph, name, known[name])
    graph.node.extend(node_proto(op.node) for op in part.ops)
    return model


def _add_constant(graph: onnx.GraphProto, name: str, values: Array) -> None:
    """Add an initializer; if it repeats an element, each run expands it, as in the file."""
    if values.nbytes <= MOST_REPEATED or any(values.strides):
        dense = np.asarray(values, order="C")
        graph.initializer.append(numpy_helper.from_array(dense, name))
        return
    shape = np.array(values.shape, np.int64)
    one = values[(0,) * values.ndim]
    for part, value in ((f"{name}/shape", shape), (f"{name}/element", np.asarray(one))):
        graph.initializer.append(numpy_helper.from_array(value, part))
    graph.node.append(helper.make_node("Expand", [f"{name}/element", f"{name}/shape"], [name]))


def _oldest_versions(part: ForeignPart) -> dict[str, int]:
    """Return the oldest operator sets in which all ops mean the same: runtimes may be older."""
    versions: dict[str, int] = {}
    for op in part.ops:
        node = op.node
        try:
            since = onnx.defs.get_schema(node.op, node.version, node.domain).since_version
        except onnx.defs.SchemaError:
            since = node.version
        # Nodes of subgraphs are not looked at one by one.
        for domain, version in {node.domain: since, **node.versions}.items():
            versions[domain] = max(version, versions.get(domain, 1))
    return versions


def _value(name: str, ops: tuple[TypedNode, ...]) -> onnx.ValueInfoProto:
    kind = next((op.types[name] for op in ops if name in op.types), None)
    if kind is None:
        return helper.make_value_info(name, onnx.TypeProto())
    element = helper.np_dtype_to_tensor_dtype(kind.dtype)
    return helper.make_tensor_value_info(name, element, kind.shape)


def written(part: ForeignPart, name: str, value: Any, out: Array | None) -> Array:
    """Return a tensor that a part has computed: copied to `out` if given, else unchanged.

    Raises ModelError if its type is not the one for which all other parts were prepared.
    """
    found = np.asarray(value)
    if out is None:
        return found
    if (found.dtype, found.shape) != (out.dtype, out.shape):
        title = next(op.node.title for op in part.ops if name in op.node.outputs)
        raise ModelError(
            f"node {title}: tensor '{name}' must be {TensorType(out.dtype, out.shape)} by the file "
            f"or by inference, got {TensorType(found.dtype, found.shape)}"
        )
    np.copyto(out, found)
    return out


def failure(part: ForeignPart, backend: str, error: Exception) -> ModelError:
    """Return the exception to raise for one that another runtime raised while it ran a part."""
    titles = ", ".join(op.node.title for op in part.ops[:3])
    more = f" and {len(part.ops) - 3} more" if len(part.ops) > 3 else ""
    reason = " ".join(str(error).split()) or type(error).__name__
    return ModelError(f"node {titles}{more} failed on {backend}: {reason}")


def modelled_seconds(op: TypedNode) -> float:
    """Return the time of an op at 100 G operations and 10 GB a second."""
    return op.operations / 100e9 + op.bytes / 10e9 + 1e-6
