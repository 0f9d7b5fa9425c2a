"""Types of all tensors of a network, and what can be computed before any run.

The nodes are walked once, in order. A node whose inputs are all known is evaluated by
`onnx.reference`; the others get the types that ONNX's own inference gives them. The shape of a
tensor is known as soon as that of its inputs is, so ``Shape`` and what hangs on it is folded, too.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from fbg.errors import ModelError
from fbg.importers.description import Network, Node, QuantizedWeights, TensorType, needed
from fbg.importers.onnx.shapes import output_shape

__all__ = ["Inferred", "evaluate_node", "infer", "node_proto"]

Array = npt.NDArray[Any]
MOST_ELEMENTS = 2**26  # of a tensor that is computed beforehand
MOST_SHAPE_ELEMENTS = 2**12  # of a tensor whose values inference may look at

_RANDOM = {
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Multinomial",
    "Bernoulli",
    "Dropout",
}


@dataclass
class Inferred:
    """types: of every tensor. constants: tensors that are known. nodes: those that are left.

    weights: where constants come from that a DequantizeLinear has made of integers.
    """

    types: dict[str, TensorType]
    constants: dict[str, Array]
    nodes: list[Node]
    weights: dict[str, QuantizedWeights]


def infer(
    network: Network, inputs: Mapping[str, TensorType], bound: Mapping[str, Array]
) -> Inferred:
    """Return types and constants for these types of the inputs.

    bound: values of inputs that are treated as constants. Raises ModelError where shapes disagree.
    """
    constants: dict[str, Array] = {**network.constants, **bound}
    types = {name: TensorType(value.dtype, value.shape) for name, value in constants.items()}
    types.update({name: inputs[name] for name in inputs if name not in bound})
    left: list[Node] = []
    weights: dict[str, QuantizedWeights] = {}
    for node in network.nodes:
        quantized = _weights(node, constants)
        if quantized is not None:
            found: dict[str, Array] | None = {node.outputs[0]: _dequantized(quantized)}
            if quantized.integers.dtype != np.int32:
                weights[node.outputs[0]] = quantized
        else:
            found = _fold(node, types, constants, network)
        if found is not None:
            for name, value in found.items():
                constants[name] = value
                types[name] = TensorType(value.dtype, value.shape)
            continue
        types.update(_output_types(node, types, constants, network))
        left.append(node)
    return Inferred(types, constants, needed(left, network.outputs), weights)


def _weights(node: Node, constants: dict[str, Array]) -> QuantizedWeights | None:
    """Return the 8-bit integers of a DequantizeLinear of constants, or None."""
    if node.op != "DequantizeLinear" or not all(name in constants for name in node.reads):
        return None
    q, scale = (constants[name] for name in node.inputs[:2])
    named = len(node.inputs) > 2 and node.inputs[2] != ""
    zero_point = constants[node.inputs[2]] if named else np.zeros(scale.shape, q.dtype)
    whole = q.dtype in (np.int8, np.uint8, np.int32) and scale.dtype == np.float32
    axis = node.attributes.get("axis", 1) % max(q.ndim, 1)
    if not whole or not (scale.size == 1 or scale.shape == q.shape[axis : axis + 1]):
        return None
    return QuantizedWeights(q, scale, zero_point, axis)


def _dequantized(weights: QuantizedWeights) -> Array:
    q, scale, points = weights.integers, weights.scale, weights.zero_point.astype(np.int32)
    shape = () if scale.size == 1 else (-1, *[1] * (q.ndim - weights.axis - 1))
    centered = q.astype(np.int32) - points.reshape(shape)
    values: Array = centered.astype(np.float32) * scale.reshape(shape)
    return values


def _fold(
    node: Node, types: dict[str, TensorType], constants: dict[str, Array], network: Network
) -> dict[str, Array] | None:
    """Return the outputs of a node if they are known beforehand, else None."""
    if node.domain != "" or node.op in _RANDOM:
        return None
    if node.op in ("Shape", "Size") and node.inputs[0] in types:
        fixed = types[node.inputs[0]].fixed
        if fixed is not None and math.prod(fixed) < 2**63:
            return {node.outputs[0]: _shape_value(node, fixed)}
    if not all(name in constants for name in node.reads):
        return None
    sizes = constants[node.inputs[0]].ravel().tolist() if node.op == "ConstantOfShape" else []
    if math.prod(sizes) > MOST_ELEMENTS:
        return None
    if sum(constants[name].size for name in node.reads) > MOST_ELEMENTS:
        return None
    try:
        return evaluate_node(node, {name: constants[name] for name in node.reads}, network.versions)
    except Exception:  # whatever the reference cannot do is left to the back ends
        return None


def _shape_value(node: Node, shape: tuple[int, ...]) -> Array:
    if node.op == "Size":
        return np.array(math.prod(shape), np.int64)
    end = node.attributes.get("end")
    return np.array(shape[node.attributes.get("start", 0) : end], np.int64)


def node_proto(node: Node) -> onnx.NodeProto:
    """Return the node as ONNX has it."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.source)
    proto.name = node.name
    return proto


def evaluate_node(
    node: Node, values: Mapping[str, Array], versions: Mapping[str, int]
) -> dict[str, Array]:
    """Return the outputs of one node, computed by `onnx.reference`."""
    outputs = [name for name in node.outputs if name]
    graph = helper.make_graph(
        [node_proto(node)],
        "node",
        [helper.make_value_info(name, onnx.TypeProto()) for name in values],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
    )
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        results = evaluator.run(outputs, dict(values))
    return {name: np.asarray(value) for name, value in zip(outputs, results, strict=True)}


def _output_types(
    node: Node, types: dict[str, TensorType], constants: dict[str, Array], network: Network
) -> dict[str, TensorType]:
    """Return the types of the outputs as ONNX infers them; unknown ones are left out."""
    declared = {
        name: network.declared.get(name, network.outputs.get(name)) for name in node.outputs
    }
    fallback = {name: kind for name, kind in declared.items() if kind is not None}
    try:
        schema = onnx.defs.get_schema(node.op, node.version, node.domain)
    except onnx.defs.SchemaError:
        if node.domain == "":
            raise ModelError(
                f"{network.origin}: node {node.title}: operator set {node.version} has no such "
                "operator"
            ) from None
        return fallback
    if any(name not in types for name in node.reads):
        return fallback
    opsets = [helper.make_opsetid(domain, v) for domain, v in network.versions.items()]
    known = {
        name: numpy_helper.from_array(np.ascontiguousarray(constants[name]), name)
        for name in node.inputs
        if name in constants and constants[name].size <= MOST_SHAPE_ELEMENTS
    }
    try:
        found = onnx.shape_inference.infer_node_outputs(
            schema,
            node_proto(node),
            {name: _proto(types[name]) for name in node.reads},
            known,
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
            if inferred.shape is not None or name not in result:
                result[name] = inferred
    return result


def _proto(kind: TensorType) -> onnx.TypeProto:
    element = helper.np_dtype_to_tensor_dtype(kind.dtype)
    return helper.make_tensor_type_proto(element, kind.shape)


def _from_proto(proto: onnx.TypeProto) -> TensorType:
    tensor = proto.tensor_type
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    if not tensor.HasField("shape"):
        return TensorType(dtype, None)
    sizes: list[int | str | None] = [
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in tensor.shape.dim
    ]
    return TensorType(dtype, tuple(sizes))
