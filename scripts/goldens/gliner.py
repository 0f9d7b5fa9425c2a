"""The golden results of the package gliner, of the models of tiny_gliner.py.

One array, "models", of JSON: for each model

    found     for each threshold and text the entities, as `predict_entities` returns them
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gliner import GLiNER
from gliner.config import UniEncoderSpanConfig, UniEncoderTokenConfig
from gliner.modeling.base import UniEncoderSpanModel, UniEncoderTokenModel

from helpers import tiny_gliner


def results(name: str) -> dict[str, Any]:
    config = json.loads(json.dumps(tiny_gliner.CONFIGS[name]))
    if config["span_mode"] == "token_level":
        state = UniEncoderTokenModel(UniEncoderTokenConfig(**config)).state_dict()
    else:
        state = UniEncoderSpanModel(UniEncoderSpanConfig(**config)).state_dict()
    # T5 has its table of embeddings twice.
    kept = {key: t for key, t in state.items() if not key.endswith("encoder.embed_tokens.weight")}
    shapes = {key: tuple(t.shape) for key, t in kept.items() if t.dtype == torch.float32}
    assert list(shapes.items()) == list(tiny_gliner.shapes(name).items())
    with tempfile.TemporaryDirectory() as directory:
        path = tiny_gliner.write_model(Path(directory), name)
        model = GLiNER.from_pretrained(str(path), local_files_only=True).eval()
        loaded = model.model.state_dict()
        wanted = tiny_gliner.tensors(name)
        for key, tensor in wanted.items():
            np.testing.assert_array_equal(loaded[key].numpy(), tensor, err_msg=key)
    found = {}
    for threshold in tiny_gliner.THRESHOLDS:
        with torch.inference_mode():
            found[str(threshold)] = [
                model.predict_entities(text, tiny_gliner.LABELS, threshold=threshold)
                for text in tiny_gliner.TEXTS
            ]
    print({key: [len(entities) for entities in texts] for key, texts in found.items()})
    return {"found": found}


def gliner_arrays() -> dict[str, np.ndarray]:
    models = {name: results(name) for name in tiny_gliner.CONFIGS}
    return {"models": np.array(json.dumps(models))}
