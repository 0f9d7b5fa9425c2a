"""Static int8 quantization of a float32 network: from the statistics of feeds to a network with
QuantizeLinear and DequantizeLinear around tensors that are multiplied, added, pooled or joined.

    weights       int8, symmetric, one scale for each output channel, at choice narrow
    biases        in convolutions, corrected by the mean error of rounding the weights
    activations   uint8, one scale and zero point for a tensor, chosen by an observer

Building the graph then finds the integers (ops/quantized.py).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from onnx import helper

from fbg.arrays import Array
from fbg.graph.passes.correction import mean_outputs
from fbg.graph.passes.rounding import round_to_nearest
from fbg.importers.description import Network, Node
from fbg.importers.int8.observe import Calibration
from fbg.importers.passes import conv_bias, with_inputs
from fbg.importers.products import by_group, has_float_weights, is_depthwise, output_axis


def quantize_network(network: Network, calibration: Calibration) -> Network:
    """Return the network with quantized weights and activations."""
    parameters = calibration.parameters
    constants = dict(network.constants)
    version = max(network.versions.get("", 13), 13)
    renamed: dict[str, str] = {}
    nodes: list[Node] = []

    def follow(names: Collection[str]) -> None:
        for name in names:
            if name in parameters:
                nodes.extend(_round_trip(name, parameters[name], constants, version))
                renamed[name] = f"{name}.dequantized"

    def reads(node: Node, name: str) -> str:
        readers = calibration.readers.get(name)
        return renamed.get(name, name) if readers is None or node.name in readers else name

    follow(network.inputs)
    for node in network.nodes:
        inputs = [reads(node, name) for name in node.inputs]
        if has_float_weights(node, constants) and inputs[0] != node.inputs[0]:
            inputs[1] = _quantized_weights(node, constants, nodes, version, calibration.narrow)
            mean = calibration.means.get(node.inputs[0])
            if node.op == "Conv" and mean is not None:
                inputs[2:] = [_corrected_bias(node, constants, mean)]
        nodes.append(with_inputs(node, tuple(inputs)))
        follow(node.outputs)
    used = {name for node in nodes for name in node.reads} | network.outputs.keys()
    constants = {name: value for name, value in constants.items() if name in used}
    return replace(network, constants=constants, nodes=nodes)


def integer_weights(node: Node, w: Array, narrow: bool) -> tuple[Array, Array]:
    """Return the integers of the weights of a product, and the scales of its outputs."""
    return round_to_nearest(w, output_axis(node), narrow and not is_depthwise(node, w))


def _quantized_weights(
    node: Node, constants: dict[str, Array], nodes: list[Node], version: int, narrow: bool
) -> str:
    """Add the integers of the weights of a node, and return the name of the dequantized weights."""
    name, axis = node.inputs[1], output_axis(node)
    q, scale = f"{name}.quantized_{axis}", f"{name}.scale_{axis}"
    result = f"{name}.dequantized_{axis}"
    if q not in constants:
        constants[q], constants[scale] = integer_weights(node, constants[name], narrow)
        nodes.append(_linear("DequantizeLinear", result, (q, scale), result, version, axis=axis))
    return result


def _corrected_bias(node: Node, constants: dict[str, Array], mean: Array) -> str:
    """Return the bias plus the mean of (w - quantized w) x: the mean lost by rounding the weights.

    mean: the mean of each channel of x. Pixels of the padding count like all others.
    """
    if len(node.inputs) > 2 and node.inputs[2] and node.inputs[2] not in constants:
        return node.inputs[2]
    name, result = node.inputs[1], f"{node.name}.corrected_bias"
    w, scale = constants[name].astype(np.float64), constants[f"{name}.scale_0"]
    error = w - constants[f"{name}.quantized_0"] * scale.reshape(-1, *[1] * (w.ndim - 1))
    lost = mean_outputs(by_group(error, mean.size).sum(axis=3), mean)
    constants[result] = (conv_bias(node, constants) + lost).astype(np.float32)
    return result


def _round_trip(
    name: str, values: tuple[Any, Any], constants: dict[str, Array], version: int
) -> list[Node]:
    """Return the nodes that quantize and dequantize a tensor."""
    parameters = (f"{name}.scale", f"{name}.zero_point")
    constants[parameters[0]] = np.asarray(values[0], np.float32)
    constants[parameters[1]] = np.asarray(values[1], np.uint8)
    q, real = f"{name}.quantized", f"{name}.dequantized"
    return [
        _linear("QuantizeLinear", q, (name, *parameters), q, version),
        _linear("DequantizeLinear", real, (q, *parameters), real, version),
    ]


def _linear(
    op: str, name: str, inputs: tuple[str, ...], output: str, version: int, **attributes: int
) -> Node:
    source = helper.make_node(op, inputs, [output], name, **attributes)
    return Node(op, "", name, inputs, (output,), attributes, version, (), source)
