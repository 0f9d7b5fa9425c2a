"""Encoders in other engines, each used only when it is installed.

Every peer is prepared as its own documentation advises, with an explicit number of threads:

    torch-fp32        torch.nn, fused attention
    torch-bf16        the same, weights and activations in bfloat16
    torch-int8        torch.ao.quantization.quantize_dynamic, engine fbgemm
    ort-fp32          torch.onnx.export → onnxruntime.transformers.optimizer
    ort-int8          quantize_dynamic (per channel, int8 weights) of that
    openvino-fp32     the plain export, LATENCY hint, inference precision f32
    openvino-bf16     the same at bf16
    openvino-int8     nncf.quantize of the plain export (static), what is left at f32
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import peers
from exports import Array, Exports

# (batch, length) int64 ids and, where rows are padded, their mask
# -> (batch, length, hidden) float32
Forward = Callable[..., Array]

BERT_PEERS = (
    "torch-fp32",
    "torch-bf16",
    "torch-int8",
    "ort-fp32",
    "ort-int8",
    "openvino-fp32",
    "openvino-bf16",
    "openvino-int8",
)


def available(name: str, exports: Exports) -> bool:
    """Whether the packages that this peer and its files need are installed."""
    engine, _, precision = name.partition("-")
    if engine == "torch":
        return peers.installed("torch", "transformers")
    exporter = peers.installed("onnx") and (
        exports.config["model_type"] == "bert" or peers.installed("torch", "transformers")
    )
    if not exporter and not (exports.folder / "plain.onnx").exists():
        return False
    if engine == "ort":
        return peers.installed("onnxruntime", "onnx", "sympy")  # the optimizer needs the last
    made = precision != "int8" or exports.openvino_int8_path().exists()
    return peers.installed("openvino") and (made or peers.installed("nncf"))


def peer(name: str, exports: Exports, threads: int) -> Forward:
    """A ready peer; its files are made if they are not there yet."""
    engine, _, precision = name.partition("-")
    make = {"torch": _torch, "ort": _ort, "openvino": _openvino}[engine]
    return make(exports, precision, threads)


def _torch(exports: Exports, precision: str, threads: int) -> Forward:
    import torch

    module = exports.torch()
    if precision == "int8":
        module = peers.torch_int8(module)
    elif precision == "bf16":
        module = module.to(torch.bfloat16)

    def forward(ids: Array, mask: Array | None = None) -> Array:
        torch.set_num_threads(threads)
        given = {name: torch.from_numpy(value) for name, value in exports.feed(ids, mask).items()}
        if mask is None:
            del given["attention_mask"]
        with torch.inference_mode():
            result: Array = module(**given).last_hidden_state.float().numpy()
            return result

    return forward


def _ort(exports: Exports, precision: str, threads: int) -> Forward:
    path = exports.int8_onnx() if precision == "int8" else exports.optimized_onnx()
    session = peers.ort_session(str(path), threads)

    def forward(ids: Array, mask: Array | None = None) -> Array:
        result: Array = session.run(["last_hidden_state"], exports.feed(ids, mask))[0]
        return result

    return forward


def openvino_options(precision: str, threads: int, hint: str) -> dict[str, Any]:
    return {
        "PERFORMANCE_HINT": hint,
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32",
    }


def openvino_model(exports: Exports, precision: str, threads: int, hint: str = "LATENCY") -> Any:
    """A compiled model; hint: LATENCY, or THROUGHPUT for requests that run side by side."""
    import openvino

    options = openvino_options(precision, threads, hint)
    path = exports.openvino_int8() if precision == "int8" else exports.plain_onnx()
    return openvino.Core().compile_model(path, "CPU", options)


def _openvino(exports: Exports, precision: str, threads: int) -> Forward:
    request = openvino_model(exports, precision, threads).create_infer_request()

    def forward(ids: Array, mask: Array | None = None) -> Array:
        result: Array = request.infer(exports.feed(ids, mask))["last_hidden_state"]
        return result

    return forward
