"""Lets onnxruntime fail by name where it would end the process or leave results unwritten.

Some of its operators do so for tensors without elements. Where shapes are known, it never gets one
(empty.py). Where they depend on values, as behind a NonZero or in a Loop, such an operator reads
its input through a Reshape that cannot be done if there is nothing:

    nothing = Cast(ReduceProd(Shape(x)) == 0)
    Reshape(x, Shape(x) - nothing * (Shape(x) + 2))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fbg.importers.description import TensorType

GUARD = "an input has no elements"  # the beginning of the names of the nodes that fail
OLDEST = 7  # operator set that broadcasts

# By operator: the inputs, and the first of the axes that must not be 0; the last one is -1.
_GUARDED: Mapping[tuple[str, str], tuple[tuple[int, ...], int]] = {
    **{("", op): ((0,), 0) for op in ("RNN", "GRU", "LSTM", "RoiAlign", "MaxRoiPool")},
    **{("", op): ((0,), -1) for op in ("MatMul", "MatMulInteger", "QLinearMatMul")},
    **{("", op): ((0,), 1) for op in ("ConvInteger", "ConvTranspose", "QLinearConv")},
    ("", "Attention"): ((0, 1, 2), 0),
    ("", "STFT"): ((0, 2), 0),
    **{
        ("com.microsoft", op): ((0,), -1)
        for op in ("DynamicQuantizeMatMul", "MatMulIntegerToFloat")
    },
    **{
        ("com.microsoft", op): ((0, 1, 2), 0)
        for op in ("Attention", "GroupQueryAttention", "MultiHeadAttention")
    },
}


def guard(graph: onnx.GraphProto, types: Mapping[str, TensorType]) -> None:
    """Guard the inputs of nodes, also those in subgraphs, whose shapes are not among the types."""
    known = {name for name, kind in types.items() if kind.fixed and 0 not in kind.fixed}
    known.update(value.name for value in graph.initializer if 0 not in value.dims)
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                guard(inner, {})
        places, first = _GUARDED.get((node.domain, node.op_type), ((), 0))
        for place in places:
            name = node.input[place] if place < len(node.input) else ""
            rank = len(types[name].shape or ()) if name in types else 0
            is_vector = node.op_type != "MatMul" or rank == 1  # those of matrices are right
            if name and name not in known and (first == 0 or rank) and is_vector:
                axes = range(rank)[first:] if first else None
                nodes += _guarded(name, f"{name}/{len(nodes)}/some", axes)
                node.input[place] = nodes[-1].output[0]
        nodes.append(node)
    if len(nodes) > len(graph.node):
        copied = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copied)


def _guarded(name: str, output: str, axes: range | None) -> Iterator[onnx.NodeProto]:
    """Yield nodes that pass a tensor on, or fail if one of the axes is 0; None: any axis."""

    def apply(op: str, *inputs: str, **attributes: Any) -> onnx.NodeProto:
        return helper.make_node(op, inputs, [f"{output}/{op}"], **attributes)

    def constant(value: object, part: str) -> onnx.NodeProto:
        tensor = numpy_helper.from_array(np.asarray(value, np.int64))
        return helper.make_node("Constant", [], [f"{output}/{part}"], value=tensor)

    shape, nothing, target = (f"{output}/{op}" for op in ("Shape", "Cast", "Sub"))
    yield apply("Shape", name)
    yield constant(0, "0")
    yield constant(2, "2")
    if axes is None:
        yield apply("ReduceProd", shape, keepdims=0)
    else:
        yield constant(list(axes), "axes")
        yield apply("Gather", shape, f"{output}/axes", axis=0)
        yield apply("ReduceProd", f"{output}/Gather", keepdims=0)
    yield apply("Equal", f"{output}/ReduceProd", f"{output}/0")
    yield apply("Cast", f"{output}/Equal", to=onnx.TensorProto.INT64)
    yield apply("Add", shape, f"{output}/2")
    yield apply("Mul", nothing, f"{output}/Add")
    yield apply("Sub", shape, f"{output}/Mul")
    yield helper.make_node("Reshape", [name, target], [output], name=f"{GUARD}: {name}")
