"""Random BERT checkpoints for tests and benchmarks, written without torch, and BERT in NumPy.

A checkpoint is a pure function of (geometry, seed): its numbers come from the raw PCG64 bit stream,
which NumPy promises never to change, through integer arithmetic and one exact scaling. So a golden
array made once by another program stays valid, and no weights need to be stored in the repository.

    python tests/helpers/tiny_bert.py DIRECTORY --geometry base

`reference_forward` is the encoder of the BERT paper in float64: slow, short, easy to check by eye.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from tokenizers.processors import TemplateProcessing

Array = npt.NDArray[Any]
Tensors = dict[str, Array]

DTYPES = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}


MISSING = object()


@dataclass(frozen=True)
class Geometry:
    """The sizes of a BERT encoder, under their names in config.json."""

    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    vocab_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12


# Nothing here is a multiple of a vector, a panel or a tile; a head is 16 wide.
AWKWARD = Geometry(48, 2, 3, 100, vocab_size=99, max_position_embeddings=40)
TINYBERT = Geometry(312, 4, 12, 1200, vocab_size=30522)  # a head is 26 wide
MINILM = Geometry(384, 6, 12, 1536, vocab_size=30522)
BASE = Geometry(768, 12, 12, 3072, vocab_size=30522)
LARGE = Geometry(1024, 24, 16, 4096, vocab_size=30522)
GEOMETRIES = {
    "awkward": AWKWARD,
    "tinybert": TINYBERT,
    "minilm": MINILM,
    "base": BASE,
    "large": LARGE,
}

# The spread of 0.25 (BERT is initialised with 0.02) makes attention pick out single tokens instead
# of averaging over all.
GOLDEN_SEED, GOLDEN_SPREAD = 20, 0.25


def near_normal(rng, shape, std):
    """float32 with mean 0 and deviation `std`: the sum of the four 16-bit parts of a raw word.

    A uniform of 16 bits has variance (2^32 - 1)/12; four of them, a third of 2^32.
    """
    words = np.asarray(rng.random_raw(math.prod(shape)), dtype=np.uint64).view(np.uint16)
    total = words.reshape(-1, 4).sum(axis=1, dtype=np.int32) - 2 * 65535
    return (total * (std * math.sqrt(3.0) / 65536.0)).astype(np.float32).reshape(shape)


def random_tensors(geometry, seed=0, spread=0.02):
    """Every tensor of a Hugging Face `BertModel`, float32, by its name there (no prefix)."""
    g = geometry
    h, i = g.hidden_size, g.intermediate_size
    matrices = {
        "embeddings.word_embeddings.weight": (g.vocab_size, h),
        "embeddings.position_embeddings.weight": (g.max_position_embeddings, h),
        "embeddings.token_type_embeddings.weight": (g.type_vocab_size, h),
    }
    norms = ["embeddings.LayerNorm"]
    linears = {}
    for n in range(g.num_hidden_layers):
        layer = f"encoder.layer.{n}"
        for part in ("query", "key", "value"):
            linears[f"{layer}.attention.self.{part}"] = (h, h)
        linears[f"{layer}.attention.output.dense"] = (h, h)
        linears[f"{layer}.intermediate.dense"] = (i, h)
        linears[f"{layer}.output.dense"] = (h, i)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    linears["pooler.dense"] = (h, h)

    rng = np.random.PCG64(seed)
    tensors = {name: near_normal(rng, shape, spread) for name, shape in matrices.items()}
    for name, shape in linears.items():
        tensors[f"{name}.weight"] = near_normal(rng, shape, spread)
        tensors[f"{name}.bias"] = near_normal(rng, shape[:1], spread)
    for name in norms:
        tensors[f"{name}.weight"] = 1 + near_normal(rng, (h,), 0.1)
        tensors[f"{name}.bias"] = near_normal(rng, (h,), 0.1)
    return tensors


def vocabulary(size):
    """Special tokens, then letters and digits (as a word's start and inside it), then fillers."""
    characters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += list(characters) + [f"##{c}" for c in characters] + list(".,;:!?-'\"()")
    words = words[:size] + [f"word{n}" for n in range(size - len(words))]
    return {word: number for number, word in enumerate(words)}


def wordpiece(size):
    """A lower-casing WordPiece tokenizer of `size` entries that frames text as [CLS] … [SEP]."""
    words = vocabulary(size)
    tokenizer = Tokenizer(WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])],
    )
    return tokenizer


def config(geometry):
    """The contents of config.json."""
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        **asdict(geometry),
    }


