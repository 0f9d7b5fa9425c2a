"""The golden arrays of GGUF files, by the package gguf, which llama.cpp's converter uses.

types: blocks of each type and what they stand for. names: of the tensors of tiny models, by
architecture, as the converter calls them. written: a file that the package wrote.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quants

from helpers.minilm import arrays

BLOCKS = 6
# The bytes of each type at which float16 numbers are.
HALVES: dict[str, tuple[int, ...]] = {
    **{"Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,)},
    **{"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)},
    **{"IQ4_NL": (0,), "IQ4_XS": (0,), "MXFP4": ()},
}
# Architectures, and the tiny models that they are tested with.
MODELS = {
    "bert": "bert",
    "nomic-bert": "nomic_bert-hub",
    "jina-bert-v3": "xlm-roberta-flash",
    "modern-bert": "modernbert",
    "eurobert": "eurobert",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma-embedding": "gemma3_text",
    "llama": "llama",
    "t5encoder": "t5",
}


def gguf_arrays() -> dict[str, Any]:
    rng = np.random.default_rng(34)
    result: dict[str, Any] = {}
    for name, halves in HALVES.items():
        kind = GGMLQuantizationType[name]
        _, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = rng.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
        for at in halves:
            numbers = rng.normal(scale=0.003, size=(BLOCKS, 1)).astype("<f2")
            blocks[:, at : at + 2] = numbers.view(np.uint8)
        if name == "MXFP4":
            blocks[:, 0] = [0, 1, 2, 120, 124, 125]
        result[name] = blocks
        result[f"{name}_values"] = quants.dequantize(blocks, kind)
    result["names"] = json.dumps({name: _names(name, model) for name, model in MODELS.items()})
    result["written"] = _written()
    return result


def _names(architecture: str, model: str) -> dict[str, str]:
    shapes = json.loads(str(arrays(f"tiny_{model}")["shapes"]))
    kind = next(kind for kind, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    table = gguf.get_tensor_name_map(kind, 6)  # more layers than any tiny model has
    found = {name: table.get_name(name, try_suffixes=(".weight", ".bias")) for name in shapes}
    return {name: known for name, known in found.items() if known is not None}


def _written() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.gguf"
        writer = GGUFWriter(path, "bert")
        writer.add_context_length(12)
        writer.add_causal_attention(False)
        writer.add_layer_norm_eps(1e-12)
        writer.add_token_list(["[PAD]", "▁über", "x"])
        writer.add_token_scores([0.0, -1.5, 2.0])
        writer.add_token_types([3, 1, 1])
        numbers = np.arange(64, dtype=np.float32).reshape(2, 32)
        writer.add_tensor("float32", numbers)
        writer.add_tensor("float16", numbers.astype(np.float16)[:1])
        kind = GGMLQuantizationType.Q8_0
        writer.add_tensor("Q8_0", quants.quantize(numbers, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return np.frombuffer(path.read_bytes(), np.uint8)
