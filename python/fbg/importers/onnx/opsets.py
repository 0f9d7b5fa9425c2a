"""Operator sets: which versions a file names, and which schema a node has by them.

Runtimes take more than the format allows, and write it: operators before ONNX had them, such as
LayerNormalization of operator set 11, nodes of domains that the file does not import, and "ai.onnx"
for ONNX's own domain "". What they take is taken here, too.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator

import onnx

from fbg.errors import ModelError

OLDEST_OPSET = 6
ONNX = "ai.onnx"  # another name of the domain ""
# Domains of which onnxruntime takes the newest version if a file names none.
_IMPLIED = {"com.microsoft": 1, "com.microsoft.nchwc": 1, "com.ms.internal.nhwc": 1}


def domain_of(name: str) -> str:
    """Return the name by which a domain is known here."""
    return "" if name == ONNX else name


def versions_of(opsets: Iterable[onnx.OperatorSetIdProto], origin: str) -> dict[str, int]:
    """Return the versions of operator sets by domain; the last one counts for a domain.

    Raises ModelError for versions of ONNX's own domain that are not supported.
    """
    versions = {domain_of(opset.domain): opset.version for opset in opsets}
    newest = onnx.defs.onnx_opset_version()
    default = versions.get("", newest)
    if not OLDEST_OPSET <= default <= newest:
        raise ModelError(
            f"{origin}: operator set {default} is not supported; supported are {OLDEST_OPSET} to "
            f"{newest}"
        )
    return versions


def import_used(nodes: Iterable[onnx.NodeProto], versions: dict[str, int], origin: str) -> None:
    """Add the domains that nodes are from, or those in subgraphs, to the versions of a file.

    Raises ModelError for a domain of which the file names no version, unless runtimes know it.
    """
    for node in nodes_inside(nodes):
        if node.domain in versions:
            continue
        known = onnx.defs.C.schema_version_map().get(node.domain)
        version = _IMPLIED.get(node.domain) if known is None else known[1]
        if version is None:
            raise ModelError(
                f"{origin}: node {node.op_type} '{node.name}' is from domain '{node.domain}', of "
                "which the file names no version"
            )
        versions[node.domain] = version


@functools.lru_cache(maxsize=4096)
def schema_of(op: str, domain: str, version: int) -> onnx.defs.OpSchema | None:
    """Return the schema of an operator, or None if ONNX has none.

    An operator that this version does not have yet, or that is deprecated there, has the meaning
    of the next version that has it: runtimes had the operator before the standard did.
    """
    try:
        schema = onnx.defs.get_schema(op, version, domain)
    except onnx.defs.SchemaError:
        schema = None
    if schema is not None and not schema.deprecated:
        return schema
    newer = (s for s in _history(op, domain) if s.since_version > version and not s.deprecated)
    return min(newer, key=lambda s: s.since_version, default=None)


def with_defaults(node: onnx.NodeProto, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """Return a node, which may be changed, with the defaults of all attributes that it leaves out.

    ONNX's inference takes some attributes for another value than their default if they are absent.
    """
    given = {attribute.name for attribute in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in given and attribute.default_value.type:
            node.attribute.append(attribute.default_value)
    return node


@functools.lru_cache(maxsize=4096)
def _history(op: str, domain: str) -> tuple[onnx.defs.OpSchema, ...]:
    return tuple(s for s in _schemas() if (s.name, s.domain) == (op, domain))


@functools.cache
def _schemas() -> tuple[onnx.defs.OpSchema, ...]:
    return tuple(onnx.defs.get_all_schemas_with_history())


@functools.lru_cache(maxsize=4096)
def same_versions(op: str, domain: str, version: int) -> range:
    """Return the versions of the operator set in which an operator is the same as in this one."""
    changed = sorted(schema.since_version for schema in _history(op, domain))
    if not changed and domain != "":  # ONNX does not know
        return range(version, sys.maxsize)
    try:
        schema = onnx.defs.get_schema(op, version, domain)
        first = version if schema.deprecated else schema.since_version
    except onnx.defs.SchemaError:
        first = version
    return range(first, next((v for v in changed if v > version), sys.maxsize))


def with_plain_domains(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with "" in the place of "ai.onnx" in all nodes."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    if all(node.domain != ONNX for body in bodies for node in nodes_inside(body)):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for body in (copy.graph.node, *(function.node for function in copy.functions)):
        for node in nodes_inside(body):
            node.domain = domain_of(node.domain)
    return copy


def nodes_inside(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yield nodes, and those of their subgraphs at any depth."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from nodes_inside(graph.node)
