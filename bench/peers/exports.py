"""A checkpoint in the formats of other engines: made once, kept in a folder.

plain.onnx           torch.onnx.export; that of a BERT does without torch
optimized.onnx       onnxruntime.transformers.optimizer of that
int8.onnx            quantize_dynamic (per channel, int8 weights) of that
openvino-int8*.xml   nncf.quantize of the plain export (static); the name tells by a digest of
                     the calibrating token ids which they were
genai-*              folders of OpenVINO GenAI: one of these networks beside the tokenizer
"""

import functools
import hashlib
import importlib
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import peers
from peers import Array

WITH_POOLER = ("bert", "roberta")  # unless it is told not to


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

    def feed(self, ids: Array, mask: Array | None = None) -> dict[str, Array]:
        """The inputs of a batch, all int64; no mask means that every token counts."""
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids) if mask is None else mask}
        if self.config["model_type"] == "bert":
            inputs["token_type_ids"] = np.zeros_like(ids)
        return inputs

    def torch(self, attention: str = "sdpa") -> Any:
        import torch
        import transformers

        transformers.utils.logging.disable_progress_bar()
        transformers.utils.logging.set_verbosity_error()  # not that a pooler is left out
        if self.config["model_type"] == "deberta-v2":
            attention = "eager"  # it has no other
        pooled = self.config["model_type"] in WITH_POOLER
        pooler = {"add_pooling_layer": self.pooler} if pooled else {}
        model = transformers.AutoModel.from_pretrained(
            self.checkpoint, attn_implementation=attention, dtype=torch.float32, **pooler
        )
        model.config.use_cache = False  # of decoders: keys and values for a next token
        return model.eval()

    def plain_onnx(self) -> Path:
        def make(path: Path) -> None:
            if peers.installed("torch", "transformers"):
                # The optimizer of onnxruntime can make one operator of eager attention.
                _export(self.torch("eager"), self.feed(self.calibration[0]), path)
            else:  # the same nodes, but without a pooler
                tests = importlib.import_module("material").of_tests("exported_bert")
                tests.export_bert(self.checkpoint, path)

        return self._kept("plain.onnx", make)

    def optimized_onnx(self) -> Path:
        """Decoders are exported plainly: the optimizer knows none of them; ORT fuses norms."""
        if "num_key_value_heads" in self.config:
            return self.plain_onnx()

        def make(path: Path) -> None:
            from onnxruntime.transformers import optimizer

            model = optimizer.optimize_model(
                str(self.plain_onnx()),
                model_type="bert",
                num_heads=self.config.get("num_attention_heads", self.config.get("n_heads")),
                hidden_size=self.config.get("hidden_size", self.config.get("dim")),
                # What onnxruntime does before needs torch here; a session does it as well.
                opt_level=None if peers.installed("torch") else 0,
            )
            fused = {k: n for k, n in model.get_fused_operator_statistics().items() if n}
            print(f"onnxruntime fused {fused}", file=sys.stderr)
            model.save_model_to_file(str(path))

        return self._kept("optimized.onnx", make)

    def int8_onnx(self) -> Path:
        ort = importlib.import_module("peers.ort")
        return self._kept(
            "int8.onnx", functools.partial(ort.quantize_dynamic, self.optimized_onnx())
        )

    def openvino_int8_path(self) -> Path:
        """Where that is or will be."""
        if not self.digest:
            return self.folder / "openvino-int8.xml"
        ids = hashlib.sha256(b"".join(batch.tobytes() for batch in self.calibration))
        return self.folder / f"openvino-int8-{ids.hexdigest()[:8]}.xml"

    def openvino_int8(self) -> Path:
        def make(path: Path) -> None:
            engine = importlib.import_module("peers.openvino")
            feeds = [self.feed(ids) for ids in self.calibration]
            engine.quantize(self.plain_onnx(), path, feeds, transformer=True)

        return self._kept(self.openvino_int8_path().name, make)

    def genai(self, precision: str) -> Path:
        network = self.openvino_int8() if precision == "int8" else self.plain_onnx()

        def make(path: Path) -> None:
            import openvino
            import openvino_tokenizers
            import transformers

            reader = transformers.AutoTokenizer.from_pretrained(self.checkpoint)
            models = {
                "openvino_model.xml": openvino.Core().read_model(network),
                "openvino_tokenizer.xml": openvino_tokenizers.convert_tokenizer(reader),
            }
            path.mkdir()
            shutil.copy(self.checkpoint / "config.json", path)
            for name, model in models.items():
                openvino.save_model(model, path / name, compress_to_fp16=False)

        return self._kept(f"genai-{network.stem}", make)

    def _kept(self, name: str, make: Callable[[Path], None]) -> Path:
        """What the folder has by this name, made unless it is there; whole or not at all."""
        path = self.folder / name
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder) as partial:
                peers.quietly(lambda: make(Path(partial) / name))
                for file in sorted(Path(partial).iterdir()):  # a .bin before its .xml
                    file.replace(self.folder / file.name)
        return path


def available(names: Iterable[str], exports: Exports) -> list[str]:
    """The encoders of peers whose packages are installed, with those that make their files."""
    found = []
    for name in peers.available("ENCODERS", names):
        engine = name.partition("-")[0]
        exporter = peers.installed("torch", "transformers")
        exporter |= peers.installed("onnx") and exports.config["model_type"] == "bert"
        made = exporter or (exports.folder / "plain.onnx").exists()
        if name == "openvino-int8":
            made &= exports.openvino_int8_path().exists() or peers.installed("nncf")
        if made or engine == "torch":
            found.append(name)
    return found


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
            given = dict(zip(feed, inputs, strict=True))
            if model.config.model_type == "gemma3_text":
                given["attention_mask"] = _gemma_masks(model.config, given["attention_mask"])
            result = self.model(**given)
            return tuple(result[name] for name in outputs)

    dynamic = {0: "batch", 1: "length"}
    with torch.no_grad():
        torch.onnx.export(
            Positional().eval(),
            tuple(torch.from_numpy(value) for value in feed.values()),
            str(path),
            input_names=list(feed),
            output_names=outputs,
            dynamic_axes=dict.fromkeys([*feed, "last_hidden_state"], dynamic),
            opset_version=17,
            dynamo=False,
        )


def _gemma_masks(config: Any, mask: Any) -> dict[str, Any]:
    """What the model makes of a mask itself, in operations that an export can follow."""
    import torch

    places = torch.arange(mask.shape[1])
    near = (places[None, :] - places[:, None]).abs() < config.sliding_window
    every = mask[:, None, None, :].bool().expand(-1, 1, mask.shape[1], -1)

    def scores(seen: Any) -> Any:
        return torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)

    return {"full_attention": scores(every), "sliding_attention": scores(every & near)}
