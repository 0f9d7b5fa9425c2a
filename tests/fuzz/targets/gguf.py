"""A GGUF file: its metadata, its tensors and their blocks, and the tokenizer that it describes."""

from __future__ import annotations

import numpy as np

import fbg
from fuzz.files import file_in
from fuzz.mutations import change_bytes
from fuzz.target import target
from helpers.gguf_files import NUMBERS, Blocks, gguf_bytes

WIDTH, ROWS = 256, 6
SIZES = {
    **{"Q4_0": 144, "Q4_1": 160, "Q5_0": 176, "Q5_1": 192, "Q8_0": 272, "Q2_K": 84, "Q3_K": 110},
    **{"Q4_K": 144, "Q5_K": 176, "Q6_K": 210, "IQ4_NL": 144, "IQ4_XS": 136, "MXFP4": 136},
}
# Where numbers that matter are likely: lengths, counts, offsets, types.
LARGE = (0, 1, 8, 31, 32, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)


def _file(model, kind):
    words = ["[UNK]", "[CLS]", "[SEP]", "▁a", "b", "▁ab"]
    shapes = {
        **{f"blk.0.attn_{x}": (WIDTH, WIDTH) for x in ("q", "k", "v", "output")},
        **{"blk.0.ffn_up": (WIDTH, WIDTH), "blk.0.ffn_down": (WIDTH, WIDTH)},
        **{"token_embd": (ROWS, WIDTH), "token_types": (2, WIDTH), "position_embd": (8, WIDTH)},
    }
    zeros = np.zeros((WIDTH, WIDTH), np.float16)
    tensors = {f"{n}.weight": zeros[: s[0]] for n, s in shapes.items()}
    if kind is not None:
        octets = np.zeros((WIDTH, SIZES[kind]), np.uint8)
        tensors["blk.0.ffn_up.weight"] = Blocks(kind, (WIDTH, WIDTH), octets)
    norms = ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm")
    biased = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")
    ones = np.ones(WIDTH, np.float32)
    tensors |= {f"{norm}.{part}": ones for norm in norms for part in ("weight", "bias")}
    tensors |= {f"blk.0.{name}.bias": ones for name in biased}
    sizes = {
        **{"context_length": 8, "embedding_length": WIDTH, "feed_forward_length": WIDTH},
        **{"block_count": 1, "attention.head_count": 4, "attention.layer_norm_epsilon": 1e-6},
        "pooling_type": 1,
    }
    tokens = {
        **{"model": model, "tokens": words, "merges": ["▁a b"] if model == "gpt2" else []},
        "token_type": np.array([2, 3, 3, 1, 1, 1], np.int32),
        "scores": -np.arange(6, dtype=np.float32),
        **{"cls_token_id": 1, "bos_token_id": 1, "seperator_token_id": 2, "unknown_token_id": 0},
    }
    metadata = {
        "general.architecture": "bert",
        **{f"bert.{key}": value for key, value in sizes.items()},
        **{f"tokenizer.ggml.{key}": value for key, value in tokens.items()},
    }
    return gguf_bytes(metadata, tensors)


def _seeds():
    kinds = [None, *NUMBERS]
    models = ("bert", "t5", "gpt2", "llama")
    return [_file(models[n % len(models)], kind) for n, kind in enumerate(kinds)]


def _mutate(data, rng):
    """Mostly change the header, which is a small part of the file."""
    header = min(len(data), 2800)
    if rng.random() < 0.4 and header > 8:
        at = rng.randrange(header - 8)
        return data[:at] + rng.choice(LARGE).to_bytes(8, "little") + data[at + 8 :]
    if rng.random() < 0.8:
        return change_bytes(data[:header], rng) + data[header:]
    return change_bytes(data, rng)


def _run(data):
    path = file_in("gguf", "m.gguf")
    path.write_bytes(data)
    fbg.load(path, num_threads=1).encode("ab a")


KIND = target("gguf", _seeds, _mutate, _run, (fbg.ModelError,))
