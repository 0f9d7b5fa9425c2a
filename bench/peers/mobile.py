"""Engines of phones in float32, with one input and one output: MNN by its own converter of ONNX
files, ncnn by pnnx. Both keep images in layouts of their own.
"""

import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from peers import Array, Convolution, Feed, Forward, Network, Peer, Row
from peers.ort import share_of_sum

NEEDS = {"mnn": ("MNN", "onnx"), "ncnn": ("ncnn", "pnnx", "onnx")}


def _mnn(case: Network, threads: int) -> Forward:
    import MNN

    def make(result: Path) -> None:
        import _tools  # MNN's converter; its command line module installs packages when imported

        files = ["--modelFile", str(case.path), "--MNNModel", str(result)]
        _tools.mnnconvert(["mnnconvert", "-f", "ONNX", *files, "--bizCode", "b"])

    interpreter = MNN.Interpreter(str(case.made(".mnn", make)))
    config = {"backend": "CPU", "numThread": threads, "precision": "high"}
    session, kind = interpreter.createSession(config), MNN.Tensor_DimensionType_Caffe
    given, output = interpreter.getSessionInput(session), interpreter.getSessionOutput(session)
    shape = output.getShape()
    y = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), kind)

    def run(feed: Feed) -> list[Array]:
        (x,) = feed.values()
        given.copyFrom(MNN.Tensor(x.shape, MNN.Halide_Type_Float, x, kind))
        interpreter.runSession(session)
        output.copyToHostTensor(y)
        return [np.asarray(y.getNumpyData())]

    return run


def _ncnn(case: Network, threads: int) -> Forward:
    import ncnn

    def make(result: Path) -> None:
        (x,) = case.feeds[0].values()
        network = str(result.with_suffix(""))
        command = ["pnnx", str(case.path), f"inputshape=[{','.join(map(str, x.shape))}]", "fp16=0"]
        command += [f"ncnnparam={network}.param", f"ncnnbin={network}.bin"]
        command += [f"pnnx{kind}={network}.pnnx.{kind}" for kind in ("param", "bin", "onnx")]
        command += [f"pnnxpy={network}_pnnx.py", f"ncnnpy={network}_ncnn.py"]
        subprocess.run(command, check=True, capture_output=True)

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
        return [np.array(extractor.extract(target)[1])[None]]

    return run


def _convolution(p: Convolution, engine: Callable[[Network, int], Forward]) -> Peer | None:
    import onnx

    def load(model: Any, threads: int) -> Forward:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.onnx"
            onnx.save(model, path)
            return engine(Network(path, [{"x": p.channels_first}], Path(folder)), threads)

    return share_of_sum(p, load) if len(p.layer.size) == 2 else None


ENGINES = {"mnn": _mnn, "ncnn": _ncnn}
NETWORKS = {f"{name}-fp32": Row(NEEDS[name], engine) for name, engine in ENGINES.items()}
CONVOLUTIONS = {
    f"{name}-fp32": Row(NEEDS[name], partial(_convolution, engine=engine))
    for name, engine in ENGINES.items()
}
