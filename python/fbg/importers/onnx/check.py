"""Checks a node against the schema of its operator, on which all later code relies.

ONNX's own type inference is native code that trusts the attributes of a node: it may read beyond
its arrays where they do not fit. They are checked here, before it sees them.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx
from onnx.onnx_cpp2py_export.checker import CheckerContext

from fbg.errors import ModelError
from fbg.importers.onnx.opsets import schema_of

# Names of attributes that count the axes of a tensor, and how many axes a tensor may have. All but
# batch_dims, which is a number of axes, may count from the end.
_AXIS_NAMES = frozenset({"axis", "axes", "perm", "batch_axis", "time_axis", "batch_dims"})
_MOST_AXES = 64
GRAPHS = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def require_valid_node(proto: onnx.NodeProto, versions: Mapping[str, int], where: str) -> None:
    """Raise ModelError if the inputs, outputs or attributes of a node do not fit its schema.

    versions: operator sets. where: the file and the node, for messages. The nodes of
    subgraphs are checked, too. Operators that only runtimes have, of any domain, have no schema
    here; they are left to the back ends that run them.
    """
    for attribute in proto.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for node in graph.node:
                require_valid_node(node, versions, f"{where}: inside, {node.op_type} '{node.name}'")
    domain = proto.domain
    schema = schema_of(proto.op_type, domain, versions[domain]) if domain in versions else None
    if domain == "" and schema is not None:
        _require_schema(proto, {**versions, "": max(versions[""], schema.since_version)}, where)
    for attribute in proto.attribute:
        try:
            attribute.s.decode()
        except UnicodeDecodeError:
            raise ModelError(f"{where}: attribute {attribute.name} is not UTF-8") from None
        if attribute.name in _AXIS_NAMES:
            for axis in (attribute.i, *attribute.ints):
                if abs(axis) > _MOST_AXES or (axis < 0 and attribute.name == "batch_dims"):
                    raise ModelError(f"{where}: attribute {attribute.name} is {axis}")
        elif attribute.name == "num_outputs" and attribute.i != len(proto.output) and not domain:
            raise ModelError(
                f"{where}: attribute num_outputs is {attribute.i}, but the node has "
                f"{len(proto.output)} outputs"
            )


def _require_schema(proto: onnx.NodeProto, versions: Mapping[str, int], where: str) -> None:
    context = CheckerContext()
    context.ir_version = onnx.IR_VERSION
    context.opset_imports = dict(versions)
    try:
        onnx.checker.check_node(_without_nodes(proto), context)
    except onnx.checker.ValidationError as error:
        reason = str(error).strip().splitlines()[0]
        raise ModelError(f"{where} is not valid: {reason}") from None
    except UnicodeDecodeError:  # the message quotes bytes of the file
        raise ModelError(f"{where} is not valid: it holds text that is not UTF-8") from None


def _without_nodes(proto: onnx.NodeProto) -> onnx.NodeProto:
    """Return the node with empty subgraphs: the checker would look for tensors that they read."""
    if not any(attribute.type in GRAPHS for attribute in proto.attribute):
        return proto
    shell = onnx.NodeProto(op_type=proto.op_type, domain=proto.domain, name=proto.name)
    shell.input.extend(proto.input)
    shell.output.extend(proto.output)
    for attribute in proto.attribute:
        if attribute.type not in GRAPHS:
            shell.attribute.add().CopyFrom(attribute)
            continue
        empty = shell.attribute.add(name=attribute.name, type=attribute.type)
        for graph in (empty.graphs.add() for _ in attribute.graphs):
            graph.name = "inside"
        if attribute.type == onnx.AttributeProto.GRAPH and attribute.HasField("g"):
            empty.g.name = "inside"
    return shell
