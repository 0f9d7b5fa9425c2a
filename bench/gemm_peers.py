"""One matrix product in other engines: y = x @ w (+ bias), weights prepared beforehand.

    numpy-fp32          np.matmul into a given array (OpenBLAS)
    torch-fp32          torch.nn.Linear
    torch-bf16          the same in bfloat16, operands and result
    torch-int8          torch.ao quantize_dynamic, engine fbgemm
    torch-onednn-int8   the same, engine onednn
    ort-fp32            MatMul and Add; onnxruntime makes one Gemm of them
    ort-int8            quantize_dynamic of that; onnxruntime runs one DynamicQuantizeMatMul
    onednn-fp32         matmul of oneDNN itself, with weights in the layout that it asks for
    onednn-bf16         the same in bfloat16, operands and result (not on every CPU)
    onednn-int32        the same of uint8 and int8, to int32; without VNNI, its sums of two products
                        saturate in int16
    litert-fp32         FULLY_CONNECTED of LiteRT, which runs it by XNNPACK
    litert-int8         the same with int8 weights, quantizing its input (dynamic range)

What is timed is the engine's ordinary call: a tensor or array in, a new one out (numpy and oneDNN
write to a given one, LiteRT to its own, from an input that was set before).
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onednn_peer
import peers

Array = npt.NDArray[Any]
Call = Callable[[], Any]


@dataclass(frozen=True)
class Peer:
    """`make` gives a call with weights of its own; each sample runs inside `around()`."""

    make: Callable[[], Call]
    around: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext


@dataclass(frozen=True)
class Product:
    """Operands of one product (float32, or uint8 and int8), and the threads it may use.

    copies: how many calls will be made. Threads of onnxruntime belong to a session: those of many
    sessions must not spin beside the one that runs.
    """

    x: Array
    w: Array
    bias: Array | None
    threads: int
    copies: int = 1


def prepare(name: str, product: Product) -> Peer | None:
    """The peer of that name, or None where what it needs is missing or it has no such product."""
    needs, ready = PEERS[name]
    return ready(product) if peers.installed(*needs) else None


def as_float(result: Any) -> Array:
    """A peer's result as float32; NumPy cannot take a bfloat16 tensor as it is."""
    return np.asarray(result if isinstance(result, np.ndarray) else result.float())


def _numpy(product: Product) -> Peer:
    import threadpoolctl

    threadpoolctl.threadpool_limits(product.threads, user_api="blas")  # until told otherwise

    def make() -> Call:
        w = product.w.copy()
        out = np.empty((len(product.x), w.shape[1]), np.float32)
        bias = product.bias
        if bias is None:
            return lambda: np.matmul(product.x, w, out=out)
        return lambda: np.add(np.matmul(product.x, w, out=out), bias, out=out)

    return Peer(make)


def _torch_linear(product: Product) -> Any:
    import torch

    torch.set_num_threads(product.threads)
    k, n = product.w.shape
    linear = torch.nn.utils.skip_init(torch.nn.Linear, k, n, bias=product.bias is not None)
    with torch.no_grad():
        linear.weight.copy_(torch.from_numpy(product.w.T))
        if product.bias is not None:
            linear.bias.copy_(torch.from_numpy(product.bias))
    return linear.eval()


def _torch_float(product: Product, dtype: str) -> Peer:
    import torch

    rows = torch.from_numpy(product.x).to(getattr(torch, dtype))

    def make() -> Call:
        module = _torch_linear(product).to(rows.dtype)
        return lambda: module(rows)

    return Peer(make, torch.inference_mode)


def _torch_int8(product: Product, engine: str) -> Peer:
    import torch

    rows = torch.from_numpy(product.x)

    def make() -> Call:
        module = peers.torch_int8(torch.nn.Sequential(_torch_linear(product)), engine)[0]
        return lambda: module(rows)

    return Peer(make, torch.inference_mode)


def _onnx(product: Product) -> Any:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    k, n = product.w.shape
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
    weights = [numpy_helper.from_array(product.w, "w")]
    if product.bias is not None:
        nodes[0].output[0] = "xw"
        nodes.append(helper.make_node("Add", ["xw", "bias"], ["y"]))
        weights.append(numpy_helper.from_array(product.bias, "bias"))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", k])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", n])],
        weights,
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    onnx.checker.check_model(model)
    return model


def _ort(product: Product, precision: str) -> Peer:
    import onnx

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fp32.onnx"
        onnx.save(_onnx(product), path)
        if precision == "int8":
            path, source = path.with_name("int8.onnx"), path
            peers.quantize_onnx(source, path)
        serialized = path.read_bytes()

    def make() -> Call:
        session = peers.ort_session(serialized, product.threads, keep_spinning=product.copies == 1)
        feed = {"x": product.x}
        return lambda: session.run(None, feed)[0]

    return Peer(make)


def _onednn(product: Product, types: str) -> Peer | None:
    """types: those of A, B and C."""
    import ml_dtypes

    a_type, b_type, c_type = (getattr(ml_dtypes, name, name) for name in types.split())
    x, w = np.ascontiguousarray(product.x, a_type), np.ascontiguousarray(product.w, b_type)
    out = np.empty((len(x), w.shape[1]), c_type)

    def make() -> Any:
        return onednn_peer.prepare(x, w, out, product.threads)

    return Peer(make) if make() else None


def _litert(product: Product, precision: str) -> Peer:
    import litert_models

    rows, int8 = len(product.x), precision == "int8"
    model = litert_models.dense(rows, product.w, product.bias, int8=int8)
    return Peer(lambda: litert_models.Session(model, product.x, product.threads))


# The packages a peer needs, and how to make it ready.
PEERS: dict[str, tuple[tuple[str, ...], Callable[[Product], Peer | None]]] = {
    "numpy-fp32": (("threadpoolctl",), _numpy),
    "torch-fp32": (("torch",), functools.partial(_torch_float, dtype="float32")),
    "torch-bf16": (("torch",), functools.partial(_torch_float, dtype="bfloat16")),
    "torch-int8": (("torch",), functools.partial(_torch_int8, engine="fbgemm")),
    "torch-onednn-int8": (("torch",), functools.partial(_torch_int8, engine="onednn")),
    "ort-fp32": (("onnxruntime", "onnx"), functools.partial(_ort, precision="fp32")),
    "ort-int8": (("onnxruntime", "onnx"), functools.partial(_ort, precision="int8")),
    "onednn-fp32": (("ml_dtypes",), functools.partial(_onednn, types="float32 float32 float32")),
    "onednn-bf16": (("ml_dtypes",), functools.partial(_onednn, types="bfloat16 bfloat16 bfloat16")),
    "onednn-int32": (("ml_dtypes",), functools.partial(_onednn, types="uint8 int8 int32")),
    "litert-fp32": (("ai_edge_litert",), functools.partial(_litert, precision="fp32")),
    "litert-int8": (("ai_edge_litert",), functools.partial(_litert, precision="int8")),
}
