"""One dense layer or convolution as a model of LiteRT, which runs it by XNNPACK.

The schema of its files is in the package (ai-edge-litert), so that no converter is needed. int8
convolutions take uint8 less 128: LiteRT has zero points, and -128 makes them the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from conv_layers import Layer

Array = npt.NDArray[Any]

ZERO_POINT = -128
OP_VERSION = 5  # has scales of channels, and int8 weights with float32 inputs


@dataclass
class Model:
    """A graph under construction; operators run in the order in which they are added."""

    tensors: list[Any] = field(default_factory=list)
    buffers: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)
    codes: list[Any] = field(default_factory=list)

    def tensor(
        self,
        shape: Sequence[int],
        dtype: str,
        values: Array | None = None,
        scale: Array | float | None = None,
        zero_point: int = 0,
        axis: int = 0,
    ) -> int:
        """Return its number. values: of a constant. scale: one, or one for each index of axis."""
        from ai_edge_litert import schema_py_generated as schema

        result, buffer = schema.TensorT(), schema.BufferT()
        result.name, result.shape = f"t{len(self.tensors)}", list(shape)
        result.type = getattr(schema.TensorType, dtype.upper())
        if values is not None:
            buffer.data = np.frombuffer(np.ascontiguousarray(values, dtype).tobytes(), np.uint8)
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            result.quantization = schema.QuantizationParametersT()
            result.quantization.scale = scales.tolist()
            result.quantization.zeroPoint = [zero_point] * len(scales)
            result.quantization.quantizedDimension = axis
        self.buffers.append(buffer)
        result.buffer = len(self.buffers)  # the first of a file is empty
        self.tensors.append(result)
        return len(self.tensors) - 1

    def add(self, operator: str, kind: str, inputs: list[int], output: int, **options: Any) -> None:
        """operator, kind: the names of an operator and of its options in the schema."""
        from ai_edge_litert import schema_py_generated as schema

        code, result = schema.OperatorCodeT(), schema.OperatorT()
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, operator)
        code.version = OP_VERSION if kind != "PadOptions" else 1
        result.opcodeIndex = len(self.codes)
        result.inputs, result.outputs = inputs, [output]
        result.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        result.builtinOptions = getattr(schema, f"{kind}T")()
        for name, value in options.items():
            setattr(result.builtinOptions, name, value)
        self.codes.append(code)
        self.operators.append(result)

    def serialized(self, source: int, target: int) -> bytes:
        """The file of a graph with one input and one output."""
        import flatbuffers
        from ai_edge_litert import schema_py_generated as schema

        graph, model = schema.SubGraphT(), schema.ModelT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs = [source], [target]
        model.version, model.subgraphs, model.operatorCodes = 3, [graph], self.codes
        model.buffers = [schema.BufferT(), *self.buffers]
        builder = flatbuffers.Builder()
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class Session:
    """A model with an input that is set once."""

    def __init__(self, model: bytes, x: Array, threads: int) -> None:
        from ai_edge_litert.interpreter import Interpreter

        self._interpreter = Interpreter(model_content=model, num_threads=threads)
        self._interpreter.allocate_tensors()
        source, target = (
            details()[0]["index"]
            for details in (
                self._interpreter.get_input_details,
                self._interpreter.get_output_details,
            )
        )
        self._interpreter.set_tensor(source, x)
        self._target = target

    def __call__(self) -> Session:
        self._interpreter.invoke()
        return self

    def float(self) -> Array:
        """A copy of the result, whatever its type, by the name that tensors have for it."""
        result: Array = self._interpreter.get_tensor(self._target)
        return result


def dense(rows: int, w: Array, bias: Array | None, *, int8: bool) -> bytes:
    """x @ w + bias. w: (K, N) float32. int8: weights are quantized, inputs by the engine."""
    k, n = w.shape
    model = Model()
    x, y = model.tensor((rows, k), "float32"), model.tensor((rows, n), "float32")
    columns = w.T
    if int8:
        scale = np.abs(columns).max(axis=1) / 127
        weights = model.tensor((n, k), "int8", np.rint(columns / scale[:, None]), scale)
    else:
        weights = model.tensor((n, k), "float32", columns)
    offset = -1 if bias is None else model.tensor((n,), "float32", bias)  # -1: none
    options = {"asymmetricQuantizeInputs": True} if int8 else {}
    model.add("FULLY_CONNECTED", "FullyConnectedOptions", [x, weights, offset], y, **options)
    return model.serialized(x, y)


def convolution(
    layer: Layer,
    w: Array,
    bias: Array,
    x_scale: float = 1.0,
    w_scale: Array | None = None,
    y_scale: float = 1.0,
) -> bytes:
    """A 2-D convolution; float32 without w_scale, int8 with one for each output channel."""
    dtype = "float32" if w_scale is None else "int8"
    scales = (None, None) if w_scale is None else (x_scale, y_scale)
    model = Model()
    x = model.tensor((1, *layer.size, layer.inputs), dtype, None, scales[0], ZERO_POINT)
    y = model.tensor((1, *layer.output, layer.outputs), dtype, None, scales[1], ZERO_POINT)
    source, same = x, layer.stride == 1 and layer.output == layer.size
    if any(layer.pads) and not same:  # with a stride, LiteRT's own padding is not symmetric
        size = [n + 2 * p for n, p in zip(layer.size, layer.pads, strict=True)]
        source = model.tensor((1, *size, layer.inputs), dtype, None, scales[0], ZERO_POINT)
        pads = np.array([(0, 0), *((p, p) for p in layer.pads), (0, 0)])
        model.add("PAD", "PadOptions", [x, model.tensor((4, 2), "int32", pads)], source)
    depthwise = layer.groups == layer.inputs > 1
    values = np.moveaxis(w, (0, 1), (3, 0)) if depthwise else np.moveaxis(w, 1, 3)
    axis = 3 if depthwise else 0
    weights = model.tensor(values.shape, dtype, values, w_scale, axis=axis)
    units = None if w_scale is None else x_scale * w_scale
    offset = model.tensor((layer.outputs,), "float32" if w_scale is None else "int32", bias, units)
    options = {
        "padding": int(not same),  # SAME or VALID
        "strideH": layer.stride,
        "strideW": layer.stride,
        "dilationHFactor": layer.dilation,
        "dilationWFactor": layer.dilation,
    }
    if depthwise:
        options["depthMultiplier"] = layer.outputs // layer.inputs
    name = "DEPTHWISE_CONV_2D" if depthwise else "CONV_2D"
    kind = "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions"
    model.add(name, kind, [source, weights, offset], y, **options)
    return model.serialized(x, y)
