"""One convolution in other engines, weights prepared beforehand.

    torch-fp32         torch.nn.functional.conv, channels last (oneDNN)
    torch-fbgemm-int8  torch.ops.quantized.conv, engine fbgemm
    torch-onednn-int8  the same, engine onednn
    ort-fp32           Conv of onnxruntime; it computes in blocks of channels of its own
    ort-int8           QLinearConv, channels last
    openvino-fp32      Convolution, channels last
    openvino-int8      the same on uint8, requantized
    ncnn-fp32          Convolution of ncnn, with its Winograd (2-D only)
    mnn-fp32           Conv of MNN, with its Winograd (2-D only)
    litert-fp32        CONV_2D or DEPTHWISE_CONV_2D of LiteRT by XNNPACK, channels last (2-D only)
    litert-int8        the same on int8 with zero points of -128, which stand for uint8

What is timed is the engine's ordinary call. Engines that keep images in a layout of their own would
convert it before and after a single convolution, which they do not do inside a network: for them,
the time of a convolution is found from a sum of several (with different weights) less one.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_convolutions
import peers
import timing
from conv_layers import Layer

Array = npt.NDArray[Any]
Call = Callable[[], Any]

SUMMED = 4  # convolutions in a sum


@dataclass(frozen=True)
class Problem:
    """A layer with its operands, channels last, and the threads it may use.

    x, w: float32, or uint8 and int8. bias: float32, or int32 in units of the sums. int8
    has a w_scale for each output channel; zero points are 0, as after a ReLU.
    """

    layer: Layer
    x: Array
    w: Array
    bias: Array
    threads: int
    x_scale: float = 1.0
    w_scale: Array | None = None
    y_scale: float = 1.0

    @property
    def channels_first(self) -> Array:
        return np.ascontiguousarray(np.moveaxis(self.x, -1, 1))

    def weights(self, count: int) -> list[Array]:
        """Weights of so many convolutions, all different."""
        return [np.ascontiguousarray(np.roll(self.w, i, axis=0)) for i in range(count)]


@dataclass(frozen=True)
class Peer:
    """result: what to verify, channels last. sample, if given, measures the seconds of a call."""

    call: Call
    result: Callable[[], Array]
    sample: Callable[[], float] | None = None
    around: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext


def prepare(name: str, problem: Problem) -> Peer | None:
    """The peer of that name, or None where a package it needs is missing or has no such layer."""
    needs, ready = PEERS[name]
    return ready(problem) if peers.installed(*needs) else None


def _channels_last(y: Array) -> Array:
    return np.moveaxis(np.asarray(y), 1, -1)


def _share_of_sum(several: Call, one: Call, threads: int) -> Callable[[], float]:
    """Seconds of one convolution: what each of a sum of SUMMED takes beyond the first.

    Each session has threads of its own: those of one stop spinning before the other is timed.
    """
    more, less = timing.Contestant("sum", several), timing.Contestant("one", one)
    pause = timing.pause(threads)

    def seconds() -> float:
        whole = more.seconds(pause)
        time.sleep(pause)
        return max(whole - less.seconds(pause), 1e-9) / (SUMMED - 1)

    return seconds


def _torch_memory_format(axes: int) -> Any:
    import torch

    return {1: torch.contiguous_format, 2: torch.channels_last, 3: torch.channels_last_3d}[axes]


def _torch_fp32(p: Problem) -> Peer:
    import torch

    torch.set_num_threads(p.threads)
    layer, axes = p.layer, len(p.layer.size)
    format_ = _torch_memory_format(axes)
    x = torch.from_numpy(p.channels_first).contiguous(memory_format=format_)
    module = getattr(torch.nn, f"Conv{axes}d")(
        layer.inputs,
        layer.outputs,
        layer.kernel,
        layer.stride,
        layer.pads,
        layer.dilation,
        layer.groups,
    ).eval()
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(p.w))
        module.bias.copy_(torch.from_numpy(p.bias))
    module = module.to(memory_format=format_)
    return Peer(lambda: module(x), lambda: _channels_last(module(x)), around=torch.inference_mode)


def _torch_int8(p: Problem, engine: str) -> Peer:
    import torch

    torch.set_num_threads(p.threads)
    torch.backends.quantized.engine = engine
    layer, axes = p.layer, len(p.layer.size)
    format_ = _torch_memory_format(axes)
    assert p.w_scale is not None
    scales = torch.from_numpy(p.w_scale.astype(np.float64))
    w = torch._make_per_channel_quantized_tensor(
        torch.from_numpy(p.w), scales, torch.zeros(layer.outputs, dtype=torch.int64), 0
    )
    x = torch._make_per_tensor_quantized_tensor(
        torch.from_numpy(p.channels_first), p.x_scale, 0
    ).contiguous(memory_format=format_)
    bias = torch.from_numpy((p.bias * p.x_scale * p.w_scale).astype(np.float32))
    geometry = [[layer.stride] * axes, list(layer.pads), [layer.dilation] * axes, layer.groups]
    packed = getattr(torch.ops.quantized, f"conv{axes}d_prepack")(w, bias, *geometry)
    run = getattr(torch.ops.quantized, f"conv{axes}d")
    call = functools.partial(run, x, packed, p.y_scale, 0)
    return Peer(call, lambda: _channels_last(call().int_repr()), around=torch.inference_mode)


def _ort_fp32(p: Problem) -> Peer:
    x = p.channels_first
    feed = {"x": x}

    def session(count: int) -> Call:
        model = onnx_convolutions.sum_of_convolutions(p.layer, p.weights(count), p.bias)
        ready = peers.ort_session(model.SerializeToString(), p.threads)
        return lambda: ready.run(None, feed)[0]

    one = session(1)
    return Peer(one, lambda: _channels_last(one()), _share_of_sum(session(SUMMED), one, p.threads))


def _ort_int8(p: Problem) -> Peer:
    model = onnx_convolutions.quantized(p.layer, p.w, p.bias, p.x_scale, p.w_scale, p.y_scale)
    session = peers.ort_session(model.SerializeToString(), p.threads)
    feed = {"x": p.x}

    def call() -> Array:
        result: Array = session.run(None, feed)[0]
        return result

    return Peer(call, call)


def _openvino(p: Problem, precision: str) -> Peer:
    import openvino
    import openvino_convolutions

    make = getattr(openvino_convolutions, precision)
    options: dict[str, Any] = {
        "INFERENCE_NUM_THREADS": p.threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
    }
    if precision == "fp32":
        options["INFERENCE_PRECISION_HINT"] = "f32"
    request = openvino.Core().compile_model(make(p), "CPU", options).create_infer_request()
    request.set_input_tensor(openvino.Tensor(p.x, shared_memory=True))

    def result() -> Array:
        request.infer()
        values: Array = request.get_output_tensor().data
        return values

    return Peer(request.infer, result)


def _ncnn(p: Problem) -> Peer | None:
    import ncnn

    layer = p.layer
    if len(layer.size) != 2:
        return None
    pixels = p.channels_first[0]
    x = ncnn.Mat(pixels).clone()  # the first shares the memory of pixels

    def network(count: int) -> Call:
        net = ncnn.Net()
        net.opt.num_threads = p.threads
        for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
            setattr(net.opt, f"use_{option}", False)
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder) / name) for name in ("net.param", "net.bin")]
            Path(files[0]).write_text(_ncnn_text(layer, p.w.size, count))
            parts = [b"\0\0\0\0" + w.tobytes() + p.bias.tobytes() for w in p.weights(count)]
            Path(files[1]).write_bytes(b"".join(parts))
            if net.load_param(files[0]) or net.load_model(files[1]):
                raise RuntimeError(f"ncnn does not load {layer.name}")

        def run() -> tuple[Any, Any]:
            extractor = net.create_extractor()  # owns the memory of its results
            extractor.input("x", x)
            return extractor, extractor.extract("y")[1]

        return run

    one = network(1)

    def result() -> Array:
        extractor, y = one()
        copied = np.array(y)[None].copy()
        del extractor
        return _channels_last(copied)

    return Peer(one, result, _share_of_sum(network(SUMMED), one, p.threads))


def _ncnn_text(layer: Layer, weights: int, count: int) -> str:
    """A network of one convolution x -> y, or of a sum, in ncnn's text format."""
    values: dict[int, int] = {
        0: layer.outputs,
        1: layer.kernel[1],
        11: layer.kernel[0],
        2: layer.dilation,
        3: layer.stride,
        4: layer.pads[1],
        14: layer.pads[0],
        5: 1,
        6: weights,
    }
    kind = "Convolution"
    if layer.groups > 1:
        kind = "ConvolutionDepthWise"
        values[7] = layer.groups
    geometry = " ".join(f"{key}={value}" for key, value in values.items())
    lines = ["Input x 0 1 x"]
    if count == 1:
        lines.append(f"{kind} c0 1 1 x y {geometry}")
    else:
        inputs, outputs = ([f"{name}{i}" for i in range(count)] for name in "xy")
        lines.append(f"Split s 1 {count} x {' '.join(inputs)}")
        for i, (source, target) in enumerate(zip(inputs, outputs, strict=True)):
            lines.append(f"{kind} c{i} 1 1 {source} {target} {geometry}")
        lines.append(f"Eltwise add {count} 1 {' '.join(outputs)} y 0=1")
    blobs = 2 if count == 1 else 2 * count + 2
    return "\n".join(["7767517", f"{len(lines)} {blobs}", *lines]) + "\n"


