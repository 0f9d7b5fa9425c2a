"""llama.cpp on prompts, for the geometry of Qwen3: the hidden state of the last token, of norm 1.

gguf, its package, writes and quantizes the file. llama.cpp runs through llama-cpp-python, which pip
builds for this CPU (environments/llama.txt). FBG_BENCH_NO_REPACK=1 lets it leave weights as they
are: on some CPUs with AMX it crashes otherwise.
"""

import ctypes
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from peers import Array, Feed, Forward, Row
from peers.exports import Exports

GGUF_TYPES = {"int8": "Q8_0", "int4": "Q4_0"}
LONGEST = 2048  # tokens
# The names of the tensors of a layer, in the checkpoint and in GGUF files.
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name: str) -> str:
    """The name of a tensor of the checkpoint in a GGUF file."""
    if name.startswith("embed_tokens."):
        return "token_embd.weight"
    if name.startswith("norm."):
        return "output_norm.weight"
    _, layer, rest = name.split(".", 2)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


def write_gguf(exports: Exports, kind: str) -> Path:
    """The checkpoint as a GGUF file of that type, written if it is not there."""
    path = exports.folder / f"{kind}.gguf"
    if path.exists():
        return path
    import gguf
    from safetensors import safe_open

    config = exports.config
    writer = gguf.GGUFWriter(path.with_suffix(".partial"), "qwen3")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
    quantized = gguf.GGMLQuantizationType[kind]
    with safe_open(exports.checkpoint / "model.safetensors", "np") as tensors:
        for name in tensors.keys():  # noqa: SIM118 (it is no mapping)
            values = tensors.get_tensor(name)
            if values.ndim == 1:
                writer.add_tensor(gguf_name(name), values)
            else:
                blocks = gguf.quants.quantize(values, quantized)
                writer.add_tensor(gguf_name(name), blocks, raw_dtype=quantized)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.with_suffix(".partial").rename(path)


def _encoder(exports: Exports, threads: int, precision: str) -> Forward:
    import llama_cpp as lib

    lib.llama_log_set(_silent, ctypes.c_void_p(0))
    loading = lib.llama_model_default_params()
    loading.use_extra_bufts = "FBG_BENCH_NO_REPACK" not in os.environ
    path = write_gguf(exports, GGUF_TYPES[precision])
    model = lib.llama_model_load_from_file(str(path).encode(), loading)
    options = lib.llama_context_default_params()
    options.n_ctx = options.n_batch = options.n_ubatch = LONGEST
    options.n_threads = options.n_threads_batch = threads
    options.embeddings = True
    options.pooling_type = lib.LLAMA_POOLING_TYPE_LAST
    context = lib.llama_init_from_model(model, options)
    width: int = lib.llama_model_n_embd(model)

    def run(feed: Feed) -> list[Array]:
        ids = feed["input_ids"]
        tokens = (lib.llama_token * ids.size)(*ids.ravel().tolist())
        lib.llama_memory_clear(lib.llama_get_memory(context), False)
        if lib.llama_decode(context, lib.llama_batch_get_one(tokens, ids.size)):
            raise SystemExit("llama.cpp: llama_decode failed")
        return [np.ctypeslib.as_array(lib.llama_get_embeddings_seq(context, 0), (width,)).copy()]

    return run


def _silence() -> Any:
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
    return kind(lambda *_: None)


_silent = _silence()  # alive as long as the library may call it


ENCODERS = {
    f"llama-{name}": Row(("llama_cpp", "gguf"), partial(_encoder, precision=name))
    for name in GGUF_TYPES
}
