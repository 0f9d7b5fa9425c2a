"""Tiny random GLiNER models: their settings, what they are asked, and their files.

The package gliner says what it finds: scripts/golden.py stores it in
tests/data/tiny_gliner.npz, and checks what tensors are called here.
"""

import json
from functools import cache

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import Unigram
from tokenizers.processors import TemplateProcessing

from helpers.minilm import arrays
from helpers.tiny_bert import write_json
from helpers.tiny_models import CHARACTERS, random_tensors, tiny_model

SPECIAL = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
# gliner adds these, in this order, to a tokenizer: where class_token_index is -1, it takes the last
# token but one for the marker of labels.
ADDED = ["[FLERT]", "<<ENT>>", "<<SEP>>"]
TOKENS = len(SPECIAL) + 2 + len(CHARACTERS) + len(ADDED)
MARKER = TOKENS - 2
ENCODER = {
    "model_type": "deberta-v2",
    "vocab_size": TOKENS,
    "hidden_size": 36,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 77,
    "max_position_embeddings": 256,
    "hidden_act": "gelu",
    "relative_attention": True,
    "position_buckets": 8,
    "max_relative_positions": -1,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
    "pad_token_id": 1,
}
ENCODER_LENGTH = 256


def _encoder(name):
    """The settings of another encoder, with the tokens and the length of these models."""
    config = tiny_model(name).config
    length = "n_positions" if "n_positions" in config else "max_position_embeddings"
    return {**config, "vocab_size": TOKENS, length: ENCODER_LENGTH}


COMMON = {
    "model_name": "microsoft/deberta-v3-small",
    "span_mode": "markerV0",
    "subtoken_pooling": "first",
    "words_splitter_type": "whitespace",
    "fine_tune": True,
    "fuse_layers": False,
    "dropout": 0.4,
    "max_len": 60,
    "ent_token": "<<ENT>>",
    "sep_token": "<<SEP>>",
    "vocab_size": TOKENS,
    "encoder_config": ENCODER,
}
CONFIGS = {
    # As those that are published: narrower than the encoder, and with an LSTM.
    "published": {
        **COMMON,
        "hidden_size": 24,
        "max_width": 4,
        "num_rnn_layers": 1,
        "embed_ent_token": True,
        "class_token_index": MARKER,
    },
    "bare": {
        **COMMON,
        "hidden_size": 36,
        "max_width": 3,
        "num_rnn_layers": 0,
        "embed_ent_token": False,
        "class_token_index": -1,
    },
    "deep": {
        **COMMON,
        "hidden_size": 20,
        "max_width": 12,
        "num_rnn_layers": 2,
        "embed_ent_token": True,
        "class_token_index": MARKER,
    },
    # Words are scored instead of spans.
    "token": {
        **COMMON,
        "span_mode": "token_level",
        "model_type": "gliner_uni_encoder_token",
        "hidden_size": 24,
        "max_width": 4,
        "num_rnn_layers": 1,
        "embed_ent_token": True,
        "class_token_index": MARKER,
    },
    # With other encoders.
    "bert": {
        **COMMON,
        "span_mode": "token_level",
        "hidden_size": 39,
        "num_rnn_layers": 0,
        "class_token_index": MARKER,
        "encoder_config": _encoder("bert"),
    },
    **{
        name: {
            **COMMON,
            "hidden_size": 24,
            "max_width": 4,
            "num_rnn_layers": 1,
            "class_token_index": MARKER,
            "encoder_config": _encoder(name),
        }
        for name in ("modernbert", "mt5")
    },
}
LABELS = ["person", "a place", "x-1"]
TEXTS = [
    "Ada lives in the north, near York.",
    "x",
    "zebra 42! over the hill; again and-again in one_place",
    "the river runs by the bridge " * 5,
]
THRESHOLDS = (0.3, 0.5, 0.6)