def _mnn(p: Problem) -> Peer | None:
    import _tools  # MNN's converter; its command line module installs packages when imported
    import MNN
    import onnx

    if len(p.layer.size) != 2:
        return None
    x = MNN.Tensor(
        p.channels_first.shape,
        MNN.Halide_Type_Float,
        p.channels_first,
        MNN.Tensor_DimensionType_Caffe,
    )

    def network(count: int) -> tuple[Call, Callable[[], Array]]:
        model = onnx_convolutions.sum_of_convolutions(p.layer, p.weights(count), p.bias)
        with tempfile.TemporaryDirectory() as folder:
            source, target = (str(Path(folder) / name) for name in ("net.onnx", "net.mnn"))
            onnx.save(model, source)
            convert = ["-f", "ONNX", "--modelFile", source, "--MNNModel", target, "--bizCode", "b"]
            _tools.mnnconvert(["mnnconvert", *convert])
            interpreter = MNN.Interpreter(target)
        session = interpreter.createSession(
            {"backend": "CPU", "numThread": p.threads, "precision": "high"}
        )
        interpreter.getSessionInput(session).copyFrom(x)

        def result() -> Array:
            interpreter.runSession(session)
            shape = (1, p.layer.outputs, *p.layer.output)
            y = MNN.Tensor(
                shape,
                MNN.Halide_Type_Float,
                np.zeros(shape, np.float32),
                MNN.Tensor_DimensionType_Caffe,
            )
            interpreter.getSessionOutput(session).copyToHostTensor(y)
            return _channels_last(np.array(y.getData(), np.float32).reshape(shape))

        return lambda: interpreter.runSession(session), result

    (several, _), (one, result) = network(SUMMED), network(1)
    return Peer(one, result, _share_of_sum(several, one, p.threads))


