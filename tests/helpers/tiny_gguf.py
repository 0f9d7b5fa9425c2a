"""Tiny models as GGUF files: metadata and tensors of the directories in tiny_models.py, under the
names that the package gguf has for them (scripts/golden_gguf.py).
"""

import json
from typing import Any

import numpy as np

from helpers.gguf_files import Stored
from helpers.minilm import arrays
from helpers.tiny_models import Tensors, tiny_model

GOLDEN = arrays("tiny_gguf")
NAMES = json.loads(str(GOLDEN["names"]))

BERT = {
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "layer_norm_eps": "attention.layer_norm_epsilon",
    "norm_eps": "attention.layer_norm_epsilon",
}
GPT2 = {
    "n_embd": "embedding_length",
    "n_layer": "block_count",
    "n_head": "attention.head_count",
    "n_inner": "feed_forward_length",
    "n_positions": "context_length",
    "layer_norm_epsilon": "attention.layer_norm_epsilon",
}
DECODER = {
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "rope_theta": "rope.freq_base",
}
OTHERS = {
    "rotary_emb_base": "rope.freq_base",
    "local_attention": "attention.sliding_window",
    "global_attn_every_n_layers": "attention.sliding_window_pattern",
    "global_rope_theta": "rope.freq_base",
    "local_rope_theta": "rope.freq_base_swa",
}
KEYS = BERT | GPT2 | DECODER | OTHERS
# By architecture: the tiny model, other settings than its own, and settings that it must lack.
CASES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "bert": ("bert", {"hidden_act": "gelu", "layer_norm_eps": 1e-3}, ()),
    "nomic-bert": ("nomic_bert-hub", {}, ()),
    "jina-bert-v2": ("jina_bert", {}, ()),
    "jina-bert-v3": ("xlm-roberta-flash", {}, ()),
    "modern-bert": (
        "modernbert",
        {"global_rope_theta": 900.0, "local_rope_theta": 80.0, "global_attn_every_n_layers": 2},
        ("rope_parameters", "layer_types"),
    ),
    "eurobert": ("eurobert", {"rope_theta": 90.0}, ("rope_parameters",)),
    "qwen2": ("qwen2", {"rope_theta": 90.0}, ("rope_parameters",)),
    "qwen3": (
        "qwen3",
        {"rope_theta": 70.0, "use_sliding_window": False, "attention_bias": False},
        ("rope_parameters", "layer_types"),
    ),
}


def settings_of(architecture: str) -> tuple[dict[str, Any], Tensors]:
    """The config.json and the tensors of the directory."""
    name, changes, dropped = CASES[architecture]
    model = tiny_model(name)
    config = {**model.config, **changes}
    for key in dropped:
        config.pop(key, None)
    tensors = dict(model.tensors)
    if architecture == "qwen3":
        tensors = {key: value for key, value in tensors.items() if not key.endswith(".bias")}
    return config, {key: value for key, value in tensors.items() if "pooler" not in key}


def metadata_of(architecture: str, config: dict[str, Any]) -> dict[str, Any]:
    own = {KEYS[key]: value for key, value in config.items() if key in KEYS}
    return {
        "general.architecture": architecture,
        **{f"{architecture}.{key}": value for key, value in own.items()},
    }


def renamed(architecture: str, tensors: Tensors) -> dict[str, Stored]:
    """The tensors under the names of a GGUF file."""
    if architecture != "jina-bert-v2":
        return {NAMES[architecture][name]: tensor for name, tensor in tensors.items()}
    names = NAMES["bert"]
    result: dict[str, Stored] = {}
    for name, tensor in tensors.items():
        if "gated_layers" in name:  # the converter stores both halves apart
            layer = name.split(".")[2]
            gate, up = np.split(tensor, 2)
            result |= {f"blk.{layer}.ffn_gate.weight": gate, f"blk.{layer}.ffn_up.weight": up}
        else:
            known = name.replace("mlp.wo", "output.dense")
            result[names[known.replace("mlp.layernorm", "output.LayerNorm")]] = tensor
    return result