def tokenizer():
    pieces = [(token, 0.0) for token in SPECIAL]
    pieces += [("▁", -2.0), ("▁the", -2.5), *((token, -3.0) for token in CHARACTERS)]
    pieces += [(token, 0.0) for token in ADDED]
    result = Tokenizer(Unigram(pieces, unk_id=3))
    result.pre_tokenizer = pre_tokenizers.Metaspace()
    result.add_special_tokens([*SPECIAL, *ADDED])
    result.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 2)]
    )
    return result


# Seeds of weights with which spans of several labels score more than a threshold, and others less.
SEEDS = {
    **{"published": 14, "bare": 28, "deep": 10},
    **{"token": 28, "bert": 48, "modernbert": 20, "mt5": 12},
}
SCALED = ("span_rep", "prompt_rep", "scorer.out_mlp")


def tensors(name):
    """Weights with which scores are not all near 0 and 1: those behind the encoder are smaller."""
    drawn = random_tensors(shapes(name), SEEDS[name])
    small = np.float32(0.6)
    return {
        key: tensor * small if key.startswith(SCALED) else tensor for key, tensor in drawn.items()
    }


OF_KIND = {"deberta-v2": "deberta-v2-convolution"}  # the tiny model with the encoder's tensors


def shapes(name):
    """The tensors of a model as gliner calls them, in its order."""
    config = CONFIGS[name]
    hidden = config["hidden_size"]
    result = {}
    encoder = config["encoder_config"]
    kind = encoder["model_type"]
    inside = encoder.get("hidden_size") or encoder["d_model"]
    for key, tensor in tiny_model(OF_KIND.get(kind, kind)).tensors.items():
        if ".conv." not in key:
            rows = tensor.shape[0]
            if any(
                word in key for word in ("word_embeddings", "tok_embeddings", "shared", "embed_t")
            ):
                rows = TOKENS
            if "position_embeddings" in key:
                rows = ENCODER_LENGTH
            result[f"token_rep_layer.bert_layer.model.{key}"] = (rows, *tensor.shape[1:])

    def linear(key, inputs, outputs):
        result[f"{key}.weight"], result[f"{key}.bias"] = (outputs, inputs), (outputs,)

    def projection(key, inputs):
        linear(f"{key}.0", inputs, 4 * hidden)
        linear(f"{key}.3", 4 * hidden, hidden)

    if hidden != inside:
        linear("token_rep_layer.projection", inside, hidden)
    for layer in range(config["num_rnn_layers"]):
        for end in (f"l{layer}", f"l{layer}_reverse"):
            result[f"rnn.lstm.weight_ih_{end}"] = (2 * hidden, hidden)
            result[f"rnn.lstm.weight_hh_{end}"] = (2 * hidden, hidden // 2)
            result[f"rnn.lstm.bias_ih_{end}"] = (2 * hidden,)
            result[f"rnn.lstm.bias_hh_{end}"] = (2 * hidden,)
    if config["span_mode"] == "token_level":
        linear("scorer.proj_token", hidden, 2 * hidden)
        linear("scorer.proj_label", hidden, 2 * hidden)
        linear("scorer.out_mlp.0", 3 * hidden, 4 * hidden)
        linear("scorer.out_mlp.3", 4 * hidden, 3)
        return result
    for side in ("project_start", "project_end"):
        projection(f"span_rep_layer.span_rep_layer.{side}", hidden)
    projection("span_rep_layer.span_rep_layer.out_project", 2 * hidden)
    projection("prompt_rep_layer", hidden)
    return result


@cache
def golden():
    """For each of CONFIGS "found": by threshold the entities of each of TEXTS."""
    return json.loads(str(arrays("tiny_gliner")["models"]))


def write_model(directory, name, **changes):
    directory.mkdir(parents=True, exist_ok=True)
    config = {**CONFIGS[name], **changes}
    write_json(directory / "gliner_config.json", config)
    tokenizer().save(str(directory / "tokenizer.json"))
    names = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **{"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"},
        "model_max_length": 256,
    }
    write_json(directory / "tokenizer_config.json", names)
    save_file(tensors(name), directory / "model.safetensors", metadata={"format": "pt"})
    return directory
