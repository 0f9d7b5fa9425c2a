"""Tiny random models with a vector for every token, in PyLate's layout and in that of
MultiVectorEncoder of sentence-transformers.
"""

import json
from typing import Any, NamedTuple

from tokenizers import Tokenizer

from helpers import tiny_models
from helpers.tiny_bert import write_json, write_modules
from helpers.tiny_outputs import random, write_dense

QUERIES = ["the cat", "who wrote it, and when?", "x", "a " * 40, ""]
DOCUMENTS = ["Ada, lives in the north.", "x; y!", "the " * 50, "?", "no idea 42"]
LENGTH = 16


class Multi(NamedTuple):
    """A model: its family, its layout, settings of its configuration files."""

    family: str
    layout: str
    settings: dict[str, Any]


def expansion(**values):
    return {"query_expansion": {"strategy": "fixed", "attend": False, "length": LENGTH, **values}}


MODELS = {
    "pylate": Multi(
        "bert",
        "pylate",
        {
            "query_length": LENGTH,
            "document_length": 20,
            "query_prefix": "word1 ",
            "document_prefix": "word0 ",
        },
    ),
    "pylate-attended": Multi(
        "roberta",
        "pylate",
        {
            "query_length": LENGTH,
            "document_length": 12,
            "attend_to_expansion_tokens": True,
            "query_prefix": "[unused0]",
            "skiplist_words": ["x", "the"],
        },
    ),
    "pylate-plain": Multi(
        "bert",
        "pylate",
        {"query_length": 9, "document_length": 12, "do_query_expansion": False},
    ),
    "hidden": Multi("modernbert", "package", {**expansion(), "document_length": 20}),
    "distances": Multi("mpnet", "package", expansion()),
    "counted": Multi("xlm-roberta", "package", expansion()),
    "least": Multi("nomic_bert", "package", {**expansion(strategy="min"), "query_length": 24}),
    "named": Multi("bert", "package", expansion(attend=True, token="a")),
    "artifact": Multi(
        "bert",
        "artifact",
        {
            "dim": 8,
            "query_maxlen": LENGTH,
            "doc_maxlen": 20,
            "query_token_id": "word1",
            "doc_token_id": "word0",
            "mask_punctuation": True,
            "attend_to_mask_tokens": False,
        },
    ),
    "none": Multi("modernbert", "package", {"query_length": 10}),
}


# In PyLate's layout with tokens of their own as prefixes: compared with PyLate itself.
PYLATE = {
    "default": Multi("mpnet", "pylate", {"document_length": 20}),
    "attended": Multi(
        "modernbert",
        "pylate",
        {
            "query_length": LENGTH,
            "document_length": 12,
            "query_prefix": "[Q] ",
            "document_prefix": "[D] ",
            "attend_to_expansion_tokens": True,
            "do_query_expansion": True,
            "skiplist_words": ["x", ",", "?"],
        },
    ),
    "plain": Multi(
        "bert",
        "pylate",
        {
            "query_length": 9,
            "document_length": 12,
            "query_prefix": "",
            "document_prefix": "[D] ",
            "do_query_expansion": False,
        },
    ),
}


def tokenizer(family, markers=False):
    """markers: two tokens that texts have no use for are [Q] and [D], as PyLate adds them."""
    result = tiny_models.TOKENIZERS[family]()
    if markers:
        names = ("word0", "word1") if result.token_to_id("word0") is not None else ("9", "8")
        text = result.to_str()
        for old, new in zip(names, ("[Q] ", "[D] "), strict=True):
            text = text.replace(json.dumps(old), json.dumps(new))
        result = Tokenizer.from_str(text)
        result.add_tokens(["[Q] ", "[D] "])
    square = result.token_to_id("[MASK]") is not None
    # Tokens of the vocabulary, so that it does not grow.
    result.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[MASK]"] if square else ["<mask>"])
    return result


def write_multi(path, name):
    """Write one of MODELS, or of PYLATE."""
    family, layout, settings = {**MODELS, **PYLATE}[name]
    tokens_of_model = tokenizer(family, name in PYLATE)
    model = tiny_models.tiny_model(family)
    # A window within which every mask token sees some token of the query.
    wide = {"local_attention": 24} if family == "modernbert" else {}
    config = {**model.config, **wide}
    tensors = model.tensors
    if layout == "artifact":
        config["architectures"] = ["HF_ColBERT"]
        prefixed = {f"bert.{key}": tensor for key, tensor in tensors.items()}
        tensors = {**prefixed, "linear.weight": random("linear", 8, config["hidden_size"])}
    tiny_models.write_checkpoint(path, config, tensors, tokenizer=tokens_of_model)
    square = tokens_of_model.token_to_id("[MASK]") is not None
    names = ("[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]")
    tokens = names if square else ("<s>", "</s>", "<unk>", "<pad>", "<mask>")
    keys = ("cls_token", "sep_token", "unk_token", "pad_token", "mask_token")
    longest = tiny_models.max_length(model.config)
    named = dict(zip(keys, tokens, strict=True))
    write_json(
        path / "tokenizer_config.json",
        {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest, **named},
    )
    if layout == "artifact":
        write_json(path / "artifact.metadata", settings)
        return path
    hidden = model.config["hidden_size"]
    folders = {"transformer.Transformer": "", "dense.Dense": "1_Dense"}
    dense = {"activation_function": "torch.nn.modules.linear.Identity"}
    if layout == "pylate":
        modules = {
            "Transformer": "",
            "pylate.models.Dense.Dense": "1_Dense",
        }
        write_dense(path / "1_Dense", hidden, 8, bias=False, use_residual=False, **dense)
        write_json(path / "sentence_bert_config.json", {"max_seq_length": longest})
        own = {"model_type": "ColBERT", "prompts": {}, "default_prompt_name": None}
        write_json(path / "config_sentence_transformers.json", {**own, **settings})
    else:
        base = "sentence_transformers.base.modules"
        modules = {f"{base}.{kind}": folder for kind, folder in folders.items()}
        multi = "sentence_transformers.multi_vector_encoder.modules"
        multi += ".multi_vector_mask.MultiVectorMask"
        modules |= {multi: "2_Mask", "Normalize": "3_Normalize"}
        write_dense(path / "1_Dense", hidden, 8, module_input_name="token_embeddings", **dense)
        mask = {"skiplist_words": [",", "x"], "skiplist_tasks": ["document"]}
        write_json(path / "2_Mask" / "config.json", {**mask, "keep_only_token_ids": None})
        write_json(path / "3_Normalize" / "config.json", {"module_input_name": "token_embeddings"})
        write_json(path / "sentence_bert_config.json", settings)
        prompts = {"prompts": {"query": "q: ", "document": "d. "}, "default_prompt_name": None}
        own = {"model_type": "MultiVectorEncoder", "similarity_fn_name": "maxsim", **prompts}
        write_json(path / "config_sentence_transformers.json", own)
    write_modules(path, *modules.items())
    return path
