"""A checkpoint in the formats of other engines: made once, kept in a folder, used by bert_peers.

plain.onnx           torch.onnx.export
optimized.onnx       onnxruntime.transformers.optimizer of that
int8.onnx            quantize_dynamic (per channel, int8 weights) of that
openvino-int8*.xml   nncf.quantize of the plain export (static); the name tells by a digest of
                     the calibrating token ids which they were
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import peers

Array = npt.NDArray[Any]

# What the forward of a family takes, by model_type; all int64 of shape (batch, length).
INPUTS = {
    "bert": ("input_ids", "attention_mask", "token_type_ids"),
    "roberta": ("input_ids", "attention_mask"),
    "distilbert": ("input_ids", "attention_mask"),
}


@dataclass(frozen=True, eq=False)
class Exports:
    """A Hugging Face directory, and the folder of what peers derive from it.

    calibration: (1, length) token ids each, for static quantization.
    pooler: exports compute the pooler's output too, if the checkpoint has one.
    digest: calibration is part of the name of what it made.
    """

    checkpoint: Path
    folder: Path
    calibration: tuple[Array, ...]
    pooler: bool = True
    digest: bool = True

    @functools.cached_property
    def config(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.checkpoint / "config.json").read_text())
        return result

    @functools.cached_property
    def inputs(self) -> tuple[str, ...]:
        return INPUTS[self.config["model_type"]]

    def feed(self, ids: Array, mask: Array | None = None) -> dict[str, Array]:
        """The inputs of a batch under their names; no mask means that every token counts."""
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids) if mask is None else mask}
        if "token_type_ids" in self.inputs:
            inputs["token_type_ids"] = np.zeros_like(ids)
        return inputs

    def torch(self, attention: str = "sdpa") -> Any:
        import torch
        import transformers

        transformers.utils.logging.disable_progress_bar()
        pooler = {} if "dim" in self.config else {"add_pooling_layer": self.pooler}
        return transformers.AutoModel.from_pretrained(
            self.checkpoint, attn_implementation=attention, dtype=torch.float32, **pooler
        ).eval()

    def plain_onnx(self) -> Path:
        path = self.folder / "plain.onnx"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            feed = self.feed(self.calibration[0])
            # Of eager attention the optimizer of onnxruntime knows how to make one operator.
            peers.quietly(lambda: _export(self.torch("eager"), feed, path))
        return path

    def optimized_onnx(self) -> Path:
        path = self.folder / "optimized.onnx"
        if not path.exists():
            source, config = self.plain_onnx(), self.config

            def make() -> None:
                from onnxruntime.transformers import optimizer

                model = optimizer.optimize_model(
                    str(source),
                    model_type="bert",
                    num_heads=config.get("num_attention_heads", config.get("n_heads")),
                    hidden_size=config.get("hidden_size", config.get("dim")),
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

    def openvino_int8_path(self) -> Path:
        """Where that is or will be."""
        if not self.digest:
            return self.folder / "openvino-int8.xml"
        ids = hashlib.sha256(b"".join(batch.tobytes() for batch in self.calibration))
        return self.folder / f"openvino-int8-{ids.hexdigest()[:8]}.xml"

    def openvino_int8(self) -> Path:
        path = self.openvino_int8_path()
        if not path.exists():
            source = self.plain_onnx()

            def make() -> None:
                import nncf
                import openvino

                model = openvino.Core().read_model(source)
                quantized = nncf.quantize(
                    model,
                    nncf.Dataset([self.feed(ids) for ids in self.calibration]),
                    model_type=nncf.ModelType.TRANSFORMER,
                )
                openvino.save_model(quantized, path, compress_to_fp16=False)

            peers.quietly(make)
        return path


def _export(model: Any, feed: dict[str, Array], path: Path) -> None:
    import torch

    outputs = ["last_hidden_state"]
    if getattr(model, "pooler", None) is not None:
        outputs.append("pooler_output")

    class Positional(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: Any) -> Any:
            result = self.model(**dict(zip(feed, inputs, strict=True)))
            return tuple(result[name] for name in outputs)

    dynamic = {0: "batch", 1: "length"}
    partial = path.with_suffix(".partial")
    with torch.no_grad():
        torch.onnx.export(
            Positional().eval(),
            tuple(torch.from_numpy(value) for value in feed.values()),
            str(partial),
            input_names=list(feed),
            output_names=outputs,
            dynamic_axes=dict.fromkeys([*feed, "last_hidden_state"], dynamic),
            opset_version=17,
            dynamo=False,
        )
    partial.replace(path)
