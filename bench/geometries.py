"""Published geometries that bench/families.py measures, as settings of Hugging Face transformers.

Vocabularies are cut to 16384 words: a text looks up as many rows as it has tokens, whatever the
size of the table, and exports stay below the 2 GiB that an ONNX file may have.
"""

from __future__ import annotations

from typing import Any

__all__ = ["FAMILIES"]

WORDS = 16384
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
FULL, SLIDING = "full_attention", "sliding_attention"

# By name: the model_type, and settings that are not the default of transformers' configuration.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "nomic": ("nomic_bert", {"vocab_size": WORDS}),  # nomic-embed-text-v1.5
    "gte": ("gte", {"vocab_size": WORDS}),  # gte-multilingual-base
    "deberta": (  # deberta-v3-base
        "deberta-v2",
        {
            "vocab_size": WORDS,
            "hidden_size": 768,
            "intermediate_size": 3072,
            "num_attention_heads": 12,
            "num_hidden_layers": 12,
            "relative_attention": True,
            "position_buckets": 256,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
        },
    ),
    "qwen3": (  # Qwen3-Embedding-0.6B
        "qwen3",
        {
            "vocab_size": WORDS,
            **IDS,
            "hidden_size": 1024,
            "intermediate_size": 3072,
            "num_attention_heads": 16,
            "num_key_value_heads": 8,
            "num_hidden_layers": 28,
            "max_window_layers": 28,
            "rope_parameters": {"rope_theta": 1e6, "rope_type": "default"},
        },
    ),
    "gemma": (  # embeddinggemma-300m
        "gemma3_text",
        {
            "vocab_size": WORDS,
            **IDS,
            "hidden_size": 768,
            "intermediate_size": 1152,
            "num_attention_heads": 3,
            "num_key_value_heads": 1,
            "num_hidden_layers": 24,
            "max_position_embeddings": 2048,
            "sliding_window": 512,
            "use_bidirectional_attention": True,
        },
    ),
    "modernbert": (  # ModernBERT-base
        "modernbert",
        {"vocab_size": WORDS, **IDS, "cls_token_id": 1, "sep_token_id": 2},
    ),
}
