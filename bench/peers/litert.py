"""LiteRT, which runs a dense layer by XNNPACK: FULLY_CONNECTED in float32, or with int8 weights.

The schema of its files is in the package, so that no converter is needed. With int8 weights, the
engine quantizes its input (dynamic range). The input is set once; the result is not copied.
"""

from functools import partial
from typing import Any

import numpy as np

from peers import Array, Call, Peer, Product, Row, rotate

NEEDS = ("ai_edge_litert", "flatbuffers")
OP_VERSION = 5  # has scales of channels, and int8 weights with float32 inputs


def _model(product: Product, *, int8: bool) -> bytes:
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    tensors: list[Any] = []
    buffers = [schema.BufferT()]  # the first of a file is empty

    def tensor(shape: tuple[int, ...], values: Array | None = None, scale: Any = None) -> int:
        made, buffer = schema.TensorT(), schema.BufferT()
        made.name, made.shape, made.buffer = f"t{len(tensors)}", list(shape), len(buffers)
        made.type = schema.TensorType.FLOAT32 if scale is None else schema.TensorType.INT8
        if values is not None:
            raw = np.ascontiguousarray(values, np.float32 if scale is None else np.int8)
            buffer.data = np.frombuffer(raw.tobytes(), np.uint8)
        if scale is not None:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale = scale.tolist()
            made.quantization.zeroPoint = [0] * len(scale)
            made.quantization.quantizedDimension = 0
        buffers.append(buffer)
        tensors.append(made)
        return len(tensors) - 1

    columns, (k, n) = product.w.T, product.w.shape
    scale = np.abs(columns).max(axis=1) / 127 if int8 else None
    x, y = tensor((len(product.x), k)), tensor((len(product.x), n))
    w = tensor((n, k), columns if scale is None else np.rint(columns / scale[:, None]), scale)
    offset = -1 if product.bias is None else tensor((n,), product.bias)  # -1: none
    code, op = schema.OperatorCodeT(), schema.OperatorT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
    code.version, op.opcodeIndex, op.inputs, op.outputs = OP_VERSION, 0, [x, w, offset], [y]
    op.builtinOptionsType = schema.BuiltinOptions.FullyConnectedOptions
    op.builtinOptions = schema.FullyConnectedOptionsT()
    op.builtinOptions.asymmetricQuantizeInputs = int8
    graph, model = schema.SubGraphT(), schema.ModelT()
    graph.tensors, graph.operators, graph.inputs, graph.outputs = tensors, [op], [x], [y]
    model.version, model.subgraphs, model.operatorCodes = 3, [graph], [code]
    model.buffers = buffers
    builder = flatbuffers.Builder()
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _product(product: Product, *, int8: bool) -> Peer:
    from ai_edge_litert.interpreter import Interpreter

    model, made = _model(product, int8=int8), []

    def make() -> Call:
        run = Interpreter(model_content=model, num_threads=product.threads)
        run.allocate_tensors()
        run.set_tensor(run.get_input_details()[0]["index"], product.x)
        made.append(run)
        call: Call = run.invoke
        return call

    def value() -> Array:
        made[0].invoke()
        result: Array = made[0].get_tensor(made[0].get_output_details()[0]["index"])
        return result

    return Peer(rotate(make, product.copies), value)


PRODUCTS = {
    f"litert-{n}": Row(NEEDS, partial(_product, int8=n == "int8")) for n in ("fp32", "int8")
}
