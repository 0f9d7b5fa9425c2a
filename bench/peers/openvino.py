"""OpenVINO: convolutions channels last, networks from ONNX files, and what NNCF quantizes.

Networks and encoders get the LATENCY hint; what int8 leaves in floating point is f32.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from peers import Array, Convolution, Feed, Forward, Network, Peer, Row
from peers.exports import Exports
from peers.ort import quantize_static

NEEDS = ("openvino",)


def options(precision: str, threads: int, hint: str = "LATENCY") -> dict[str, Any]:
    """hint: LATENCY, or THROUGHPUT for requests that run side by side."""
    return {
        "PERFORMANCE_HINT": hint,
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32",
    }


def compiled(path: Path, settings: dict[str, Any], shapes: Feed | None = None) -> Any:
    """shapes: a feed with the shapes of the inputs, if they are to be fixed."""
    import openvino

    core = openvino.Core()
    model = core.read_model(str(path))
    if shapes and model.is_dynamic():
        model.reshape({name: list(x.shape) for name, x in shapes.items()})
    return core.compile_model(model, "CPU", settings)


def runner(
    path: Path, threads: int, precision: str = "fp32", shapes: Feed | None = None
) -> Forward:
    request = compiled(path, options(precision, threads), shapes).create_infer_request()
    return lambda feed: [np.asarray(y) for y in request.infer(feed).values()]


def quantize(source: Path, target: Path, feeds: Any, *, transformer: bool = False) -> None:
    """Static quantization by NNCF."""
    import nncf
    import openvino

    kind = nncf.ModelType.TRANSFORMER if transformer else None
    model = openvino.Core().read_model(str(source))
    found = nncf.quantize(model, nncf.Dataset(feeds), subset_size=len(feeds), model_type=kind)
    openvino.save_model(found, target, compress_to_fp16=False)


def _nncf(case: Network) -> Path:
    return case.made("_nncf.xml", lambda path: quantize(case.path, path, case.feeds))


def _network(case: Network, threads: int, path: Any, precision: str = "fp32") -> Forward:
    return runner(path(case), threads, precision, case.feeds[0])


def encoder_path(exports: Exports, precision: str) -> Path:
    return exports.openvino_int8() if precision == "int8" else exports.plain_onnx()


def _encoder(exports: Exports, threads: int, precision: str) -> Forward:
    return runner(encoder_path(exports, precision), threads, precision)


def _convolution(p: Convolution) -> Peer:
    """Channels last, float32, or uint8 to uint8 as quantized networks are written.

    Those have FakeQuantize around a float convolution. Without the one before it, OpenVINO computes
    the convolution in bfloat16.
    """
    import openvino
    from openvino import opset13 as ops

    layer, axes = p.layer, len(p.layer.size)
    geometry = ([layer.stride] * axes, list(layer.pads), list(layer.pads), [layer.dilation] * axes)
    ones = [1] * axes

    def by_group(values: Array) -> Array:
        split = (layer.groups, len(values) // layer.groups, *values.shape[1:])
        return values if layer.groups == 1 else values.reshape(split)

    def fake(x: Any, scale: float, scale_out: float) -> Any:
        ends = (np.float32(v) for v in (0, 255 * scale, 0, 255 * scale_out))
        return ops.fake_quantize(x, *ends, 256)

    kind = openvino.Type.f32 if p.w_scale is None else openvino.Type.u8
    given = ops.parameter(list(p.x.shape), kind, "x")
    x, w = ops.transpose(given, [0, axes + 1, *range(1, axes + 1)]), ops.constant(by_group(p.w))
    bias = p.bias
    if p.w_scale is not None:
        x = ops.multiply(ops.convert(x, "f32"), np.float32(p.x_scale))
        x = fake(x, p.x_scale, p.x_scale)
        scale = by_group(p.w_scale.reshape(-1, 1, *ones).astype(np.float32))
        w = ops.multiply(ops.convert(w, "f32"), ops.constant(scale))
        bias = (p.bias * p.x_scale * p.w_scale).astype(np.float32)
    convolve = ops.convolution if layer.groups == 1 else ops.group_convolution
    y = ops.add(convolve(x, w, *geometry), ops.constant(bias.reshape(1, -1, *ones)))
    if p.w_scale is not None:
        y = ops.convert(fake(y, p.y_scale, 1.0), "u8")
    model = openvino.Model([ops.transpose(y, [0, *range(2, axes + 2), 1])], [given])
    settings: dict[str, Any] = {
        "INFERENCE_NUM_THREADS": p.threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
    }
    if p.w_scale is None:
        settings["INFERENCE_PRECISION_HINT"] = "f32"
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    request.set_input_tensor(openvino.Tensor(p.x, shared_memory=True))

    def value() -> Array:
        request.infer()
        values: Array = request.get_output_tensor().data
        return values

    return Peer(request.infer, value)


CONVOLUTIONS = {f"openvino-{name}": Row(NEEDS, _convolution) for name in ("fp32", "int8")}
NETWORKS = {
    "openvino-fp32": Row(NEEDS, partial(_network, path=lambda case: case.path)),
    "openvino-bf16": Row(NEEDS, partial(_network, path=lambda case: case.path, precision="bf16")),
    "openvino-qdq": Row((*NEEDS, "onnxruntime"), partial(_network, path=quantize_static)),
    "openvino-nncf": Row((*NEEDS, "nncf"), partial(_network, path=_nncf)),
}
ENCODERS = {
    f"openvino-{name}": Row(NEEDS, partial(_encoder, precision=name))
    for name in ("fp32", "bf16", "int8")
}
