"""Settings of tiny models of families that differ from BERT in more than names."""

from typing import Any

VOCABULARY = 99
IDS = {"pad_token_id": 3, "bos_token_id": 1, "eos_token_id": 2}


def sizes(hidden: int, heads: int, layers: int, positions: int = 20) -> dict[str, Any]:
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "intermediate_size": 2 * hidden + 5,
        "max_position_embeddings": positions,
    }


def rope(theta: float, kind: str = "default", **options: Any) -> dict[str, Any]:
    return {"rope_theta": theta, "rope_type": kind, **options}


def t5(model_type: str, projection: str, buckets: int, longest: int) -> dict[str, Any]:
    return {
        "model_type": model_type,
        "vocab_size": VOCABULARY,
        "d_model": 36,
        "d_kv": 10,
        "d_ff": 50,
        "num_layers": 3,
        "num_heads": 3,
        "n_positions": 40,
        "feed_forward_proj": projection,
        "relative_attention_num_buckets": buckets,
        "relative_attention_max_distance": longest,
        "layer_norm_epsilon": 1e-3,
        "pad_token_id": 0,
    }


FULL, SLIDING = "full_attention", "sliding_attention"

OTHER_CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {
        "model_type": "llama",
        **sizes(36, 3, 2, 40),
        **IDS,
        "num_key_value_heads": 1,
        "attention_bias": True,
        "mlp_bias": True,
        "rms_norm_eps": 1e-3,
        "rope_parameters": rope(
            50.0,
            "llama3",
            factor=4.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=16,
        ),
    },
    "mistral": {
        "model_type": "mistral",
        **sizes(32, 4, 2, 24),
        **IDS,
        "num_key_value_heads": 2,
        "head_dim": 12,
        "sliding_window": 6,
        "rope_parameters": rope(200.0, "linear", factor=2.5),
    },
    "qwen2": {
        "model_type": "qwen2",
        **sizes(40, 4, 3, 36),
        **IDS,
        "num_key_value_heads": 2,
        "rope_parameters": rope(
            100.0, "yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=4.0
        ),
    },
    "qwen2-longrope": {  # rotations as in Phi-3
        "model_type": "qwen2",
        **sizes(32, 4, 2, 36),
        **IDS,
        "num_key_value_heads": 4,
        "rope_parameters": rope(
            60.0,
            "longrope",
            original_max_position_embeddings=20,
            short_factor=[1.0, 1.1, 1.5, 2.0],
            long_factor=[1.0, 2.5, 4.0, 7.0],
        ),
    },
    "qwen3": {
        "model_type": "qwen3",
        **sizes(36, 4, 3, 30),
        **IDS,
        "num_key_value_heads": 2,
        "head_dim": 14,
        "attention_bias": True,
        "use_sliding_window": True,
        "sliding_window": 5,
        "max_window_layers": 2,
        "rms_norm_eps": 1e-2,
        "rope_parameters": rope(70.0),
    },
    "gemma2": {
        "model_type": "gemma2",
        **sizes(32, 2, 3, 26),
        **IDS,
        "num_key_value_heads": 1,
        "head_dim": 18,
        "query_pre_attn_scalar": 5,
        "attn_logit_softcapping": 1.5,
        "sliding_window": 7,
        "rope_parameters": rope(30.0),
    },
    "gemma3_text": {
        "model_type": "gemma3_text",
        **sizes(36, 4, 4, 30),
        **IDS,
        "num_key_value_heads": 2,
        "head_dim": 14,
        "query_pre_attn_scalar": 20,
        "use_bidirectional_attention": True,
        "sliding_window": 9,
        "layer_types": [SLIDING, FULL, SLIDING, FULL],
        "rope_parameters": {FULL: rope(500.0, "linear", factor=2.0), SLIDING: rope(20.0)},
    },
    "gemma3_text-causal": {
        "model_type": "gemma3_text",
        **sizes(32, 2, 3, 22),
        **IDS,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "attention_bias": True,
        "sliding_window": 4,
        "layer_types": [SLIDING, FULL, SLIDING],
    },
    "eurobert": {
        "model_type": "eurobert",
        **sizes(36, 6, 2, 24),
        **IDS,
        "num_key_value_heads": 3,
        "rms_norm_eps": 1e-3,
        "rope_parameters": rope(90.0),
    },
    "nomic_bert": {
        "model_type": "nomic_bert",
        **sizes(36, 3, 2, 28),
        "layer_norm_eps": 1e-3,
        "rope_parameters": rope(40.0),
    },
    "gte": {
        "model_type": "gte",
        **sizes(40, 4, 2, 28),
        "pad_token_id": 1,
        "rope_parameters": rope(60.0),
    },
    "gte-untyped": {
        "model_type": "gte",
        **sizes(32, 2, 2, 24),
        "pad_token_id": 1,
        "type_vocab_size": 0,
        "rope_parameters": rope(60.0, "dynamic", factor=2.0),
    },
    "jina_embeddings_v3": {
        "model_type": "jina_embeddings_v3",
        **sizes(36, 3, 2, 28),
        "type_vocab_size": 1,
        "layer_norm_eps": 1e-3,
        "pad_token_id": 1,
        "rope_parameters": rope(40.0),
    },
    "t5": t5("t5", "relu", 12, 20),
    "mt5": t5("mt5", "gated-gelu", 32, 128),
    "megatron-bert": {
        "model_type": "megatron-bert",
        **sizes(36, 3, 3, 24),
        "hidden_act": "gelu_new",
        "layer_norm_eps": 1e-3,
    },
    "xlm-roberta-xl": {
        "model_type": "xlm-roberta-xl",
        **sizes(32, 4, 2, 22),
        "pad_token_id": 1,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-3,
    },
    "rembert": {
        "model_type": "rembert",
        **sizes(36, 3, 2, 20),
        "input_embedding_size": 20,
        "output_embedding_size": 24,
    },
    "deberta-v2": {  # as version 3
        "model_type": "deberta-v2",
        **sizes(36, 3, 3, 40),
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
        "relative_attention": True,
        "position_buckets": 8,
        "max_relative_positions": -1,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pad_token_id": 0,
    },
    "deberta-v2-own": {
        "model_type": "deberta-v2",
        **sizes(32, 4, 2, 24),
        "hidden_act": "gelu",
        "relative_attention": True,
        "max_relative_positions": 10,
        "share_att_key": False,
        "pos_att_type": ["c2p", "p2c"],
        "position_biased_input": True,
        "type_vocab_size": 2,
        "pad_token_id": 0,
    },
    "deberta-v2-one-way": {
        "model_type": "deberta-v2",
        **sizes(32, 2, 2, 24),
        "hidden_act": "gelu_new",
        "relative_attention": True,
        "position_buckets": 6,
        "max_relative_positions": 20,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": False,
        "pos_att_type": ["c2p"],
        "position_biased_input": True,
        "pad_token_id": 0,
    },
    "deberta-v2-convolution": {  # as xlarge and xxlarge
        "model_type": "deberta-v2",
        **sizes(36, 3, 2, 24),
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
        "relative_attention": True,
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
        "type_vocab_size": 0,
        "conv_kernel_size": 3,
        "conv_act": "gelu",
        "pad_token_id": 0,
    },
    "deberta-v2-groups": {
        "model_type": "deberta-v2",
        **sizes(32, 4, 2, 20),
        "hidden_act": "gelu",
        "relative_attention": True,
        "max_relative_positions": 10,
        "pos_att_type": ["c2p"],
        "type_vocab_size": 2,
        "conv_kernel_size": 5,
        "conv_groups": 4,
        "pad_token_id": 0,
    },
    "deberta": {
        "model_type": "deberta",
        **sizes(36, 3, 2, 24),
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
        "relative_attention": True,
        "max_relative_positions": 9,
        "pos_att_type": "c2p|p2c",
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pad_token_id": 0,
    },
    "deberta-one-way": {
        "model_type": "deberta",
        **sizes(32, 4, 2, 20),
        "hidden_act": "gelu_new",
        "relative_attention": True,
        "pos_att_type": ["p2c"],
        "position_biased_input": True,
        "type_vocab_size": 2,
        "pad_token_id": 0,
    },
    "jina_bert": {  # transformers has only remote code for it: scripts/golden_references.py
        "model_type": "bert",
        **sizes(36, 6, 2, 24),
        "position_embedding_type": "alibi",
        "feed_forward_type": "geglu",
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-3,
        "type_vocab_size": 2,
        "pad_token_id": 0,
    },
}

