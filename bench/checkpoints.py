"""Random checkpoints of the geometries that bench/bert.py and families.py measure; their exports.

The checkpoints of BERT are written by the tests' tiny_bert, without torch; those of other families
by transformers. Speed does not depend on the values: N(0, 0.02) as models are initialised.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from exports import Array, Exports
from geometries import FAMILIES

BERT_GEOMETRIES = ("base", "large", "tinybert", "minilm", "awkward")
# By name: the model_type, and settings that are not the default of transformers' configuration.
OTHER_GEOMETRIES: dict[str, tuple[str, dict[str, Any]]] = {
    "roberta-base": (
        "roberta",
        {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1},
    ),
    "distilbert": ("distilbert", {}),
}
GEOMETRIES = (*BERT_GEOMETRIES, *OTHER_GEOMETRIES)
BY_TRANSFORMERS = OTHER_GEOMETRIES | FAMILIES
FIRST_WORD = 5  # ids below are padding and its like, which RoBERTa counts differently


def default_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "fbg-bench"


def of_tests(name: str) -> ModuleType:
    """A module of tests/helpers."""
    tests = Path(__file__).resolve().parent.parent / "tests"
    if str(tests) not in sys.path:
        sys.path.append(str(tests))
    return importlib.import_module(f"helpers.{name}")


def random_exports(geometry: str, cache: Path) -> Exports:
    """A random checkpoint, written if it is not there, and what peers make of it."""
    folder = cache / f"bert-{geometry}-random"
    checkpoint = folder / "checkpoint"
    if not (checkpoint / "tokenizer.json").exists():
        if geometry in BY_TRANSFORMERS:
            write_with_transformers(checkpoint, *BY_TRANSFORMERS[geometry])
        else:
            tools = of_tests("tiny_bert")
            tools.write_checkpoint(checkpoint, tools.GEOMETRIES[geometry])
    vocabulary = Exports(checkpoint, folder, ()).config["vocab_size"]
    batches = 8 if geometry in FAMILIES else 32
    calibration = tuple(random_ids(vocabulary, 128, seed) for seed in range(batches))
    return Exports(checkpoint, folder, calibration, digest=False)


def random_ids(vocabulary: int, tokens: int, seed: int = 0) -> Array:
    """(1, tokens) token ids."""
    generator = np.random.default_rng(seed)
    return generator.integers(FIRST_WORD, vocabulary, (1, tokens), dtype=np.int64)


def write_with_transformers(directory: Path, model_type: str, settings: dict[str, Any]) -> None:
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(model_type, **settings)
    transformers.AutoModel.from_config(config).save_pretrained(directory)
    tokenizer = of_tests("tiny_bert").wordpiece(config.vocab_size)
    tokenizer.save(str(directory / "tokenizer.json"))
