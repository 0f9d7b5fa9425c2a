"""A network with its types as a graph of typed ops, fused."""

from __future__ import annotations

from collections.abc import Iterable

from fbg.graph.graph import Graph
from fbg.graph.ops.op import Shape
from fbg.graph.ops.tensors import Foreign
from fbg.graph.packed_weights import Packer
from fbg.graph.passes.fuse import fuse
from fbg.graph.refusal import Unsupported, refusing
from fbg.importers.backends.base import TypedNode
from fbg.importers.description import TensorType
from fbg.importers.onnx.inference import Inferred
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.registry import OPS
from fbg.importers.placement.choice import Placement


def describe(
    ops: Iterable[TypedNode],
    inputs: Iterable[str],
    outputs: Iterable[str],
    inferred: Inferred,
    placement: Placement,
    packer: Packer,
) -> Graph:
    """Return the graph of a network, with its outputs in the same order.

    Nodes that fbg computes become ops of tensors, other nodes become one op for each output.
    An op that fbg refuses is placed again.
    """
    builder = Builder(inferred.constants, packer)
    for name in inputs:
        kind = inferred.types[name]
        builder.add_input(name, kind.fixed or (), kind.dtype)
    for op in ops:
        _add(builder, op, placement)
    for name in outputs:
        builder.graph.output(builder.value(name))
    return fuse(builder.graph.pruned(), packer)


def _add(builder: Builder, op: TypedNode, placement: Placement) -> None:
    builder.node = op.node.name
    while (backend := placement.backend(op)).name == "fbg":
        try:
            with refusing(op.node.name):
                OPS[op.node.domain, op.node.op].build(builder, op)
            return
        except Unsupported as refused:
            placement.refuse(Unsupported(op.node.name, refused.reason))
    read = tuple(builder.value(name) for name in op.node.reads)
    for name in filter(None, op.node.outputs):
        shape, dtype = _printed(op.types.get(name))
        foreign = Foreign(read, name, op.node.op, backend.name, shape, dtype)
        builder.values[name] = builder.add(foreign)


def _printed(kind: TensorType | None) -> tuple[Shape, str]:
    """Return a shape, as far as it is known, and the name of the element type."""
    if kind is None:
        return ("…",), "unknown"
    if kind.shape is None:
        return ("…",), str(kind.dtype)
    return tuple("?" if size is None else size for size in kind.shape), str(kind.dtype)
