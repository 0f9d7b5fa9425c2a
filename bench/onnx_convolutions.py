"""ONNX models of one convolution, for the engines that read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from conv_layers import Layer

Array = npt.NDArray[Any]


def _geometry(layer: Layer) -> dict[str, Any]:
    axes = len(layer.size)
    return {
        "kernel_shape": list(layer.kernel),
        "strides": [layer.stride] * axes,
        "pads": [*layer.pads, *layer.pads],
        "dilations": [layer.dilation] * axes,
        "group": layer.groups,
    }


def _model(nodes: list[Any], constants: dict[str, Array], x: Any, y: Any) -> Any:
    from onnx import checker, helper, numpy_helper

    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "convolution", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    return model


def sum_of_convolutions(layer: Layer, weights: list[Array], bias: Array) -> Any:
    """float32, channels first: one convolution, or the sum of several of the same x."""
    from onnx import TensorProto, helper

    names = ["y"] if len(weights) == 1 else [f"y{i}" for i in range(len(weights))]
    nodes = [
        helper.make_node("Conv", ["x", f"w{i}", "bias"], [name], f"conv{i}", **_geometry(layer))
        for i, name in enumerate(names)
    ]
    sum_ = names[0]
    for i, name in enumerate(names[1:], 1):
        last = i == len(names) - 1
        nodes.append(helper.make_node("Add", [sum_, name], ["y" if last else f"sum{i}"]))
        sum_ = f"sum{i}"
    constants = {f"w{i}": w for i, w in enumerate(weights)}
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, layer.inputs, *layer.size])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, layer.outputs, *layer.output])
    return _model(nodes, {**constants, "bias": bias}, x, y)


def quantized(
    layer: Layer, w: Array, bias: Array, x_scale: float, w_scale: Array | None, y_scale: float
) -> Any:
    """uint8 to uint8, channels last: onnxruntime moves the transpositions away."""
    from onnx import TensorProto, helper

    axes = len(layer.size)
    first, last = [0, axes + 1, *range(1, axes + 1)], [0, *range(2, axes + 2), 1]
    zero = np.uint8(0)
    constants = {
        "x_scale": np.float32(x_scale),
        "zero": zero,
        "w": w,
        "w_scale": w_scale,
        "w_zero": np.zeros(layer.outputs, np.int8),
        "y_scale": np.float32(y_scale),
        "bias": bias,
    }
    operands = ["x_first", "x_scale", "zero", "w", "w_scale", "w_zero", "y_scale", "zero", "bias"]
    nodes = [
        helper.make_node("Transpose", ["x"], ["x_first"], "to_first", perm=first),
        helper.make_node("QLinearConv", operands, ["y_first"], "conv", **_geometry(layer)),
        helper.make_node("Transpose", ["y_first"], ["y"], "to_last", perm=last),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, *layer.size, layer.inputs])
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, [1, *layer.output, layer.outputs])
    return _model(nodes, {name: np.asarray(v) for name, v in constants.items()}, x, y)
