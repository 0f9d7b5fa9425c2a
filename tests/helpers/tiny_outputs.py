"""Tiny random models for each kind of output, and what they are asked.

scripts/goldens/sentence_transformers.py asks the packages that the models come from, and stores
what they answer in tests/data/tiny_outputs.npz.
"""

import numpy as np
from safetensors.numpy import save_file

from helpers import tiny_bert, tiny_models
from helpers.tiny_bert import write_json, write_modules
from helpers.torch_files import write_torch_file

TEXTS = ["the cat", "Ada lives in the north, near York.", "x", "zebra 42! over the hill; again", ""]
UNKNOWN = ["the \u4e2d cat", "\u4e2d"]  # of which the vocabulary has no token
LONG = " ".join(TEXTS * 4)


def random(name, *shape):
    return tiny_models.random_tensors({name: shape})[name]


# --- Static embeddings ------------------------------------------------------------------------

ROWS, COLUMNS, MAX_LENGTH = 120, 16, 24
STATIC = ("plain", "dense", "model2vec", "mapped", "half")


def tokenizer():
    return tiny_bert.wordpiece(ROWS)


def write_static(path, name):
    """Write a directory with static embeddings, one of STATIC."""
    if name in ("plain", "dense"):
        return _write_static_module(path, name)
    path.mkdir(parents=True, exist_ok=True)
    tokenizer().save(str(path / "tokenizer.json"))
    config = {"model_type": "model2vec", "normalize": name != "half", "hidden_dim": COLUMNS}
    config |= {"max_length": MAX_LENGTH} if name != "half" else {}
    write_json(path / "config.json", config)
    rows = 20 if name == "mapped" else ROWS
    tensors = {"embeddings": random("embeddings", rows, COLUMNS)}
    if name == "half":
        tensors["embeddings"] = tensors["embeddings"].astype(np.float16)
    if name == "mapped":
        tensors["weights"] = np.abs(random("weights", ROWS)).astype(np.float64)
        tensors["mapping"] = (np.arange(ROWS) * 7 % rows).astype(np.int64)
    save_file(tensors, path / "model.safetensors")
    return path


def _write_static_module(path, name):
    folder = path / "0_StaticEmbedding"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer().save(str(folder / "tokenizer.json"))
    table = random("embedding.weight", ROWS, COLUMNS)
    save_file({"embedding.weight": table}, folder / "model.safetensors")
    kinds = [("StaticEmbedding", folder.name)]
    if name == "dense":
        kinds += [("Dense", "1_Dense"), ("Normalize", "2_Normalize")]
        write_dense(path / "1_Dense", COLUMNS, 8)
    write_modules(path, *kinds)
    return path


def write_dense(path, inputs, outputs, **settings):
    path.mkdir(parents=True, exist_ok=True)
    config = {
        "in_features": inputs,
        "out_features": outputs,
        "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh",
        **settings,
    }
    write_json(path / "config.json", config)
    tensors = {"linear.weight": random(path.name, outputs, inputs)}
    if config["bias"]:
        tensors["linear.bias"] = random(f"{path.name}.bias", outputs)
    save_file(tensors, path / "model.safetensors")


# --- Dense, sparse and multi-vector embeddings in one pass --------------------------------------

DIMENSION = 12
SPARSE, MULTI = "sparse_linear.pt", "colbert_linear.pt"


def write_hybrid(path, pooling="cls"):
    """Write a directory like bge-m3's."""
    tokens = tiny_models.TOKENIZERS["xlm-roberta"]()
    tokens.add_special_tokens(["<mask>"])
    tiny_models.write_tiny(path, "xlm-roberta", tokenizer=tokens)
    write_modules(path, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_N"))
    write_json(path / "1_Pooling" / "config.json", {"pooling_mode": pooling})
    hidden = tiny_models.CONFIGS["xlm-roberta"]["hidden_size"]
    for name, rows in ((SPARSE, 1), (MULTI, DIMENSION)):
        weight = random(f"{name}.weight", rows, hidden).astype(np.float16)
        bias = random(f"{name}.bias", rows).astype(np.float16)
        write_torch_file(path / name, {"weight": weight, "bias": bias})
    return path
