"""onnxruntime, and the ONNX files that it and other engines read.

Products: MatMul and Add, of which it makes one Gemm, and quantize_dynamic of that, which runs as
one DynamicQuantizeMatMul. Convolutions: Conv, in blocks of channels of its own, and QLinearConv,
channels last. Networks: the file, and what its own quantizer makes of it (static, QDQ; or dynamic).
"""

import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import timing
from shapes import Layer

from peers import (
    Call,
    Convolution,
    Feed,
    Forward,
    LookUp,
    Network,
    Peer,
    Product,
    Row,
    quietly,
    rotate,
)
from peers.exports import Exports

SUMMED = 4  # convolutions in a sum
NEEDS = ("onnxruntime", "onnx")


def session(model: bytes | str | Path, threads: int, *, spinning: bool = True) -> Any:
    """spinning: threads wait busily for the next run, which is what it does by default."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    if not spinning:
        options.add_session_config_entry("session.force_spinning_stop", "1")
    model = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def quantize_dynamic(source: Path, target: Path, **more: Any) -> None:
    """Weights to int8 per channel, activations when they arrive."""

    def make() -> None:
        import onnx
        from onnxruntime import quantization

        extra = {"DefaultTensorType": onnx.TensorProto.FLOAT}
        kind = quantization.QuantType.QInt8
        quantization.quantize_dynamic(
            str(source),
            str(target),
            per_channel=True,
            weight_type=kind,
            extra_options=extra,
            **more,
        )

    quietly(make)


def quantize_static(case: Network) -> Path:
    """The file with QDQ nodes that its quantizer makes."""

    def make(result: Path) -> None:
        from onnxruntime import quantization

        class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
            def __init__(self) -> None:
                self.left = iter(case.feeds)

            def get_next(self) -> Feed | None:
                return next(self.left, None)

        quantization.quantize_static(
            str(case.path),
            str(result),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )

    return case.made("_qdq.onnx", make)


def model_of(nodes: list[Any], constants: dict[str, Any], x: Any, y: Any, **more: Any) -> Any:
    """A model with the inputs x and more, and the output y, each (dtype of NumPy, shape)."""
    from onnx import checker, helper, numpy_helper

    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
        for name, (kind, shape) in ({"x": x} | more | {"y": y}).items()
    ]
    weights = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "one", ends[:-1], ends[-1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    return model


def _product(product: Product, precision: str) -> Peer:
    import onnx
    from onnx import helper

    (k, n), bias = product.w.shape, product.bias
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y" if bias is None else "xw"])]
    constants = {"w": product.w}
    if bias is not None:
        nodes.append(helper.make_node("Add", ["xw", "bias"], ["y"]))
        constants["bias"] = bias
    model = model_of(nodes, constants, ("float32", ["rows", k]), ("float32", ["rows", n]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fp32.onnx"
        onnx.save(model, path)
        if precision == "int8":
            path, source = path.with_name("int8.onnx"), path
            quantize_dynamic(source, path)
        serialized = path.read_bytes()

    def make() -> Call:
        ready = session(serialized, product.threads, spinning=product.copies == 1)
        return lambda: ready.run(None, {"x": product.x})[0]

    return Peer(rotate(make, product.copies))


def _geometry(layer: Layer) -> dict[str, Any]:
    axes = len(layer.size)
    return {
        "kernel_shape": list(layer.kernel),
        "strides": [layer.stride] * axes,
        "pads": [*layer.pads, *layer.pads],
        "dilations": [layer.dilation] * axes,
        "group": layer.groups,
    }


def sum_of_convolutions(p: Convolution, count: int) -> Any:
    """float32, channels first: one convolution, or the sum of several of the same x."""
    from onnx import helper

    layer, names = p.layer, ["y"] if count == 1 else [f"y{i}" for i in range(count)]
    nodes = [
        helper.make_node("Conv", ["x", f"w{i}", "bias"], [name], f"conv{i}", **_geometry(layer))
        for i, name in enumerate(names)
    ]
    if count > 1:
        nodes.append(helper.make_node("Sum", names, ["y"]))
    weights = {f"w{i}": np.ascontiguousarray(np.roll(p.w, i, axis=0)) for i in range(count)}
    x, y = [1, layer.inputs, *layer.size], [1, layer.outputs, *layer.output]
    return model_of(nodes, {**weights, "bias": p.bias}, ("float32", x), ("float32", y))


def share_of_sum(p: Convolution, run: Any) -> Peer:
    """An engine with a layout of its own, which it would convert to and from for a single layer.

    It does not do so inside a network: a convolution takes what each of a sum of SUMMED takes
    beyond the first. run: what computes the outputs of a feed, of a model and a number of threads.
    Each session has threads of its own: those of one stop spinning before the other is timed.
    """
    feed = {"x": p.channels_first}
    one, several = (partial(run(sum_of_convolutions(p, n), p.threads), feed) for n in (1, SUMMED))
    more, less = timing.Contestant("sum", several), timing.Contestant("one", one)
    pause = timing.pause(p.threads)

    def seconds() -> float:
        whole = more.seconds(pause)
        time.sleep(pause)
        return max(whole - less.seconds(pause), 1e-9) / (SUMMED - 1)

    return Peer(one, lambda: np.moveaxis(np.asarray(one()[0]), 1, -1), sample=seconds)


def _conv_int8(p: Convolution) -> Peer:
    """uint8 to uint8, channels last: onnxruntime moves the transpositions away."""
    from onnx import helper

    layer, axes = p.layer, len(p.layer.size)
    constants = {
        "x_scale": np.float32(p.x_scale),
        "zero": np.uint8(0),
        "w": p.w,
        "w_scale": p.w_scale,
        "w_zero": np.zeros(layer.outputs, np.int8),
        "y_scale": np.float32(p.y_scale),
        "bias": p.bias,
    }
    operands = ["x_first", "x_scale", "zero", "w", "w_scale", "w_zero", "y_scale", "zero", "bias"]
    first, last = [0, axes + 1, *range(1, axes + 1)], [0, *range(2, axes + 2), 1]
    nodes = [
        helper.make_node("Transpose", ["x"], ["x_first"], perm=first),
        helper.make_node("QLinearConv", operands, ["y_first"], **_geometry(layer)),
        helper.make_node("Transpose", ["y_first"], ["y"], perm=last),
    ]
    y = ("uint8", [1, *layer.output, layer.outputs])
    model = model_of(nodes, constants, ("uint8", list(p.x.shape)), y)
    ready = session(model.SerializeToString(), p.threads)
    return Peer(lambda: ready.run(None, {"x": p.x})[0])


def runner(path: Path | bytes, threads: int, outputs: list[str] | None = None) -> Forward:
    ready = session(path, threads)
    return lambda feed: [np.asarray(y) for y in ready.run(outputs, feed)]


def _dynamic(case: Network, threads: int) -> Forward:
    return runner(case.made("_dynamic.onnx", partial(quantize_dynamic, case.path)), threads)


def _encoder(exports: Exports, threads: int, int8: bool) -> Forward:
    path = exports.int8_onnx() if int8 else exports.optimized_onnx()
    return runner(path, threads, ["last_hidden_state"])


def _look_up(case: LookUp) -> list[Call]:
    """A Gather and a ReduceSum, of floats alone."""
    from onnx import helper

    if case.dtype != "float32":
        return []
    nodes = [
        helper.make_node("Gather", ["table", "x"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axis"], ["y"], keepdims=0),
    ]
    bags = len(case.sets[0]) // case.pooling
    ends = ("int64", [bags, case.pooling]), ("float32", [bags, case.columns])
    model = model_of(nodes, {"axis": np.array([1])}, *ends, table=("float32", case.rows.shape))
    ready = session(model.SerializeToString(), case.threads)
    feeds = [{"table": case.rows, "x": at.reshape(bags, case.pooling)} for at in case.sets]
    return [partial(lambda feed: ready.run(None, feed)[0], feed) for feed in feeds]


LOOKUPS = {"onnxruntime": Row(NEEDS, _look_up)}
PRODUCTS = {
    f"ort-{name}": Row(NEEDS, partial(_product, precision=name)) for name in ("fp32", "int8")
}
CONVOLUTIONS = {
    "ort-fp32": Row(
        NEEDS, lambda p: share_of_sum(p, lambda m, n: runner(m.SerializeToString(), n))
    ),
    "ort-int8": Row(NEEDS, _conv_int8),
}
NETWORKS = {
    "ort-fp32": Row(NEEDS[:1], lambda case, threads: runner(case.path, threads)),
    "ort-qdq": Row(NEEDS, lambda case, threads: runner(quantize_static(case), threads)),
    "ort-int8": Row(NEEDS, _dynamic),
}
# onnxruntime's optimizer of transformers needs the last one.
ENCODERS = {
    f"ort-{n}": Row((*NEEDS, "sympy"), partial(_encoder, int8=n == "int8"))
    for n in ("fp32", "int8")
}
