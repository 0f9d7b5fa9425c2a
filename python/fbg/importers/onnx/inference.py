"""Infers the types of all tensors of a network, and folds constants.

The nodes are walked once, in order. Constant ones are computed (folding.py); the other
nodes get the types that ONNX's own inference gives them. The shape of a tensor is known as soon as
the shapes of its inputs are, so ``Shape`` and ops that depend on it are computed, too. If the
condition of an If is known, the nodes of its branch take its place, and are walked next; so do the
nodes that an operator of onnxruntime's own consists of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.importers.description import UNKNOWN, Constants, Network, Node, TensorType, needed
from fbg.importers.onnx.branches import Inlining, branch_of, with_names
from fbg.importers.onnx.expansion import Expanding
from fbg.importers.onnx.folding import Compute, Folding, node_proto
from fbg.importers.onnx.foreign_types import foreign_types
from fbg.importers.onnx.opsets import schema_of, with_defaults
from fbg.importers.onnx.shapes import output_shape
from fbg.importers.onnx.sizes import shape_of
from fbg.importers.ops.registry import OPS

UNKNOWN_TO_ONNX = ("GroupNormalization", "MeanVarianceNormalization")  # the type is that of input 0
# The inputs of attention that hold keys and values of former tokens.
PASTS = {
    ("", "Attention"): (4, 5),
    ("com.microsoft", "Attention"): (4,),
    ("com.microsoft", "GroupQueryAttention"): (3, 4),
    ("com.microsoft", "MultiHeadAttention"): (6, 7),
}
MOST_SHAPE_ELEMENTS = 2**12  # most elements of a tensor whose values inference may read


@dataclass
class Inferred:
    """types: for every tensor. constants: tensors that are known. nodes: those that remain.

    network: the network with branches in place of If.
    """

    types: dict[str, TensorType]
    constants: Constants
    nodes: list[Node]
    network: Network


def infer(
    network: Network,
    inputs: Mapping[str, TensorType],
    bound: Mapping[str, Array],
    kept: Collection[str] | None = None,
    compute: Compute | None = None,
) -> Inferred:
    """Return types and constants for these types of the inputs.

    bound: values of inputs that are treated as constants. kept: names of If nodes that stay even if
    their condition is known; None: all. compute: what computes nodes whose results depend on the
    back end; None: they are not computed. Raises ModelError where shapes disagree.
    """
    inlining = Inlining(network, kept)
    waiting, network = deque(network.nodes), inlining.network
    expanding = Expanding(network, waiting, kept or ())
    constants = Constants({**network.constants, **bound})

    def predict(node: Node) -> dict[str, TensorType]:
        return _output_types(node, types, constants, network, compute)

    folding = Folding(constants, predict, compute)
    types = {name: TensorType(value.dtype, value.shape) for name, value in constants.items()}
    types.update({name: inputs[name] for name in inputs if name not in bound})
    constants.update(_empty(inputs))
    left: list[Node] = []
    while waiting:
        node = waiting.popleft()
        part = expanding.expansion(node, types, constants) or inlining.branch(node, constants)
        if part is not None:
            constants.update(part.constants)
            types.update((name, TensorType(x.dtype, x.shape)) for name, x in part.constants.items())
            folding.give(part.constants)
            waiting.extendleft(reversed(part.nodes))
            continue
        weights = folding.weights(node)
        if weights is not None and weights.integers.itemsize == 1:
            constants.weights[node.outputs[0]] = weights
            types[node.outputs[0]] = TensorType(np.dtype(np.float32), weights.shape)
            continue
        if weights is not None:
            found: dict[str, Array] | None = {node.outputs[0]: weights.dequantized()}
        else:
            found = folding.shape(node, types) or folding.empty_product(node, types)
            found = found or folding.compute(node)
        if found is not None:
            for name, value in found.items():
                constants[name] = value
                types[name] = TensorType(value.dtype, value.shape)
            continue
        node = _without_empty_past(node, types)
        made = predict(node)
        types.update(made)
        empty = _empty({name: made.get(name, UNKNOWN) for name in node.outputs if name})
        constants.update(empty)
        if not empty or len(empty) < len(list(filter(None, node.outputs))):
            left.append(node)
    return Inferred(types, constants, needed(left, network.outputs), network)


def _empty(types: Mapping[str, TensorType]) -> dict[str, Array]:
    """Return the tensors without elements, which are known by their types."""
    return {
        name: np.empty(kind.fixed, kind.dtype)
        for name, kind in types.items()
        if kind.fixed is not None and 0 in kind.fixed and kind.dtype.kind not in "OSU"
    }


def _without_empty_past(node: Node, types: Mapping[str, TensorType]) -> Node:
    """Return an attention without the keys and values of no tokens, which may as well be absent."""
    places = PASTS.get((node.domain, node.op), ())
    given = [node.inputs[i] for i in places if i < len(node.inputs) and node.inputs[i]]
    shapes = [types[name].fixed for name in given if name in types]
    nothing = all(shape and 0 not in (*shape[:-2], shape[-1]) and not shape[-2] for shape in shapes)
    if not given or len(shapes) < len(given) or not nothing:
        return node
    return with_names(node, dict.fromkeys(given, ""))


def _output_types(
    node: Node,
    types: dict[str, TensorType],
    constants: Constants,
    network: Network,
    compute: Compute | None,
) -> dict[str, TensorType]:
    """Return the types of the outputs as ONNX infers them, without unknown ones."""
    declared = {
        name: network.declared.get(name, network.outputs.get(name))
        for name in filter(None, node.outputs)
    }
    fallback = {name: k for name, k in declared.items() if k is not None and k is not UNKNOWN}
    if node.branches and all(name in types for name in node.reads):
        return {**fallback, **_results_of_branches(node, types, constants, compute)}
    known_inputs = all(name in types for name in node.reads)
    schema = schema_of(node.op, node.domain, node.version)
    if schema is None:
        whole = all(kind is not None and kind.fixed is not None for kind in declared.values())
        found_types = foreign_types(node, types, constants) if known_inputs and not whole else {}
        return {**fallback, **found_types}
    if not known_inputs:
        return fallback
    versions = {**network.versions, node.domain: max(node.version, schema.since_version)}
    opsets = [helper.make_opsetid(domain, v) for domain, v in versions.items()]
    read, values = _told(node, types, constants)
    try:
        found = onnx.shape_inference.infer_node_outputs(
            schema,
            with_defaults(node_proto(node), schema),
            {name: _proto(kind) for name, kind in read.items()},
            {name: numpy_helper.from_array(value, name) for name, value in values.items()},
            opset_imports=opsets,
        )
        shape = output_shape(node, types, constants)
    except Exception as error:
        shapes = ", ".join(f"{name}: {types[name]}" for name in node.reads)
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise ModelError(
            f"{network.origin}: node {node.title} does not fit its inputs ({shapes}): {reason}"
        ) from None
    result = dict(fallback)
    for name, proto in found.items():
        if proto.WhichOneof("value") == "tensor_type" and proto.tensor_type.elem_type:
            inferred = _from_proto(proto)
            if shape is not None:
                inferred = TensorType(inferred.dtype, shape)
            # fbg's own ops write as much as the shape says: declarations of a file are not trusted.
            if inferred.shape is not None or name not in result or (node.domain, node.op) in OPS:
                result[name] = inferred
    if node.op in UNKNOWN_TO_ONNX and node.domain == "":
        result[node.outputs[0]] = types[node.inputs[0]]
    return result


def _told(
    node: Node, types: Mapping[str, TensorType], constants: Constants
) -> tuple[dict[str, TensorType], dict[str, Array]]:
    """Return the types, and the values as far as they are known, that ONNX's inference may read."""
    read = {name: types[name] for name in node.reads}
    values = {
        name: np.asarray(constants[name], order="C")
        for name in node.inputs
        if name in constants and _count(types[name]) <= MOST_SHAPE_ELEMENTS
    }
    if node.op == "OneHot":  # before version 11, inference refuses indices that runs take
        values.pop(node.inputs[0], None)
    if node.op == "Range":  # runtimes also take one element with axes
        values = {n: x.reshape(()) if x.size == 1 else x for n, x in values.items()}
        read.update((n, TensorType(x.dtype, x.shape)) for n, x in values.items())
        read = {
            n: replace(kind, shape=()) if kind.fixed == (1,) else kind for n, kind in read.items()
        }
    return read, values


