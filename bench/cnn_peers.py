"""Other engines that run a network from an ONNX file, and the files that they make of it.

    ort        ONNX Runtime: float32, and the file that its own quantizer makes (static, QDQ)
    openvino   OpenVINO: float32, bfloat16, that QDQ file, and what NNCF quantizes
    mnn        MNN: float32, converted by its own tool
    ncnn       ncnn: float32, converted by pnnx (pip install pnnx)

Files are made once and kept in a folder. Each function returns what computes the outputs of a feed.
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Feed = dict[str, Array]  # inputs by name
Forward = Callable[[Feed], list[Array]]

__all__ = ["FORWARDS", "Case", "Feed", "Forward"]


class Case:
    """A network whose inputs have the shapes of its feeds.

    path: the ONNX file. feeds: to calibrate on. kept: the folder of files that are made of it. For
    MNN and ncnn it has one input and one output.
    """

    def __init__(self, path: Path, feeds: list[Feed], kept: Path) -> None:
        self.path, self.feeds, self.kept = path, feeds, kept

    def made(self, suffix: str, make: Callable[[Path], object]) -> Path:
        """Return the file of that suffix; made once."""
        result = self.kept / f"{self.path.stem}{suffix}"
        if not result.exists():
            make(result)
        return result

    @functools.cached_property
    def qdq(self) -> Path:
        """The file as onnxruntime quantizes it."""
        return self.made("_qdq.onnx", functools.partial(_quantize, self))


def _quantize(case: Case, result: Path) -> None:
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


def _onnxruntime(case: Case, threads: int, path: Callable[[Case], Path]) -> Forward:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path(case)), options)
    return lambda feed: [np.asarray(y) for y in session.run(None, feed)]


def _openvino(
    case: Case, threads: int, path: Callable[[Case], Path], precision: str = "f32"
) -> Forward:
    import openvino

    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": precision,
    }
    core = openvino.Core()
    model = core.read_model(str(path(case)))
    if model.is_dynamic():
        model.reshape({name: list(x.shape) for name, x in case.feeds[0].items()})
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    return lambda feed: [np.asarray(y) for y in request.infer(feed).values()]


def _nncf(case: Case) -> Path:
    def make(result: Path) -> None:
        import nncf
        import openvino

        model = openvino.Core().read_model(case.path)
        feeds: Iterable[Any] = case.feeds
        quantized = nncf.quantize(model, nncf.Dataset(feeds), subset_size=len(case.feeds))
        openvino.save_model(quantized, result, compress_to_fp16=False)

    return case.made("_nncf.xml", make)


def _mnn(case: Case, threads: int) -> Forward:
    import MNN

    def make(result: Path) -> None:
        import _tools  # MNN's converter; its command line module installs packages when imported

        files = ["--modelFile", str(case.path), "--MNNModel", str(result)]
        _tools.mnnconvert(["mnnconvert", "-f", "ONNX", *files, "--bizCode", "b"])

    interpreter = MNN.Interpreter(str(case.made(".mnn", make)))
    config = {"backend": "CPU", "numThread": threads, "precision": "high"}
    session = interpreter.createSession(config)
    kind = MNN.Tensor_DimensionType_Caffe
    given, output = (
        interpreter.getSessionInput(session),
        interpreter.getSessionOutput(session),
    )
    shape = output.getShape()
    y = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), kind)

    def run(feed: Feed) -> list[Array]:
        (x,) = feed.values()
        given.copyFrom(MNN.Tensor(x.shape, MNN.Halide_Type_Float, x, kind))
        interpreter.runSession(session)
        output.copyToHostTensor(y)
        return [np.asarray(y.getNumpyData())]

    return run


def _ncnn(case: Case, threads: int) -> Forward:
    import ncnn

    def make(result: Path) -> None:
        (x,) = case.feeds[0].values()
        shape = ",".join(map(str, x.shape))
        network = str(result.with_suffix(""))
        subprocess.run(
            [
                *("pnnx", str(case.path), f"inputshape=[{shape}]", "fp16=0"),
                *(f"ncnnparam={network}.param", f"ncnnbin={network}.bin"),
                *(f"pnnx{kind}={network}.pnnx.{kind}" for kind in ("param", "bin", "onnx")),
                *(f"pnnxpy={network}_pnnx.py", f"ncnnpy={network}_ncnn.py"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    param = case.made(".ncnn.param", make)
    net = ncnn.Net()
    net.opt.num_threads = threads
    for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
        setattr(net.opt, f"use_{option}", False)
    if net.load_param(str(param)) or net.load_model(str(param.with_suffix(".bin"))):
        raise RuntimeError(f"ncnn does not load {param}")
    source, target = net.input_names()[0], net.output_names()[0]

    def run(feed: Feed) -> list[Array]:
        (x,) = feed.values()
        extractor = net.create_extractor()
        extractor.input(source, ncnn.Mat(x[0]))  # which shares the memory of x
        return [np.array(extractor.extract(target)[1])]

    return run


def _plain(case: Case) -> Path:
    return case.path


def _qdq(case: Case) -> Path:
    return case.qdq


FORWARDS: dict[str, Callable[[Case, int], Forward]] = {
    "ort-fp32": functools.partial(_onnxruntime, path=_plain),
    "ort-qdq": functools.partial(_onnxruntime, path=_qdq),
    "openvino-fp32": functools.partial(_openvino, path=_plain),
    "openvino-bf16": functools.partial(_openvino, path=_plain, precision="bf16"),
    "openvino-qdq": functools.partial(_openvino, path=_qdq),
    "openvino-nncf": functools.partial(_openvino, path=_nncf),
    "mnn-fp32": _mnn,
    "ncnn-fp32": _ncnn,
}
