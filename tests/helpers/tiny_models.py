"""A tiny random checkpoint of every family of encoders that fbg reads.

What a family's config.json and tensors look like is for transformers to say: scripts/golden.py
builds each model of tests/data/tiny_models.yaml there and stores its config.json and the shapes of
its tensors beside the golden outputs, in tests/data/tiny_<name>.npz. The numbers are a function of
names, shapes and a seed, so the tests write the same checkpoint without transformers.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import BPE, Unigram
from tokenizers.processors import TemplateProcessing

from helpers.minilm import arrays
from helpers.tiny_bert import changed, near_normal, wordpiece, write_json
from helpers.tiny_families import CONFIGS as CONFIGS
from helpers.tiny_families import VOCABULARY

Array = npt.NDArray[Any]
Tensors = dict[str, Array]

SEED, SPREAD = 22, 0.2


@dataclass(frozen=True)
class TinyModel:
    """One of tiny_models.yaml: its files, and what transformers computed."""

    name: str
    config: dict[str, Any]  # config.json
    tensors: Tensors
    golden: dict[str, Array]


def random_tensors(shapes, seed=SEED):
    """Values of the tensors, drawn in the order of `shapes`: norms near 1 and 0, others spread."""
    rng = np.random.PCG64(seed)
    tensors = {}
    for name, shape in shapes.items():
        norm = "norm" in name.lower() or name.rpartition(".")[0].endswith((".ln", "_ln"))
        values = near_normal(rng, shape, 0.1 if norm else SPREAD)
        tensors[name] = values + 1 if norm and name.endswith(".weight") else values
    return tensors


def tiny_model(name):
    golden = arrays(f"tiny_{name}")
    config = json.loads(str(golden.pop("config")))
    shapes = {key: tuple(shape) for key, shape in json.loads(str(golden.pop("shapes"))).items()}
    return TinyModel(name, config, random_tensors(shapes), golden)


def max_length(config):
    """Tokens of a sequence with a position for each; some families begin after the padding id."""
    keys = ("max_position_embeddings", "n_positions", "max_length")
    length = next(config[key] for key in keys if config.get(key))
    skips = ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet")
    if config["model_type"] in skips and config.get("position_embedding_type") != "rotary":
        length -= config["pad_token_id"] + 1
    return length


def golden_inputs(config):
    """Two batches. full: as long as the position table allows, padding ids among the others.
    holey: a mask with holes, without its first token, and with padding at the right."""
    padding = config["pad_token_id"]
    length = max_length(config)
    raw = np.asarray(np.random.PCG64(23).random_raw(5 * length))
    ids = (raw % np.uint64(config["vocab_size"])).astype(np.int64).reshape(5, length)
    full, holey = ids[:2], ids[2:, :13].copy()
    full[0, 3] = full[1, 0] = padding
    position = np.arange(13)
    mask = np.stack([position % 3 != 1, position >= 4, position < 8])
    holey[2, 8:] = padding
    types = np.stack([position >= 9, position % 2 == 1, position < 5])
    inputs = {"full": full, "holey": holey, "holey_mask": mask.astype(np.int64)}
    if config.get("type_vocab_size", 1) > 1:
        inputs["holey_types"] = types.astype(np.int64)
    return inputs


def write_checkpoint(directory, config, tensors, *, prefix="", tokenizer=None):
    """Write a Hugging Face model directory, without the files of sentence-transformers."""
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "config.json", config)
    (tokenizer or wordpiece(VOCABULARY)).save(str(directory / "tokenizer.json"))
    stored = {prefix + name: tensor for name, tensor in tensors.items()}
    save_file(stored, directory / "model.safetensors", metadata={"format": "pt"})
    return directory


def write_tiny(directory, name, *, prefix="", tokenizer=None, **changes):
    """Write the model of that name. changes: other settings of config.json."""
    model = tiny_model(name)
    config = changed(model.config, changes)
    return write_checkpoint(directory, config, model.tensors, prefix=prefix, tokenizer=tokenizer)


def move_encoder(directory, folder="0_Transformer"):
    """Put the files of the encoder, the first module, into a folder of their own."""
    (directory / folder).mkdir()
    for path in sorted(directory.iterdir()):
        if path.is_file() and path.name not in (
            "modules.json",
            "config_sentence_transformers.json",
        ):
            path.rename(directory / folder / path.name)
    first, *others = json.loads((directory / "modules.json").read_text())
    write_json(directory / "modules.json", [{**first, "path": folder}, *others])
    return directory


# --- Tokenizers -------------------------------------------------------------------------------

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
CHARACTERS = list("abcdefghijklmnopqrstuvwxyz0123456789.,;:!?-")


def _framed(tokenizer):
    """Text as <s> … </s>; special tokens are found in it."""
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    return tokenizer


def byte_pairs():
    """As RoBERTa's: byte-level BPE with three merges."""
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the")]
    tokens = [*SPECIAL, "Ġ", *CHARACTERS, *("".join(pair) for pair in merges)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(BPE(vocabulary, merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _framed(tokenizer)


def unigram():
    """As XLM-RoBERTa's, CamemBERT's and ALBERT's: SentencePiece's unigram model."""
    pieces = [(token, 0.0) for token in SPECIAL]
    pieces += [("▁", -2.0), ("▁the", -2.5), *((token, -3.0) for token in CHARACTERS)]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return _framed(tokenizer)


TOKENIZERS = {
    "bert": lambda: wordpiece(VOCABULARY),
    "roberta": byte_pairs,
    "xlm-roberta": unigram,
    "camembert": unigram,
    "distilbert": lambda: wordpiece(VOCABULARY),
    "electra": lambda: wordpiece(VOCABULARY),
    "albert": unigram,
    "mpnet": lambda: wordpiece(VOCABULARY),
    "modernbert": byte_pairs,
    **dict.fromkeys(("llama", "mistral", "qwen2", "qwen3", "eurobert"), byte_pairs),
    **dict.fromkeys(
        (
            *("gemma2", "gemma3_text", "t5", "mt5", "gte", "new", "xlm-roberta-xl"),
            *("jina_embeddings_v3", "xlm-roberta-flash"),
        ),
        unigram,
    ),
    "deberta": byte_pairs,
    "deberta-v2": unigram,
    **dict.fromkeys(
        ("nomic_bert", "megatron-bert", "rembert", "jina_bert", "neobert"),
        lambda: wordpiece(VOCABULARY),
    ),
}
