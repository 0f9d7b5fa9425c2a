"""Hidden states and embeddings of every family and way to load it, saved models, and networks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from cases import SLOW, Array, Case, everywhere

import fbg

TEXTS = [
    "the cat",
    "Ada lives in the north, near York.",
    "",
    "zebra 42! over the hill; again",
    "x",
    "one two three, four " * 30,
]
LOADS: dict[str, dict[str, Any]] = {
    "float32": {"dtype": "float32"},
    "float16": {"dtype": "float16"},
    "bfloat16": {"dtype": "bfloat16"},
    "int8": {"dtype": "int8"},
    "int8-not-smoothed": {"dtype": "int8", "smooth": False},
    "int8-calibrated": {"dtype": "int8", "calibrate": TEXTS},
    "int8-mixed": {"dtype": "int8", "higher_precision": ["layers.0.*"]},
}
DTYPES = ("float32", "float16", "bfloat16", "int8")


def directories(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


def forward(model: Any, *arrays: Array | None) -> list[Any]:
    output = model.forward(*arrays)
    return [output.last_hidden_state, output.pooler_output]


def encoder_cases(model: Any, inputs: dict[str, Array], large: bool = True) -> Iterator[Case]:
    """What an encoder makes of the batches of inputs.npz; the large one may be left out."""
    holey = inputs["holey"]
    mask, types = inputs["holey_mask"], inputs.get("holey_types")
    yield "holey", forward(model, holey, mask, types)
    yield "short", forward(model, holey[:1])
    yield "single", forward(model, holey[:1, :1])
    if large:
        yield "full", forward(model, inputs["full"])


def embedding_cases(model: Any, texts: list[str]) -> Iterator[Case]:
    yield "encode", model.encode(texts)
    options = {"normalize_embeddings": True, "truncate_dim": 5, "prompt": "a: "}
    several = [model.encode(texts, batch_size=2, **options), model.encode(texts[0])]
    yield "encode-options", [*several, list(model.encode_stream(texts, normalize_embeddings=False))]


def inputs_of(path: Path) -> dict[str, Array]:
    with np.load(path / "inputs.npz") as file:
        return dict(file)


def tiny_cases(models: Path) -> Iterator[Case]:
    """Every family and way to load it, loaded under the setting that it then runs under."""
    for setting in everywhere():
        for path in directories(models / "tiny"):
            inputs = inputs_of(path)
            for kind, options in LOADS.items():
                model = fbg.load(path, **options)
                for cases in (encoder_cases(model, inputs), embedding_cases(model, TEXTS)):
                    for name, result in cases:
                        yield f"{path.name}/{kind}/{name}/{setting}", result


def wide_cases(models: Path) -> Iterator[Case]:
    """Some families of a size at which threads share the work, loaded once."""
    for path in directories(models / "wide"):
        inputs = inputs_of(path)
        for kind, options in LOADS.items():
            model = fbg.load(path, **options)
            for setting in everywhere():
                for name, result in encoder_cases(model, inputs, setting not in SLOW):
                    yield f"{path.name}/{kind}/{name}/{setting}", result


def minilm_cases(models: Path) -> Iterator[Case]:
    """all-MiniLM-L6-v2: the sentences of the tests, one by one and many at a time."""
    path = models / "minilm"
    inputs = inputs_of(path)
    texts = (models / "sentences.txt").read_text(encoding="utf-8").splitlines()
    loaded = {kind: fbg.load(path, dtype=kind) for kind in DTYPES}
    for kind, model in loaded.items():
        for setting in everywhere():
            slow = setting in SLOW
            for name, result in encoder_cases(model, inputs, not slow):
                yield f"{kind}/{name}/{setting}", result
            if slow:
                yield f"{kind}/encode/{setting}", model.encode(texts[:3])
            else:
                yield f"{kind}/encode/{setting}", model.encode(texts, batch_size=4)
                yield f"{kind}/encode-longest/{setting}", model.encode(texts[-1])

    # Quantized where it runs, of the first two layers, which is quicker.
    for setting in everywhere():
        if setting not in SLOW:
            short = fbg.load(models / "minilm-2", "int8")
            yield f"two-layers/int8/{setting}", short.encode(texts[:20])
    short = fbg.load(models / "minilm-2", "int8", calibrate=texts)
    for setting in everywhere():
        yield f"two-layers/int8-calibrated/{setting}", short.encode(texts[:5])


def tensors_of(path: Path) -> list[Any]:
    """What a safetensors file holds, without what it says of itself, such as a version."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    return [{name: header[name] for name in header if name != "__metadata__"}, data[begin:]]


def saved_cases(models: Path) -> Iterator[Case]:
    """Files that `make` saved give what they gave, and what is saved now has the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        for path in directories(models / "tiny"):
            for kind in ("float32", "int8", "int8-mixed"):
                target = Path(folder) / f"{path.name}-{kind}"
                fbg.load(path, **LOADS[kind]).save(target)
                yield f"written/{path.name}/{kind}", tensors_of(target / "fbg.safetensors")
    for path in directories(models / "saved"):
        model = fbg.load(path)
        for setting in everywhere():
            for name, result in embedding_cases(model, TEXTS):
                yield f"read/{path.name}/{name}/{setting}", result


def net_cases(models: Path) -> Iterator[Case]:
    """Networks in float32 and in int8, run under each setting."""
    for path in sorted((models / "nets").glob("*.onnx")):
        graph = onnx.load(path).graph
        given = graph.input[0]
        shape = tuple(d.dim_value or 2 for d in given.type.tensor_type.shape.dim)
        x: Array = np.random.default_rng(6).standard_normal(shape, np.float32)
        for dtype in ("float32", "int8"):
            options: dict[str, Any] = {"dtype": dtype}
            if dtype == "int8":
                options["calibrate"] = [{given.name: x}]
            with fbg.isa.limit("generic"):  # what is calibrated depends on the ISA
                net = fbg.load(path, **options)
            for setting in everywhere():
                yield f"{path.stem}/{dtype}/{setting}", net.run({given.name: x})
