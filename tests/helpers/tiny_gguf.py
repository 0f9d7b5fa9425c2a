"""Tiny models as GGUF files: metadata and tensors of the directories in tiny_models.py, under the
names that the package gguf has for them (scripts/goldens/gguf.py).
"""

import json

import numpy as np

from helpers.minilm import arrays
from helpers.tiny_models import tiny_model

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
T5 = {
    "d_model": "embedding_length",
    "num_layers": "block_count",
    "num_heads": "attention.head_count",
    "d_ff": "feed_forward_length",
    "d_kv": "attention.key_length",
    "relative_attention_num_buckets": "attention.relative_buckets_count",
}
GEMMA = {
    "sliding_window": "attention.sliding_window",
    "rope_local_base_freq": "rope.freq_base_swa",
    "_sliding_window_pattern": "attention.sliding_window_pattern",
}
OTHERS = {
    "rotary_emb_base": "rope.freq_base",
    "local_attention": "attention.sliding_window",
    "global_attn_every_n_layers": "attention.sliding_window_pattern",
    "global_rope_theta": "rope.freq_base",
    "local_rope_theta": "rope.freq_base_swa",
}
KEYS = BERT | GPT2 | DECODER | T5 | OTHERS
# By architecture: the tiny model, other settings than its own, and settings that it must lack.
CASES = {
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
    "gemma-embedding": (
        "gemma3_text",
        {
            **{"rope_theta": 700.0, "rope_local_base_freq": 30.0, "query_pre_attn_scalar": 14},
            "_sliding_window_pattern": 2,
        },
        ("rope_parameters", "layer_types"),
    ),
    "llama": (
        "llama",
        {"rope_theta": 60.0, "attention_bias": False, "mlp_bias": False},
        ("rope_parameters",),
    ),
    "t5encoder": ("t5", {"relative_attention_max_distance": 128}, ()),
}
UNBIASED = ("qwen3", "llama")


def settings_of(architecture):
    """The config.json and the tensors of the directory."""
    name, changes, dropped = CASES[architecture]
    model = tiny_model(name)
    config = {**model.config, **changes}
    for key in dropped:
        config.pop(key, None)
    tensors = dict(model.tensors)
    if architecture in UNBIASED:
        tensors = {key: value for key, value in tensors.items() if not key.endswith(".bias")}
    return config, {key: value for key, value in tensors.items() if "pooler" not in key}


def metadata_of(architecture, config):
    keys = KEYS | (GEMMA if architecture == "gemma-embedding" else {})
    own = {keys[key]: value for key, value in config.items() if key in keys}
    if architecture == "t5encoder":
        own["attention.layer_norm_rms_epsilon"] = config["layer_norm_epsilon"]
    return {
        "general.architecture": architecture,
        **{f"{architecture}.{key}": value for key, value in own.items()},
    }


def renamed(architecture, tensors):
    """The tensors under the names of a GGUF file, as the converter changes them."""
    if architecture == "gemma-embedding":
        tensors = {k: v + np.float32("norm" in k) for k, v in tensors.items()}
    if architecture == "llama":
        heads = {"q_proj": 3, "k_proj": 1}
        for name, tensor in tensors.items():
            count = heads.get(name.split(".")[-2])
            if count:  # rotations turn neighbouring rows
                halves = tensor.reshape(count, 2, -1, tensor.shape[1])
                tensors = tensors | {name: halves.swapaxes(1, 2).reshape(tensor.shape)}
    if architecture != "jina-bert-v2":
        return {NAMES[architecture][name]: tensor for name, tensor in tensors.items()}
    names = NAMES["bert"]
    result = {}
    for name, tensor in tensors.items():
        if "gated_layers" in name:  # the converter stores both halves apart
            layer = name.split(".")[2]
            gate, up = np.split(tensor, 2)
            result |= {f"blk.{layer}.ffn_gate.weight": gate, f"blk.{layer}.ffn_up.weight": up}
        else:
            known = name.replace("mlp.wo", "output.dense")
            result[names[known.replace("mlp.layernorm", "output.LayerNorm")]] = tensor
    return result