def _litert(p: Problem) -> Peer | None:
    import litert_models

    if len(p.layer.size) != 2:
        return None
    model = litert_models.convolution(p.layer, p.w, p.bias, p.x_scale, p.w_scale, p.y_scale)
    quantized = p.w_scale is not None
    x = (p.x ^ 128).view(np.int8) if quantized else p.x  # p.x less 128
    session = litert_models.Session(model, x, p.threads)

    def result() -> Array:
        y = session().float()
        return y.astype(np.int16) - litert_models.ZERO_POINT if quantized else y

    return Peer(session, result)


# The packages a peer needs, and how to make it ready.
PEERS: dict[str, tuple[tuple[str, ...], Callable[[Problem], Peer | None]]] = {
    "torch-fp32": (("torch",), _torch_fp32),
    "ort-fp32": (("onnxruntime", "onnx"), _ort_fp32),
    "openvino-fp32": (("openvino",), functools.partial(_openvino, precision="fp32")),
    "ncnn-fp32": (("ncnn",), _ncnn),
    "mnn-fp32": (("MNN", "onnx"), _mnn),
    "torch-fbgemm-int8": (("torch",), functools.partial(_torch_int8, engine="fbgemm")),
    "torch-onednn-int8": (("torch",), functools.partial(_torch_int8, engine="onednn")),
    "ort-int8": (("onnxruntime", "onnx"), _ort_int8),
    "openvino-int8": (("openvino",), functools.partial(_openvino, precision="int8")),
    "litert-fp32": (("ai_edge_litert",), _litert),
    "litert-int8": (("ai_edge_litert",), _litert),
}
