"""Towers for pictures in fbg, onnxruntime and OpenVINO: vectors of prepared pictures.

    python bench/towers.py --threads 1 2

A random model of the size of ViT-B/16 and its export are written to --folder if they are not there,
which needs torch and transformers. Then it measures fbg, and the engines that are installed:

ort-fp32        the export, all optimizations
ort-int8        quantize_dynamic (per channel, int8 weights) of it
openvino-fp32   the export, LATENCY hint, inference precision f32
openvino-int8   nncf.quantize of the export (static), what is left at f32
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import checkpoints
import comparison
import numpy as np
import numpy.typing as npt
import peers
import timing

import fbg

Array = npt.NDArray[Any]
Call = Callable[[Array], Array]  # (batch, 3, 224, 224) -> (batch, tokens, hidden)
CALIBRATING = 8
OURS = {"fp32": "float32", "int8": "int8"}


def pictures(count: int, seed: int) -> Array:
    """Prepared pictures that are smooth, as photographs are."""
    coarse = np.random.default_rng(seed).normal(0, 1, (count, 3, 14, 14))
    return np.asarray(coarse.repeat(16, axis=2).repeat(16, axis=3), np.float32)


def make(folder: Path) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.ViTConfig()
    model = transformers.ViTModel(config, add_pooling_layer=False).eval()
    model.save_pretrained(folder / "model")

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, pixel_values: Any) -> Any:
            return self.model(pixel_values).last_hidden_state

    torch.onnx.export(
        States(),
        (torch.from_numpy(pictures(2, 0)),),
        str(folder / "tower.onnx"),
        input_names=["pixel_values"],
        output_names=["hidden"],
        dynamic_axes={"pixel_values": {0: "n"}, "hidden": {0: "n"}},
        opset_version=17,
        dynamo=False,
    )


def ours(folder: Path, dtype: str, threads: int) -> Call:
    model = fbg.load(folder / "model", dtype=dtype, num_threads=threads)
    return lambda x: model.forward_image(x).last_hidden_state


def ort(folder: Path, precision: str, threads: int) -> Call:
    path = folder / "tower.onnx"
    if precision == "int8":
        path = folder / "tower-int8.onnx"
        if not path.exists():
            peers.quantize_onnx(folder / "tower.onnx", path)
    session = peers.ort_session(str(path), threads)
    return lambda x: session.run(None, {"pixel_values": x})[0]


def openvino(folder: Path, precision: str, threads: int) -> Call:
    import openvino as engine

    path = folder / "tower.onnx"
    if precision == "int8":
        path = folder / "tower-int8.xml"
        if not path.exists():
            import nncf

            plain = engine.Core().read_model(folder / "tower.onnx")
            data = nncf.Dataset([{"pixel_values": x[None]} for x in pictures(CALIBRATING, 1)])
            made = nncf.quantize(plain, data, model_type=nncf.ModelType.TRANSFORMER)
            engine.save_model(made, path, compress_to_fp16=False)
    options = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = engine.Core().compile_model(path, "CPU", options).create_infer_request()
    return lambda x: np.array(request.infer({"pixel_values": x})["hidden"])


def engines(folder: Path, threads: int) -> dict[str, Call]:
    found = {f"fbg-{name}": ours(folder, dtype, threads) for name, dtype in OURS.items()}
    for name, build, package in (("ort", ort, "onnxruntime"), ("openvino", openvino, "openvino")):
        if peers.installed(package):
            found |= {f"{name}-{p}": build(folder, p, threads) for p in ("fp32", "int8")}
    return found


def measure(arguments: argparse.Namespace, threads: int, report: timing.Report) -> None:
    calls = engines(arguments.folder, threads)
    for batch in arguments.batch:
        x = pictures(batch, 2)
        wanted = calls["fbg-fp32"](x)[:, 0]
        contestants = [timing.Contestant(name, partial(call, x)) for name, call in calls.items()]
        results = timing.race(contestants, timing.rounds(arguments), timing.pause(threads))
        figures = {}
        for name, call in calls.items():
            got = call(x)[:, 0]
            lengths = np.linalg.norm(got, axis=1) * np.linalg.norm(wanted, axis=1)
            cosine = float(((got * wanted).sum(axis=1) / lengths).min())
            per_picture = 1e3 * results[name].median / batch
            figures[name] = {"ms a picture": per_picture, "cosine": f"{cosine:.5f}"}
        report.add({"threads": threads, "batch": batch}, results, figures)


def main() -> None:
    parser = timing.parser((__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=checkpoints.default_cache() / "vit")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 8])
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    if not (arguments.folder / "tower.onnx").exists():
        make(arguments.folder)
    report = timing.Report("towers", arguments)
    for threads in arguments.threads:
        if any(not report.rows({"threads": threads, "batch": n}) for n in arguments.batch):
            measure(arguments, threads, report)
    print(comparison.text(report.rows({})))


if __name__ == "__main__":
    main()
