"""Tiny random sparse models whose queries pass no encoder: a Router with a table of weights."""

import numpy as np
from safetensors.numpy import save_file

from helpers import tiny_tasks
from helpers.tiny_bert import write_json, write_modules
from helpers.tiny_outputs import random

NAME = "bert-ForMaskedLM"
TEXTS = [*tiny_tasks.TEXTS, "the the cat", "", "[MASK] a", "x " * 40]
QUERY_LENGTH = 30

# Where the encoder of documents is: as sentence-transformers saves it, and as models on the hub
# have it, whose other readers look for it in the directory itself.
ROUTED = {"saved": "document_0_MLMTransformer", "hub": ""}


def write_routed(path, name):
    encoder, pooling, table = ROUTED[name], "document_1_SpladePooling", "query_0_Table"
    tiny_tasks.write_model(path / encoder, NAME)
    _write_tokenizer(path / encoder, tiny_tasks.LENGTH)
    modules = "sentence_transformers.sparse_encoder.models"
    write_modules(path, ("Router", ""))
    types = {
        encoder: f"{modules}.MLMTransformer",
        pooling: f"{modules}.SpladePooling",
        table: f"{modules}.SparseStaticEmbedding",
    }
    router = {
        "types": types,
        "structure": {"query": [table], "document": [encoder, pooling]},
        "parameters": {"default_route": "document", "allow_empty_key": True},
    }
    write_json(path / "router_config.json", router)
    (path / pooling).mkdir()
    settings = {"pooling_strategy": "max", "activation_function": "log1p_relu"}
    write_json(path / pooling / "config.json", settings)
    (path / table).mkdir()
    write_json(path / table / "config.json", {"frozen": False})
    _write_tokenizer(path / table, QUERY_LENGTH)
    vocabulary = len(tiny_tasks.tokenizer("bert").get_vocab())
    weights = np.abs(random("weight", vocabulary)) * (np.arange(vocabulary) % 5 != 0)
    save_file({"weight": weights.astype(np.float32)}, path / table / "model.safetensors")
    prompts = {"prompts": {"query": "", "document": ""}, "default_prompt_name": None}
    own = {"model_type": "SparseEncoder", "similarity_fn_name": None, **prompts}
    write_json(path / "config_sentence_transformers.json", own)
    return path


def _write_tokenizer(path, longest):
    tiny_tasks.tokenizer("bert").save(str(path / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": longest,
        "pad_token": "[PAD]",
        "mask_token": "[MASK]",
    }
    write_json(path / "tokenizer_config.json", settings)