def _results_of_branches(
    node: Node, types: Mapping[str, TensorType], constants: Constants, compute: Compute | None
) -> dict[str, TensorType]:
    """Return what the types of the results of the branches that can run have in common."""
    taken = branch_of(node, constants)
    branches = node.branches if taken is None else (taken,)
    found: list[list[TensorType | None]] = []
    for n, branch in enumerate(branches):
        try:
            inside = infer(branch, *captured(node, types, constants), (), compute)
        except ModelError:
            if n == len(branches) - 1 and not found:
                raise
            continue
        found.append([inside.types.get(name) for name in branch.outputs])
    kinds = map(_joined, zip(*found, strict=True))
    named = zip(node.outputs, kinds, strict=True)
    return {name: kind for name, kind in named if name and kind is not None}


def captured(
    node: Node, types: Mapping[str, TensorType], constants: Constants
) -> tuple[dict[str, TensorType], dict[str, Array]]:
    """Return the tensors that subgraphs of a node read: types of those that vary, and the others.

    Every branch of an If can be inferred and planned as a network of these inputs.
    """
    known = {name: constants[name] for name in node.captures if name in constants}
    return {name: types[name] for name in node.captures if name not in known}, known


def _joined(kinds: tuple[TensorType | None, ...]) -> TensorType | None:
    """Return what types of a result have in common; None if that is nothing."""
    first, *others = kinds
    for other in others:
        if first is None or other is None or first.dtype != other.dtype:
            return None
        one, two = first.shape, other.shape
        fit = one is not None and two is not None and len(one) == len(two)
        sizes = zip(one or (), two or (), strict=fit)
        shape = tuple(a if a == b else None for a, b in sizes) if fit else None
        first = TensorType(first.dtype, shape)
    return first


def _count(kind: TensorType) -> int:
    """Return the number of elements of a tensor that is known."""
    return kind.nbytes // kind.dtype.itemsize


def _proto(kind: TensorType) -> onnx.TypeProto:
    element = helper.np_dtype_to_tensor_dtype(kind.dtype)
    return helper.make_tensor_type_proto(element, kind.shape)


def _from_proto(proto: onnx.TypeProto) -> TensorType:
    tensor = proto.tensor_type
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if not tensor.HasField("shape"):
        return TensorType(dtype, None)
    return TensorType(dtype, shape_of(tensor.shape))
