"""Settings of config.json that no model has or that fbg does not support: each is named."""

from pathlib import Path
from typing import Any

import pytest

import fbg
from helpers.tiny_bert import MISSING
from helpers.tiny_models import tiny_model, write_tiny


def rope(**options: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_theta": 50.0, **options}}


def longrope(**options: Any) -> dict[str, Any]:
    """For qwen2, whose heads have 10 columns."""
    factors = {"short_factor": [1.0] * 5, "long_factor": [2.0] * 5}
    return rope(**{"rope_type": "longrope", **factors, **options})


@pytest.mark.parametrize(
    ("name", "changes", "key"),
    [
        ("bert", {"model_type": MISSING}, "model_type"),
        ("bert", {"model_type": 5}, "model_type"),
        ("bert", {"hidden_act": "swish"}, "hidden_act"),
        ("bert", {"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ("bert", {"hidden_size": MISSING}, "hidden_size"),
        ("bert", {"hidden_size": None}, "hidden_size"),
        ("bert", {"hidden_size": 0}, "hidden_size"),
        ("bert", {"hidden_size": -8}, "hidden_size"),
        ("bert", {"hidden_size": "8"}, "hidden_size"),
        ("bert", {"hidden_size": 8.5}, "hidden_size"),
        ("bert", {"num_hidden_layers": -1}, "num_hidden_layers"),
        ("bert", {"num_attention_heads": 4}, "num_attention_heads"),
        ("bert", {"num_attention_heads": 0}, "num_attention_heads"),
        ("bert", {"vocab_size": True}, "vocab_size"),
        ("bert", {"intermediate_size": [12]}, "intermediate_size"),
        ("bert", {"max_position_embeddings": 0}, "max_position_embeddings"),
        ("bert", {"layer_norm_eps": float("nan")}, "layer_norm_eps"),
        ("bert", {"layer_norm_eps": -1.0}, "layer_norm_eps"),
        ("bert", {"model_type": "gpt2"}, "model_type"),
        ("bert", {"is_decoder": True}, "is_decoder"),
        ("roberta", {"add_cross_attention": True}, "add_cross_attention"),
        ("roberta", {"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ("roberta", {"pad_token_id": None}, "pad_token_id"),
        ("roberta", {"pad_token_id": -1}, "pad_token_id"),
        ("roberta", {"pad_token_id": 21}, "max_position_embeddings"),
        ("distilbert", {"activation": "swish"}, "activation"),
        ("distilbert", {"n_heads": 5}, "n_heads"),
        ("distilbert", {"dim": None}, "dim"),
        ("distilbert", {"n_layers": 10**12}, "n_layers"),
        ("distilbert", {"hidden_dim": "70"}, "hidden_dim"),
        ("electra", {"embedding_size": None}, "embedding_size"),
        ("albert", {"hidden_act": "gelu_10"}, "hidden_act"),
        ("albert", {"num_hidden_groups": 4}, "num_hidden_groups"),
        ("albert", {"num_hidden_layers": 10**12}, "num_hidden_layers"),
        ("albert", {"inner_group_num": 10**12}, "inner_group_num"),
        ("mpnet", {"relative_attention_num_buckets": 64}, "relative_attention_num_buckets"),
        ("mpnet", {"max_position_embeddings": 2}, "max_position_embeddings"),
        ("modernbert", {"hidden_activation": "silu"}, "hidden_activation"),
        ("modernbert", {"num_attention_heads": 4}, "num_attention_heads"),
        ("modernbert", {"max_position_embeddings": 10**12}, "max_position_embeddings"),
        ("modernbert", {"layer_types": ["full_attention"]}, "layer_types"),
        ("modernbert", {"layer_types": ["full_attention", [], 1, None]}, "layer_types"),
        ("modernbert", {"layer_types": "full_attention"}, "layer_types"),
        (
            "modernbert",
            {"layer_types": None, "global_attn_every_n_layers": 0},
            "global_attn_every_n_layers",
        ),
        ("modernbert", {"local_attention": -1}, "local_attention"),
        ("modernbert", {"norm_bias": 1}, "norm_bias"),
        ("modernbert", {"rope_scaling": {"rope_type": "linear", "factor": 2}}, "rope_scaling"),
        ("modernbert", {"rope_parameters": []}, "rope_parameters"),
        (
            "modernbert",
            {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}},
            "rope_parameters.full_attention.rope_type",
        ),
        (
            "modernbert",
            {"rope_parameters": {"sliding_attention": {"rope_theta": 0.5}}},
            "rope_parameters.sliding_attention.rope_theta",
        ),
        ("modernbert", {"rope_parameters": None, "global_rope_theta": 0}, "global_rope_theta"),
        ("modernbert", {"rope_parameters": None, "local_rope_theta": 1e300}, "local_rope_theta"),
        ("qwen3", {"num_key_value_heads": 3}, "num_key_value_heads"),
        ("qwen3", {"num_key_value_heads": 0}, "num_key_value_heads"),
        ("qwen3", {"head_dim": 15}, "head_dim"),
        ("qwen3", {"head_dim": 0}, "head_dim"),
        ("qwen3", {"hidden_act": "tanh"}, "hidden_act"),
        ("qwen3", {"sliding_window": 0}, "sliding_window"),
        ("qwen3", {"layer_types": ["full_attention"]}, "layer_types"),
        ("qwen3", {"layer_types": ["chunked_attention"] * 3}, "layer_types"),
        ("qwen3", {"is_decoder": True}, "is_decoder"),
        ("qwen3", {"max_position_embeddings": 10**12}, "max_position_embeddings"),
        ("mistral", {"sliding_window": 0}, "sliding_window"),
        ("qwen2", rope(rope_type="longrope"), "rope_parameters.short_factor"),
        ("qwen2", longrope(short_factor=[1.0] * 4), "rope_parameters.short_factor"),
        ("qwen2", longrope(long_factor=[1.0] * 6), "rope_parameters.long_factor"),
        ("qwen2", longrope(long_factor=2.0), "rope_parameters.long_factor"),
        ("qwen2", longrope(short_factor=[1.0, 1.0, 1.0, 1.0, "1"]), "rope_parameters.short_factor"),
        ("qwen2", longrope(long_factor=[1.0, 1.0, 1.0, 1.0, 0]), "rope_parameters.long_factor"),
        ("qwen2", longrope(short_factor=[1e-300] * 5), "rope_parameters.short_factor"),
        ("qwen2", longrope(factor=0.5), "rope_parameters.factor"),
        ("qwen2", longrope(attention_factor=1e300), "rope_parameters.attention_factor"),
        ("qwen2", longrope(attention_factor=-1), "rope_parameters.attention_factor"),
        (
            "qwen2",
            longrope(original_max_position_embeddings=1),
            "rope_parameters.original_max_position_embeddings",
        ),
        (
            "qwen2",
            {**longrope(), "original_max_position_embeddings": 0},
            "original_max_position_embeddings",
        ),
        ("qwen2", rope(rope_type="proportional"), "rope_parameters.rope_type"),
        ("qwen2", rope(rope_type="linear"), "rope_parameters.factor"),
        ("qwen2", rope(rope_type="linear", factor=0.5), "rope_parameters.factor"),
        ("qwen2", rope(rope_type="linear", factor=1e300), "rope_parameters.factor"),
        ("qwen2", rope(rope_type="yarn", factor=2, beta_slow=40), "rope_parameters.beta_fast"),
        ("qwen2", rope(rope_type="yarn", factor=2, beta_slow=0), "rope_parameters.beta_fast"),
        ("qwen2", {"rope_parameters": {"rope_theta": 1}}, "rope_parameters.rope_theta"),
        (
            "qwen2",
            rope(rope_type="yarn", factor=2, original_max_position_embeddings=0),
            "rope_parameters.original_max_position_embeddings",
        ),
        (
            "llama",
            rope(rope_type="llama3", factor=2, low_freq_factor=4, high_freq_factor=4),
            "rope_parameters.high_freq_factor",
        ),
        (
            "llama",
            {"rope_parameters": None, "rope_scaling": {"type": "su", "factor": 2}},
            "rope_scaling.type",
        ),
        ("llama", {"rope_parameters": None, "rope_theta": 0.5}, "rope_theta"),
        ("gemma2", {"attn_logit_softcapping": 0}, "attn_logit_softcapping"),
        ("gemma3_text", {"attn_logit_softcapping": 30.0}, "attn_logit_softcapping"),
        ("gemma3_text", {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar"),
        ("gemma3_text", {"sliding_window": 0}, "sliding_window"),
        ("gemma3_text", {"use_bidirectional_attention": 1}, "use_bidirectional_attention"),
        ("t5", {"feed_forward_proj": "gated-tanh"}, "feed_forward_proj"),
        ("t5", {"relative_attention_num_buckets": 3}, "relative_attention_num_buckets"),
        ("t5", {"relative_attention_max_distance": 3}, "relative_attention_max_distance"),
        ("t5", {"d_kv": "4"}, "d_kv"),
        ("nomic_bert-hub", {"activation_function": "relu"}, "activation_function"),
        ("nomic_bert-hub", {"rotary_emb_fraction": 0}, "rotary_emb_fraction"),
        ("nomic_bert-hub", {"rotary_emb_fraction": 0.1}, "rotary_emb_fraction"),
        ("nomic_bert-hub", {"rotary_emb_interleaved": True}, "rotary_emb_interleaved"),
        ("nomic_bert-hub", {"rotary_scaling_factor": 2}, "rotary_scaling_factor"),
        ("nomic_bert-hub", {"prenorm": True}, "prenorm"),
        ("nomic_bert-hub", {"num_experts": 8}, "num_experts"),
        ("nomic_bert-moe", {"num_experts": 0}, "num_experts"),
        ("nomic_bert-moe", {"num_experts": 10**6}, "num_experts"),
        ("nomic_bert-moe", {"num_experts": None}, "num_experts"),
        ("nomic_bert-moe", {"moe_top_k": 0}, "moe_top_k"),
        ("nomic_bert-moe", {"moe_top_k": 6}, "moe_top_k"),
        ("nomic_bert-moe", {"moe_every_n_layers": -2}, "moe_every_n_layers"),
        ("nomic_bert-moe", {"moe_every_n_layers": "2"}, "moe_every_n_layers"),
        ("nomic_bert-moe", {"moe_impl": "other"}, "moe_impl"),
        ("nomic_bert-moe", {"moe_normalize_expert_weights": True}, "moe_normalize_expert_weights"),
        ("nomic_bert-moe", {"num_shared_experts": 1}, "num_shared_experts"),
        ("nomic_bert-moe", {"expert_choice_router": True}, "expert_choice_router"),
        ("nomic_bert-moe", {"ffn_div": 2}, "ffn_div"),
        ("nomic_bert-moe", {"activation_function": "swiglu"}, "activation_function"),
        ("neobert", {"rope": False}, "rope"),
        ("neobert", {"rms_norm": False}, "rms_norm"),
        ("neobert", {"hidden_act": "gelu"}, "hidden_act"),
        ("neobert", {"dim_head": 13}, "dim_head"),
        ("neobert", {"num_attention_heads": 5}, "num_attention_heads"),
        ("neobert", {"max_length": 0}, "max_length"),
        ("new", {"logn_attention_scale": True}, "logn_attention_scale"),
        ("deberta-v2", {"pooler_hidden_act": "tanh"}, "pooler_hidden_act"),
        ("new", {"layer_norm_type": "rms_norm"}, "layer_norm_type"),
        ("new", {"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ("jina_bert", {"feed_forward_type": "original"}, "feed_forward_type"),
        ("jina_embeddings_v3", {"num_attention_heads": 4}, "num_attention_heads"),
        ("jina_embeddings_v3", {"hidden_act": "tanh"}, "hidden_act"),
        ("xlm-roberta-flash", {"rotary_emb_base": 1}, "rotary_emb_base"),
        ("xlm-roberta-flash", {"position_embedding_type": "alibi"}, "position_embedding_type"),
        ("xlm-roberta-xl", {"pad_token_id": -1}, "pad_token_id"),
        ("deberta-v2", {"pos_att_type": "p2p"}, "pos_att_type"),
        ("deberta-v2", {"pos_att_type": [1]}, "pos_att_type"),
        ("deberta-v2", {"relative_attention": False}, "pos_att_type"),
        ("deberta-v2", {"position_buckets": 1}, "position_buckets"),
        ("deberta-v2", {"max_relative_positions": 5}, "max_relative_positions"),
        ("deberta-v2", {"max_relative_positions": 0}, "max_relative_positions"),
        ("deberta-v2", {"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd"),
        ("deberta-v2", {"conv_kernel_size": 4}, "conv_kernel_size"),
        ("deberta-v2", {"conv_kernel_size": -3}, "conv_kernel_size"),
        ("deberta-v2", {"conv_kernel_size": 10**9 + 1}, "conv_kernel_size"),
        ("deberta-v2-convolution", {"conv_groups": 5}, "conv_groups"),
        ("deberta-v2-convolution", {"conv_groups": 0}, "conv_groups"),
        ("deberta-v2-convolution", {"conv_act": "softmax"}, "conv_act"),
        ("deberta-v2", {"embedding_size": 20}, "embedding_size"),
        ("deberta-v2", {"head_dim": 6}, "num_attention_heads"),
        ("deberta", {"talking_head": True}, "talking_head"),
        ("deberta", {"pos_att_type": "p2p"}, "pos_att_type"),
        ("deberta", {"num_attention_heads": 5}, "num_attention_heads"),
    ],
)
def test_an_unsupported_setting_is_named(
    tmp_path: Path, name: str, changes: dict[str, Any], key: str
) -> None:
    with pytest.raises(fbg.ModelError, match=rf"config\.json: {key} must be"):
        fbg.load(write_tiny(tmp_path, name, **changes))


def test_longrope_must_be_that_of_all_layers(tmp_path: Path) -> None:
    rope = dict(tiny_model("gemma3_text").config["rope_parameters"])
    size = tiny_model("gemma3_text").config["head_dim"] // 2
    lists = {"short_factor": [1.0] * size, "long_factor": [2.0] * size}
    rope["full_attention"] = {"rope_theta": 50.0, "rope_type": "longrope", **lists}
    with pytest.raises(fbg.ModelError, match="rope_parameters must be longrope in all kinds"):
        fbg.load(write_tiny(tmp_path, "gemma3_text", rope_parameters=rope))
