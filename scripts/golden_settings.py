"""What transformers computes if one setting of a tiny model is changed. For make_golden.py.

tiny_settings.npz has, for each model of tests/helpers/changed_settings.py, in JSON:

    <name>    {key: {value in JSON: outcome}}, where outcome is "same", "error", or a few numbers of
              the last hidden states
"""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from helpers import tiny_models
from helpers.changed_settings import MODELS, changed_values, sample, with_value

transformers.logging.set_verbosity(transformers.logging.CRITICAL)
transformers.logging.disable_progress_bar()


def outcome(directory: Path, config: dict[str, Any], ids: np.ndarray) -> list[float] | str:
    """The sample of the last hidden states; "error" where transformers reads other tensors."""
    (directory / "config.json").write_text(json.dumps(config))
    auto = transformers.AutoModel
    if config["model_type"] in ("t5", "mt5"):
        auto = transformers.AutoModelForTextEncoding
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, report = auto.from_pretrained(
                directory, attn_implementation="eager", output_loading_info=True
            )
            if report["missing_keys"] or report["mismatched_keys"] or report["unexpected_keys"]:
                return "error"
            with torch.inference_mode():
                hidden = model.eval()(input_ids=torch.from_numpy(ids)).last_hidden_state.numpy()
    except Exception:
        return "error"
    return [float(f"{x:.6g}") for x in sample(hidden)]


def settings_arrays() -> dict[str, np.ndarray]:
    arrays = {}
    for name in MODELS:
        model = tiny_models.tiny_model(name)
        defaults = CONFIG_MAPPING[model.config["model_type"]]().to_dict()
        ids = tiny_models.golden_inputs(model.config)["full"][:, :12]
        found: dict[str, dict[str, Any]] = {}
        with tempfile.TemporaryDirectory() as folder:
            directory = tiny_models.write_checkpoint(Path(folder), model.config, model.tensors)
            base = outcome(directory, model.config, ids)
            changed = changed_values({**defaults, **model.config}, model.config)
            for key, values in changed.items():
                for value in values:
                    result = outcome(directory, with_value(model.config, key, value), ids)
                    same = not isinstance(result, str) and np.allclose(result, base, 0, 2e-5)
                    stored = "same" if same else result
                    found.setdefault(key, {})[json.dumps(value)] = stored
        arrays[name] = np.array(json.dumps(found))
        print(name, sum(map(len, found.values())))
    return arrays
