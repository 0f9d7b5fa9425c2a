"""Qwen3-Embedding-0.6B on prompts: ours in int8 and int4 against llama.cpp in Q8_0 and Q4_0.

    python bench/llama.py --threads 1 2
    python bench/llama.py --precision int4 --tokens 64 --clock cpu

Weights are random (geometries.py); gguf, the package of llama.cpp, writes and quantizes them. Both
engines compute the hidden state of the last token. llama.cpp runs through llama-cpp-python, which
pip builds for this CPU (pip install --no-binary llama-cpp-python llama-cpp-python gguf). First the
results of both must point the same way: cosine 0.95 in int8 and 0.8 in int4, as weights are noise.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import checkpoints
import numpy as np
import timing
from exports import Array, Exports

GGUF_TYPES = {"int8": "Q8_0", "int4": "Q4_0"}
LEAST_COSINE = {"int8": 0.95, "int4": 0.8}
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


def llama(path: Path, threads: int, longest: int, *, repack: bool) -> Callable[[Array], Array]:
    """The last token's hidden state, of norm 1, by llama.cpp."""
    import llama_cpp as lib

    lib.llama_log_set(_silent, ctypes.c_void_p(0))
    loading = lib.llama_model_default_params()
    loading.use_extra_bufts = repack
    model = lib.llama_model_load_from_file(str(path).encode(), loading)
    options = lib.llama_context_default_params()
    options.n_ctx = options.n_batch = options.n_ubatch = max(longest, 512)
    options.n_threads = options.n_threads_batch = threads
    options.embeddings = True
    options.pooling_type = lib.LLAMA_POOLING_TYPE_LAST
    context = lib.llama_init_from_model(model, options)
    width: int = lib.llama_model_n_embd(model)

    def forward(ids: Array) -> Array:
        tokens = (lib.llama_token * ids.size)(*ids.ravel().tolist())
        lib.llama_memory_clear(lib.llama_get_memory(context), False)
        if lib.llama_decode(context, lib.llama_batch_get_one(tokens, ids.size)):
            raise SystemExit("llama.py: llama_decode failed")
        return np.ctypeslib.as_array(lib.llama_get_embeddings_seq(context, 0), (width,)).copy()

    return forward


def _silence() -> Any:
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
    return kind(lambda *_: None)


_silent = _silence()  # alive as long as the library may call it


def ours(exports: Exports, precision: str, threads: int) -> Callable[[Array], Array]:
    import fbg

    model = fbg.load(exports.checkpoint, dtype=precision, num_threads=threads)

    def forward(ids: Array) -> Array:
        result: Array = model.forward(ids).last_hidden_state.reshape(ids.size, -1)[-1]
        return result

    return forward


def cosine(a: Array, b: Array) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--precision", nargs="+", choices=GGUF_TYPES, default=list(GGUF_TYPES))
    parser.add_argument("--tokens", type=int, nargs="+", default=[8, 64, 384])
    parser.add_argument(
        "--no-repack",
        dest="repack",
        action="store_false",
        help="llama.cpp leaves weights as they are: on some CPUs with AMX it crashes otherwise",
    )
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    return parser.parse_args()


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    report = timing.Report("llama", arguments)
    exports = checkpoints.random_exports("qwen3", arguments.cache)
    rows, longest = [], max(arguments.tokens)
    for precision in arguments.precision:
        path = write_gguf(exports, GGUF_TYPES[precision])
        for threads in arguments.threads:
            mine = ours(exports, precision, threads)
            theirs = llama(path, threads, longest, repack=arguments.repack)
            for tokens in arguments.tokens:
                ids = checkpoints.random_ids(exports.config["vocab_size"], tokens)
                similar = cosine(mine(ids), theirs(ids))
                if not similar >= LEAST_COSINE[precision]:
                    raise SystemExit(
                        f"llama.py: {precision}, {tokens} tokens: cosine {similar:.3f}"
                    )
                field = [
                    timing.Contestant("fbg", functools.partial(mine, ids)),
                    timing.Contestant("llama.cpp", functools.partial(theirs, ids)),
                ]
                results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
                case = {"precision": precision, "threads": threads, "tokens": tokens}
                report.add(case, results)
                fbg_time, other = results["fbg"], results["llama.cpp"]
                rows.append(
                    [
                        *map(str, case.values()),
                        f"{fbg_time.median * 1e3:.1f}",
                        f"{other.median * 1e3:.1f}",
                        f"{fbg_time.speedup_over(other):.2f}",
                        f"{similar:.3f}",
                    ]
                )
                print(json.dumps(rows[-1]), flush=True)
    headers = ["precision", "threads", "tokens", "fbg ms", "llama.cpp ms", "×", "cosine"]
    print(timing.markdown(headers, rows))


if __name__ == "__main__":
    main()