# Models whose files on the hub have names and settings of their own: the family's name in
# transformers, the settings as they are there, and tensors that go by another name or are packed.
HUB_CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "nomic_bert-hub": (
        "nomic_bert",
        {
            "model_type": "nomic_bert",
            "vocab_size": VOCABULARY,
            "n_embd": 36,
            "n_head": 3,
            "n_layer": 2,
            "n_inner": 77,
            "n_positions": 28,
            "activation_function": "swiglu",
            "layer_norm_epsilon": 1e-3,
            "rotary_emb_base": 40.0,
            "rotary_emb_fraction": 1.0,
            "type_vocab_size": 2,
            "pad_token_id": 0,
        },
    ),
    "new": (
        "gte",
        {
            "model_type": "new",
            **sizes(40, 4, 2, 28),
            "hidden_act": "gelu",
            "type_vocab_size": 1,
            "layer_norm_type": "layer_norm",
            "position_embedding_type": "rope",
            "rope_theta": 60.0,
            "rope_scaling": None,
            "pad_token_id": 1,
        },
    ),
    "xlm-roberta-flash": (
        "jina_embeddings_v3",
        {
            "model_type": "xlm-roberta",
            **sizes(36, 3, 2, 28),
            "hidden_act": "gelu",
            "position_embedding_type": "rotary",
            "rotary_emb_base": 40.0,
            "layer_norm_eps": 1e-3,
            "type_vocab_size": 1,
            "use_flash_attn": True,
            "pad_token_id": 1,
        },
    ),
}
HUB_NAMES = {
    "nomic_bert-hub": (
        ("embeddings.LayerNorm", "emb_ln"),
        ("layers.", "encoder.layers."),
        ("self_attn.o_proj", "attn.out_proj"),
        ("self_attn.q_proj", "attn.Wqkv"),
        ("mlp.up_proj", "mlp.fc11"),
        ("mlp.gate_proj", "mlp.fc12"),
        ("mlp.down_proj", "mlp.fc2"),
        ("post_attention_layernorm", "norm1"),
        ("post_mlp_layernorm", "norm2"),
    ),
    "new": (
        ("layers.", "encoder.layer."),
        ("self_attn.o_proj", "attention.o_proj"),
        ("self_attn.q_proj", "attention.qkv_proj"),
        ("mlp.up_proj", "mlp.up_gate_proj"),
        ("post_attention_layernorm", "attn_ln"),
        ("post_mlp_layernorm", "mlp_ln"),
    ),
    "xlm-roberta-flash": (
        ("embeddings.LayerNorm", "emb_ln"),
        ("layers.", "encoder.layers."),
        ("self_attn.o_proj", "mixer.out_proj"),
        ("self_attn.q_proj", "mixer.Wqkv"),
        ("post_attention_layernorm", "norm1"),
        ("post_mlp_layernorm", "norm2"),
    ),
}


def hub_shapes(name: str, shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The tensors of a model in HUB_CONFIGS, from those that transformers has."""
    packed = {"q_proj": 3, "up_proj": 2 if name == "new" else 1}
    left_out = (".k_proj.", ".v_proj.", *((".gate_proj.",) if name == "new" else ()), "pooler.")
    result = {}
    for key, shape in shapes.items():
        if any(part in key for part in left_out):
            continue
        factor = next((count for part, count in packed.items() if f".{part}." in key), 1)
        for old, new in HUB_NAMES[name]:
            key = key.replace(old, new)
        result[key] = (shape[0] * factor, *shape[1:])
    return result
