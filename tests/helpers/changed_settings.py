"""Other values for the settings of tiny models, one setting at a time.

scripts/goldens/models.py stores what transformers computes with each in tiny_settings.npz.
"""

import json

import numpy as np

from helpers.tiny_families import HUB_FAMILIES, REFERENCES
from helpers.tiny_models import TOKENIZERS

# Models that transformers itself can read, without code from the hub: one of each family.
MODELS = tuple(name for name in TOKENIZERS if name not in (*HUB_FAMILIES, *REFERENCES))
ABSENT = "(absent)"
SKIPPED = ("model_type", "id2label", "label2id", "transformers_version", "_name_or_path")
# Keys that no family of transformers has by default, and that others use.
FOREIGN = {
    "is_causal": [False, True],
    "use_bidirectional_attention": [True, False],
    "is_bidirectional": [True],
    "causal": [True, False],
    "is_decoder": [True],
    "sliding_window": [3],
    "use_sliding_window": [True],
    "rope_theta": [77.0],
    "rope_scaling": [{"type": "linear", "factor": 3.0}],
    "partial_rotary_factor": [0.5],
    "residual_multiplier": [2.0, 1.0],
    "embedding_multiplier": [3.0],
    "logits_scaling": [4.0],
    "attn_logit_softcapping": [2.0],
    "use_qk_norm": [True, False],
    "parallel_attention": [True],
    "hidden_size_per_layer_input": [4],
    "pooling_type": ["attention"],
    "position_embedding_type": ["relative_key", "absolute"],
    "tie_encoder": [True],
    "scale_embeddings": [True, False],
    "attention_head_size": [7],
    "pruned_heads": [{"0": [0]}, {}],
    "team": ["somebody"],
}


def changed_values(config, stored):
    """Other plausible values of every key that a config has, and of keys of other families.

    stored: the keys that can be left out: ABSENT.
    """
    changed = {key: _others(value) for key, value in config.items() if key not in SKIPPED}
    for key, values in FOREIGN.items():
        changed[key] = [*changed.get(key, []), *values]
    for key in sorted(stored.keys() - set(SKIPPED)):
        changed.setdefault(key, []).append(ABSENT)
    # True equals 1, but not in JSON.
    texts = {key: dict.fromkeys(map(json.dumps, values)) for key, values in changed.items()}
    return {key: [json.loads(text) for text in given] for key, given in texts.items()}


def with_value(config, key, value):
    changed = {**config, key: value}
    return {k: v for k, v in changed.items() if k != key} if value == ABSENT else changed


def _others(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, float):
        return [value * 2 + 0.25]
    if isinstance(value, str):
        return ["relu" if "elu" in value else "mean"]
    if isinstance(value, list):
        return [value[::-1]] if value else [["x"]]
    if isinstance(value, dict):
        return [{**value, key: other} for key, own in value.items() for other in _others(own)]
    return [1]


def sample(hidden):
    """A few numbers that almost any change of hidden states changes."""
    flat = hidden.reshape(-1).astype(np.float64)
    return np.array([*flat[:2], *flat[-2:], np.abs(flat).mean()])
