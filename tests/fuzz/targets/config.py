"""The settings of a model: every JSON file of a checkpoint but its tokenizer, in one document."""

from __future__ import annotations

import json

import fbg
from fuzz.files import SMALL, checkpoint
from fuzz.mutations import change_json_text
from fuzz.target import target
from helpers import tiny_bert

# Files that a case may give the checkpoint.
FILES = (
    "config.json",
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)


def _seeds():
    config = tiny_bert.config(SMALL)
    sentence = {"max_seq_length": 8, "do_lower_case": False}
    prompts = {"prompts": {"query": "find: "}, "default_prompt_name": "query"}
    modules = json.loads((checkpoint("config") / "modules.json").read_text())
    pooling = json.loads((checkpoint("config") / "1_Pooling/config.json").read_text())
    classify = {
        **config,
        "architectures": ["BertForSequenceClassification"],
        "id2label": {"0": "a", "1": "b"},
        "label2id": {"a": 0, "b": 1},
    }
    tokenizer = {"model_max_length": 10, "do_lower_case": True, "truncation_side": "left"}
    whole = {
        "config.json": config,
        "modules.json": modules,
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": sentence,
        "config_sentence_transformers.json": prompts,
        "tokenizer_config.json": tokenizer,
    }
    roberta = {**config, "model_type": "roberta", "pad_token_id": 1}
    modern = {**config, "model_type": "modernbert", "global_rope_theta": 1e4, "local_attention": 4}
    kinds = ({"config.json": c} for c in (config, classify, roberta, modern))
    return [json.dumps(files).encode() for files in (whole, *kinds)]


def _run(data):
    directory = checkpoint("config")
    try:
        files = json.loads(data)
    except (ValueError, RecursionError):
        files = None
    if not isinstance(files, dict):  # not a set of files: the bytes of one
        (directory / "config.json").write_bytes(data)
        files = {"config.json": None}
    else:
        for name in FILES:
            path = directory / name
            if name in files:
                path.write_text(json.dumps(files[name]))
            else:
                path.unlink(missing_ok=True)
    model = fbg.load(directory, dtype="float32", num_threads=1)
    model.encode("the dog")


KIND = target("config", _seeds, change_json_text, _run, (fbg.ModelError, ValueError))
