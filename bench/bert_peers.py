"""BERT in other engines, each used only when it is installed.

Every peer is prepared as its own documentation advises, with an explicit number of threads:

    torch-fp32        torch.nn, eager attention
    torch-int8        torch.ao.quantization.quantize_dynamic, engine fbgemm
    ort-fp32          torch.onnx.export → onnxruntime.transformers.optimizer
    ort-int8          quantize_dynamic (per channel, int8 weights) of that
    openvino-fp32     the plain export, LATENCY hint, inference precision f32
    openvino-bf16     the same at bf16
    openvino-int8     nncf.quantize of the plain export (static, calibrated with random ids)

The ONNX and OpenVINO files of BERT-base take a minute to make and are kept in a cache directory.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

Array = npt.NDArray[Any]
Forward = Callable[[Array], Array]  # (batch, length) int64 ids -> (batch, length, hidden) float32

BERT_PEERS = (
    "torch-fp32",
    "torch-int8",
    "ort-fp32",
    "ort-int8",
    "openvino-fp32",
    "openvino-bf16",
    "openvino-int8",
)


def default_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "fbg-bench"


def tiny_bert() -> ModuleType:
    """The checkpoint writer of the tests."""
    tests = Path(__file__).resolve().parent.parent / "tests" / "python"
    if str(tests) not in sys.path:
        sys.path.append(str(tests))
    return importlib.import_module("tiny_bert")


@dataclass(frozen=True)
class RandomBert:
    """A random checkpoint and everything peers derive from it, below one cache directory."""

    geometry: str
    cache: Path

    @property
    def folder(self) -> Path:
        return self.cache / f"bert-{self.geometry}-random"

    def checkpoint(self) -> Path:
        """A Hugging Face directory; random weights, N(0, 0.02)."""
        path = self.folder / "checkpoint"
        if not (path / "tokenizer.json").exists():
            tools = tiny_bert()
            tools.write_checkpoint(path, tools.GEOMETRIES[self.geometry])
        return path

    def sizes(self) -> Any:
        return tiny_bert().GEOMETRIES[self.geometry]

    def ids(self, tokens: int, seed: int = 0) -> Array:
        """(1, tokens) random token ids."""
        generator = np.random.default_rng(seed)
        return generator.integers(0, self.sizes().vocab_size, (1, tokens), dtype=np.int64)

    def torch(self) -> Any:
        import torch
        import transformers

        transformers.utils.logging.disable_progress_bar()
        return transformers.BertModel.from_pretrained(
            self.checkpoint(), attn_implementation="eager", dtype=torch.float32
        ).eval()

    def plain_onnx(self) -> Path:
        path = self.folder / "plain.onnx"
        if not path.exists():
            peers.quietly(lambda: _export(self.torch(), self.ids(16), path))
        return path

    def optimized_onnx(self) -> Path:
        path = self.folder / "optimized.onnx"
        if not path.exists():
            source, sizes = self.plain_onnx(), self.sizes()

            def make() -> None:
                from onnxruntime.transformers import optimizer

                model = optimizer.optimize_model(
                    str(source),
                    model_type="bert",
                    num_heads=sizes.num_attention_heads,
                    hidden_size=sizes.hidden_size,
                )
                print("onnxruntime fused", model.get_fused_operator_statistics(), file=sys.stderr)
                model.save_model_to_file(str(path))

            peers.quietly(make)
        return path

    def int8_onnx(self) -> Path:
        path = self.folder / "int8.onnx"
        if not path.exists():
            peers.quantize_onnx(self.optimized_onnx(), path)
        return path

    def openvino_int8(self) -> Path:
        path = self.folder / "openvino-int8.xml"
        if not path.exists():
            source = self.plain_onnx()

            def make() -> None:
                import nncf
                import openvino

                batches = [_feed(self.ids(128, seed)) for seed in range(32)]
                model = openvino.Core().read_model(source)
                quantized = nncf.quantize(
                    model, nncf.Dataset(batches), model_type=nncf.ModelType.TRANSFORMER
                )
                openvino.save_model(quantized, path, compress_to_fp16=False)

            peers.quietly(make)
        return path


def _export(model: Any, ids: Array, path: Path) -> None:
    import torch

    class Positional(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            result = self.model(
                input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
            )
            return result.last_hidden_state, result.pooler_output

    feed = {name: torch.from_numpy(value) for name, value in _feed(ids).items()}
    dynamic = {0: "batch", 1: "length"}
    partial = path.with_suffix(".partial")
    with torch.no_grad():
        torch.onnx.export(
            Positional().eval(),
            tuple(feed.values()),
            str(partial),
            input_names=list(feed),
            output_names=["last_hidden_state", "pooler_output"],
            dynamic_axes=dict.fromkeys([*feed, "last_hidden_state"], dynamic),
            opset_version=17,
            dynamo=False,
        )
    partial.replace(path)


def _feed(ids: Array) -> dict[str, Array]:
    return {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "token_type_ids": np.zeros_like(ids),
    }


def bert(name: str, model: RandomBert, threads: int) -> Forward | None:
    """A ready peer, or None where a package it needs is missing."""
    engine, _, precision = name.partition("-")
    if engine == "torch":
        ready = peers.installed("torch", "transformers")
        return _torch_bert(model, precision, threads) if ready else None
    exporter = peers.installed("torch", "transformers", "onnx")
    exported = exporter or (model.folder / "plain.onnx").exists()
    if engine == "ort":
        ready = exported and peers.installed("onnxruntime", "onnx")
        return _ort_bert(model, precision, threads) if ready else None
    if engine == "openvino":
        converter = (model.folder / "openvino-int8.xml").exists() or peers.installed("nncf")
        ready = exported and peers.installed("openvino") and (precision != "int8" or converter)
        return _openvino_bert(model, precision, threads) if ready else None
    raise ValueError(f"unknown peer {name!r}; known: {', '.join(BERT_PEERS)}")


def _torch_bert(model: RandomBert, precision: str, threads: int) -> Forward:
    import torch

    module = model.torch()
    if precision == "int8":
        module = peers.torch_int8(module)

    def forward(ids: Array) -> Array:
        torch.set_num_threads(threads)
        with torch.inference_mode():
            result: Array = module(torch.from_numpy(ids)).last_hidden_state.numpy()
            return result

    return forward


def _ort_bert(model: RandomBert, precision: str, threads: int) -> Forward:
    path = model.int8_onnx() if precision == "int8" else model.optimized_onnx()
    session = peers.ort_session(str(path), threads)

    def forward(ids: Array) -> Array:
        result: Array = session.run(["last_hidden_state"], _feed(ids))[0]
        return result

    return forward


def _openvino_bert(model: RandomBert, precision: str, threads: int) -> Forward:
    import openvino

    core = openvino.Core()
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32",
    }
    path = model.openvino_int8() if precision == "int8" else model.plain_onnx()
    request = core.compile_model(path, "CPU", options).create_infer_request()

    def forward(ids: Array) -> Array:
        result: Array = request.infer(_feed(ids))["last_hidden_state"]
        return result

    return forward
