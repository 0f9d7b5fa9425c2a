"""What every measured peer needs: is it installed, how is it set up, how is it quantized."""

from __future__ import annotations

import importlib.util
import logging
import multiprocessing
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


def installed(*packages: str) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


def quietly(make: Callable[[], None]) -> None:
    """Run a converter without its progress and deprecation messages."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make()
    finally:
        logging.disable(logging.NOTSET)


def in_own_process(function: Callable[..., Result], *arguments: Any) -> Result:
    """Return what a function of a module returns, called in a process of its own.

    Raises what the function raises, and ChildProcessError if the process died.
    """
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            raise ChildProcessError("its process died") from None


def quantize_onnx(source: Path, target: Path) -> None:
    """Dynamic quantization: weights to int8 per channel, activations when they arrive."""

    def make() -> None:
        import onnx
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(
            str(source),
            str(target),
            per_channel=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )

    quietly(make)


def torch_int8(module: Any, engine: str = "fbgemm") -> Any:
    """Dynamic quantization of the Linear layers of a module, a scale for each output channel.

    The engine that is set while weights are packed is the one that runs them, whatever is set
    later: linear_dynamic is a method of the packed weights.
    """
    import torch

    torch.backends.quantized.engine = engine
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layers = {torch.nn.Linear: torch.ao.quantization.per_channel_dynamic_qconfig}
        return torch.ao.quantization.quantize_dynamic(module, layers)


def ort_session(model: bytes | str, threads: int, *, keep_spinning: bool = True) -> Any:
    """keep_spinning: threads wait busily for the next run, which is what ORT does by default."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    if not keep_spinning:
        options.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