def write_checkpoint(
    directory,
    geometry=AWKWARD,
    tensors=None,
    *,
    seed=0,
    spread=0.02,
    dtype="float32",
    prefix="",
    pooling="mean",
    normalize=True,
):
    """Write a Hugging Face model directory (with sentence-transformers' files, if `pooling`).

    dtype: what model.safetensors stores: "float32", "float16" or "bfloat16" (rounded to nearest).
    prefix: put before every tensor name; checkpoints of models with a head use "bert.".
    pooling: "mean" or "cls" writes modules.json and 1_Pooling/config.json; None omits them.
    """
    path = Path(directory)
    path.mkdir(parents=True, exist_ok=True)
    if tensors is None:
        tensors = random_tensors(geometry, seed, spread)
    stored = {prefix + name: tensor.astype(DTYPES[dtype]) for name, tensor in tensors.items()}
    save_file(stored, path / "model.safetensors", metadata={"format": "pt"})
    write_json(path / "config.json", config(geometry))
    wordpiece(geometry.vocab_size).save(str(path / "tokenizer.json"))
    if pooling is not None:
        modules = [("Transformer", ""), ("Pooling", "1_Pooling")]
        write_modules(path, *modules, *[("Normalize", "2_Normalize")] * normalize)
        write_json(
            path / "1_Pooling" / "config.json",
            {
                "word_embedding_dimension": geometry.hidden_size,
                "pooling_mode_cls_token": pooling == "cls",
                "pooling_mode_mean_tokens": pooling == "mean",
                "pooling_mode_max_tokens": False,
                "pooling_mode_mean_sqrt_len_tokens": False,
            },
        )
        write_json(
            path / "sentence_bert_config.json",
            {"max_seq_length": geometry.max_position_embeddings, "do_lower_case": False},
        )
    return path


def write_json(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def changed(settings, changes):
    """Return settings with others; those that are MISSING are left out."""
    return {k: v for k, v in {**settings, **changes}.items() if v is not MISSING}


def change_json(path, /, **changes):
    """Set keys of a JSON file, or remove those that are MISSING."""
    write_json(path, changed(json.loads(path.read_text()), changes))


def write_modules(directory, *modules):
    """Write modules.json of sentence-transformers. modules: the class and the folder of each."""
    entries = [
        {
            "idx": n,
            "name": str(n),
            "path": folder,
            "type": kind if "." in kind else f"sentence_transformers.models.{kind}",
        }
        for n, (kind, folder) in enumerate(modules)
    ]
    write_json(directory / "modules.json", entries)


def reference_forward(geometry, tensors, input_ids, attention_mask=None, token_type_ids=None):
    """BERT in float64: (batch, length, hidden), zero where masked, and pooled (batch, hidden)."""
    w = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    ids = np.atleast_2d(input_ids)
    batch, length = ids.shape
    mask = np.ones(ids.shape, bool) if attention_mask is None else np.asarray(attention_mask) != 0
    types = np.zeros_like(ids) if token_type_ids is None else token_type_ids
    heads = geometry.num_attention_heads
    width = geometry.hidden_size // heads

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def layer_norm(x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + geometry.layer_norm_eps)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def split(x):  # (batch, length, hidden) -> (batch, head, length, width)
        return x.reshape(batch, length, heads, width).transpose(0, 2, 1, 3)

    def activation(x):
        if geometry.hidden_act == "relu":
            return np.maximum(x, 0)
        return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2.0))) / 2

    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][:length]
    x = x + w["embeddings.token_type_embeddings.weight"][types]
    x = layer_norm(x, "embeddings.LayerNorm")
    for n in range(geometry.num_hidden_layers):
        layer = f"encoder.layer.{n}"
        q, k, v = (
            split(linear(x, f"{layer}.attention.self.{p}")) for p in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(width)
        scores = np.where(mask[:, None, None, :], scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        context = (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        attended = linear(context, f"{layer}.attention.output.dense")
        x = layer_norm(x + attended, f"{layer}.attention.output.LayerNorm")
        hidden = activation(linear(x, f"{layer}.intermediate.dense"))
        x = layer_norm(x + linear(hidden, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    pooled = np.tanh(linear(x[:, 0], "pooler.dense"))
    return np.where(mask[..., None], x, 0.0), pooled


def golden_inputs(geometry=AWKWARD):
    """Batches: full length, one token, and a mask with holes and types."""
    raw = np.asarray(np.random.PCG64(21).random_raw(4 * geometry.max_position_embeddings))
    ids = (raw % np.uint64(geometry.vocab_size)).astype(np.int64).reshape(4, -1)
    holey = ids[:, :24]
    position = np.arange(24)
    mask = np.stack(
        [position % 3 != 1, position < 17, position >= 5, (position < 4) | (position > 18)]
    )
    types = np.stack([position >= 9, position % 2 == 1, position < 12, position >= 24])
    return {
        "full": ids,
        "single": ids[:1, :1],
        "holey": holey,
        "holey_mask": mask.astype(np.int64),
        "holey_types": types.astype(np.int64),
    }


def main():
    parser = argparse.ArgumentParser(description="Write a random BERT checkpoint.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--geometry", choices=sorted(GEOMETRIES), default="awkward")
    parser.add_argument("--layers", type=int, help="replace the geometry's number of layers")
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="float32")
    parser.add_argument("--prefix", default="", help='for example "bert."')
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    geometry = GEOMETRIES[arguments.geometry]
    if arguments.layers is not None:
        geometry = replace(geometry, num_hidden_layers=arguments.layers)
    path = write_checkpoint(
        arguments.directory,
        geometry,
        seed=arguments.seed,
        dtype=arguments.dtype,
        prefix=arguments.prefix,
    )
    print(path)


if __name__ == "__main__":
    main()
