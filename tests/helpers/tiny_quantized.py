"""Tiny checkpoints whose weights are quantized, in every format that fbg reads.

tests/data/tiny_quantized.npz has for each case what scripts/goldens/quantized.py wrote with the
packages that define the formats: <case>:<tensor> of quantized layers; in JSON the family and the
settings; and the hidden states of transformers with the weights that those packages compute.
All other tensors are a function of their names, shapes and a seed.
"""

import json
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from helpers.minilm import DATA
from helpers.tiny_bert import changed
from helpers.tiny_models import Tensors, random_tensors, tiny_model, write_checkpoint

SIZES = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1}
FAMILIES = {
    "bert": {**SIZES, "num_attention_heads": 2},
    "qwen3": {
        **{**SIZES, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16},
        **{"layer_types": ["full_attention"], "max_window_layers": 1},
    },
}
# The layers that are quantized; all others stay floats.
QUANTIZED = {
    "bert": ("attention.output.dense", "output.dense"),
    "qwen3": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "mlp.down_proj"),
}
PREFIXES = {"bert": "encoder.layer.0.", "qwen3": "layers.0."}
IDS = np.random.default_rng(5).integers(5, 99, (1, 9))


@dataclass(frozen=True)
class Case:
    """A checkpoint: config.json, its tensors, and the hidden states of transformers."""

    name: str
    family: str
    config: dict[str, Any]
    tensors: Tensors
    hidden: np.ndarray
    integers: np.ndarray | None  # codes of the last quantized layer, (N, K)

    def write(self, directory, **changes):
        return write_checkpoint(directory, {**self.config, **changes}, self.tensors)


def base_config(family):
    return changed(tiny_model(family).config, FAMILIES[family])


def base_tensors(family, shapes):
    return random_tensors(shapes, seed=31)


def modules(family):
    return [PREFIXES[family] + name for name in QUANTIZED[family]]


def names():
    return list(json.loads(str(np.load(DATA / "tiny_quantized.npz")["cases"])))


def read_case(name):
    stored = np.load(DATA / "tiny_quantized.npz")  # reads what it is asked for
    about = json.loads(str(stored["cases"]))[name]
    family = about["family"]
    shapes = json.loads(str(stored[f"shapes:{family}"]))
    tensors = base_tensors(family, {key: tuple(shape) for key, shape in shapes.items()})
    for module in modules(family):
        del tensors[f"{module}.weight"]
    for key in stored:
        case, _, tensor = key.partition(":")
        if case != name or tensor in ("hidden", "integers"):
            continue
        value = stored[key]
        dtype = about["types"].get(tensor)  # of those that NumPy does not have
        tensors[tensor] = value if dtype is None else value.view(getattr(ml_dtypes, dtype))
    config = {**base_config(family), "quantization_config": about["settings"]}
    integers = stored.get(f"{name}:integers")
    return Case(name, family, config, tensors, stored[f"{name}:hidden"], integers)
