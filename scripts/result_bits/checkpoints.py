"""The checkpoints and inputs that the cases of models and tasks load, written once by `make`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from cases import Array

import fbg
from helpers import minilm, tiny_bert, tiny_models, tiny_tasks
from helpers.small_cnns import FAMILIES
from models import DTYPES

WIDE = ("bert", "distilbert", "albert", "mpnet", "modernbert", "modernbert-biased")
TIMES, POSITIONS = 8, 150  # of the wide ones: how many times wider, and positions
SAVED = ("bert", "albert", "modernbert")


def widened(
    config: dict[str, Any], shapes: dict[str, tuple[int, ...]]
) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """A configuration and the shapes of its tensors with TIMES the channels, and long sequences."""
    widths = ("hidden_size", "intermediate_size", "embedding_size", "dim", "hidden_dim")
    sizes = {config[key] for key in widths if key in config}
    sizes |= {3 * config.get("hidden_size", 0), 2 * config.get("intermediate_size", 0)}
    wide = {key: value * TIMES if key in widths else value for key, value in config.items()}
    wide["max_position_embeddings"] = POSITIONS

    def axis(name: str, number: int, size: int) -> int:
        if number == 0 and "position_embeddings" in name:
            return POSITIONS
        table = "relative_attention_bias" in name or (number == 0 and "_embeddings." in name)
        return size if table or size not in sizes else size * TIMES

    return wide, {
        name: tuple(axis(name, number, size) for number, size in enumerate(shape))
        for name, shape in shapes.items()
    }


def make(models: Path) -> None:
    """Write the checkpoints, with modules of the tests."""
    (models / "nets").mkdir(parents=True, exist_ok=True)
    for name, network in FAMILIES.items():
        onnx.save(network()[0], models / "nets" / f"{name}.onnx")

    def write(path: Path, config: dict[str, Any], tensors: dict[str, Array]) -> None:
        tiny_models.write_checkpoint(
            path, config, tensors, tokenizer=tiny_models.TOKENIZERS[config["model_type"]]()
        )
        np.savez(path / "inputs.npz", **tiny_models.golden_inputs(config))

    for name in tiny_models.CONFIGS:
        model = tiny_models.tiny_model(name)
        write(models / "tiny" / name, model.config, model.tensors)
        if name in WIDE:
            shapes = {key: tensor.shape for key, tensor in model.tensors.items()}
            config, shapes = widened(model.config, shapes)
            write(models / "wide" / name, config, tiny_models.random_tensors(shapes))
    for pooling in ("mean", "cls"):
        path = models / "tiny" / f"sentence-{pooling}"
        tiny_bert.write_checkpoint(path, pooling=pooling, normalize=pooling == "mean", spread=0.25)
        np.savez(path / "inputs.npz", **tiny_bert.golden_inputs())
    for name in tiny_tasks.MODELS:
        tiny_tasks.write_model(models / "tasks" / name, name)

    original = minilm.minilm_directory()
    for name in ("minilm", "minilm-2"):
        shutil.copytree(original, models / name, dirs_exist_ok=True)
    (models / "sentences.txt").write_text("\n".join(minilm.sentences()) + "\n", encoding="utf-8")
    config = json.loads((original / "config.json").read_text())
    np.savez(models / "minilm" / "inputs.npz", **tiny_models.golden_inputs(config))
    # Later layers are not read.
    short = json.dumps({**config, "num_hidden_layers": 2})
    (models / "minilm-2" / "config.json").write_text(short)

    for name in SAVED:
        for kind in DTYPES:
            target = models / "saved" / f"{name}-{kind}"
            target.parent.mkdir(exist_ok=True)
            fbg.load(models / "tiny" / name, dtype=kind).save(target, overwrite=True)
