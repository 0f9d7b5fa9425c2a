"""Values of networks that are no tensors: sequences, optional values and maps.

fbg and the buffers between back ends know tensors only. A network that makes such a value runs on
onnxruntime as a whole.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

import onnx

from fbg.importers.description import Node

TENSOR = "tensor"
_NAMES = {"seq": "a sequence", "optional": "an optional value", "map": "a map"}


def other_value(nodes: Iterable[Node], tensors: Container[str]) -> tuple[Node, str] | None:
    """Return the first node that makes a value which is no tensor, and what it makes; else None.

    tensors: names of values that are known to be tensors.
    """
    for node in nodes:
        for index, name in enumerate(node.outputs):
            kind = TENSOR if name == "" or name in tensors else _kind(node, index)
            if kind != TENSOR:
                return node, _NAMES.get(kind, f"a {kind}")
    return None


def _kind(node: Node, index: int) -> str:
    """Return what an output can be by the schema, or is by the subgraphs of the node."""
    for attribute in node.source.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for value in graph.output:
                kind = (value.type.WhichOneof("value") or TENSOR).removesuffix("_type")
                if kind != TENSOR:
                    return "seq" if kind == "sequence" else kind
    try:
        outputs = onnx.defs.get_schema(node.op, node.version, node.domain).outputs
    except onnx.defs.SchemaError:
        return TENSOR
    kinds = {each.partition("(")[0] for each in outputs[min(index, len(outputs) - 1)].types}
    return TENSOR if TENSOR in kinds or not kinds else min(kinds)
