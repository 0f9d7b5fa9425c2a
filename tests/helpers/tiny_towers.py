"""Tiny random towers for pictures, and pictures, which scripts/goldens/towers.py and tests share.

config.json and the shapes of the tensors are in tests/data/tiny_towers.npz, as transformers has
them, and so is what transformers computes.
"""

import json

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from helpers.minilm import arrays
from helpers.tiny_bert import write_json
from helpers.tiny_models import random_tensors

LAYERS = {"num_hidden_layers": 2, "num_attention_heads": 3}
SMALL = {"hidden_size": 24, "intermediate_size": 44, **LAYERS}
TOWER = {**SMALL, "image_size": 32, "patch_size": 8}
WORDS = {
    **{"vocab_size": 60, "hidden_size": 20, "intermediate_size": 36, "num_hidden_layers": 2},
    **{"num_attention_heads": 2, "max_position_embeddings": 12},
}
ENDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
PAIR = {"text_config": {**WORDS, **ENDS}, "vision_config": {**TOWER, "patch_size": 16}}
# What the configurations of transformers are made from; classes, where they are not AutoModel.
CONFIGS = {
    "vit": {"model_type": "vit", **TOWER},
    "vit-classifier": {"model_type": "vit", **TOWER, "num_labels": 4, "qkv_bias": False},
    "dinov2": {"model_type": "dinov2", **TOWER, "image_size": 56, "mlp_ratio": 2},
    "dinov2-gated": {"model_type": "dinov2", **TOWER, "use_swiglu_ffn": True},
    "dinov2-registers": {
        **{"model_type": "dinov2_with_registers", **TOWER, "image_size": 56},
        **{"num_register_tokens": 3},
    },
    "clip": {"model_type": "clip", **PAIR, "projection_dim": 20},
    "clip-ends": {
        **{"model_type": "clip", "projection_dim": 20, "vision_config": PAIR["vision_config"]},
        "text_config": {**WORDS, **ENDS, "eos_token_id": 3, "hidden_act": "gelu"},
    },
    # The last pixels are in no patch.
    "siglip": {
        "model_type": "siglip",
        "text_config": {**WORDS, **ENDS, "projection_size": 24},
        "vision_config": {**TOWER, "patch_size": 10},
    },
}
CLASSIFIERS = ("vit-classifier",)
PAIRS = ("clip", "clip-ends", "siglip")
# Names of tensors on the hub, which transformers reads under others.
HUB_NAMES = {
    "vit": {
        "layers.": "encoder.layer.",
        **{f"attention.{p[0]}_proj": f"attention.attention.{p}" for p in ("query", "key", "value")},
        **{"attention.o_proj": "attention.output.dense", "mlp.fc1": "intermediate.dense"},
        "mlp.fc2": "output.dense",
    },
    "dinov2": {
        **{f"attention.{p[0]}_proj": f"attention.attention.{p}" for p in ("query", "key", "value")},
        "attention.o_proj": "attention.output.dense",
    },
}
# preprocessor_config.json: of tower that resize to a square, and of those that crop.
SQUARE = {"size": {"height": 32, "width": 32}, "image_mean": [0.5, 0.4, 0.3], "resample": 2}
CROPPED = {
    **{"size": {"shortest_edge": 36}, "crop_size": {"height": 32, "width": 32}},
    **{"do_center_crop": True, "resample": 3, "image_std": [0.3, 0.25, 0.2]},
}
PROCESSORS = {
    "vit": {"image_processor_type": "ViTImageProcessor", **SQUARE},
    "dinov2": {"image_processor_type": "BitImageProcessor", **CROPPED},
    "clip": {"image_processor_type": "CLIPImageProcessor", **CROPPED},
    "siglip": {"image_processor_type": "SiglipImageProcessor", **SQUARE, "resample": 3},
}
TEXTS = ("a photo of a cat", "dog", "b", "a photo of a dog b c and cat a b c d e f g")


def pictures():
    """Pictures of several sizes: stripes and spots."""
    result = []
    for n, (height, width) in enumerate(((41, 57), (60, 33), (32, 32))):
        y, x = np.mgrid[:height, :width]
        planes = [(x * (3 + c) + y * (7 - c) * (n + 1)) % (200 + 9 * c) for c in range(3)]
        result.append(np.stack(planes, axis=-1).astype(np.uint8))
    return result


def pixel_values():
    """What a tower reads, (2, 3, 32, 32)."""
    raw = np.random.PCG64(5).random_raw(2 * 3 * 32 * 32) >> np.uint64(40)
    return (raw.astype(np.float32) / 2**23 - 1).reshape(2, 3, 32, 32)


def processor_of(name):
    return PROCESSORS[name.partition("-")[0]]


def tokenizer():
    """A token for each word, <s> before and </s> behind a text; ids as in ENDS."""
    words = ["<s>", "<pad>", "</s>", "<other>", "a", "photo", "of", "cat", "dog", "and", "This"]
    words += ["is", ".", *"bcdefgh", "<unk>"]
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [("<s>", 0), ("</s>", 2)]
    made.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A $B </s>", ends)
    return made


def tower_tensors(shapes):
    tensors = random_tensors({key: tuple(shape) for key, shape in shapes.items()})
    if "logit_scale" in tensors:
        tensors["logit_scale"] = np.full_like(tensors["logit_scale"], 1.5)
    return tensors


def tiny_tower(name):
    """config.json, tensors, and what transformers computed."""
    stored = arrays("tiny_towers")
    config, shapes = (json.loads(str(stored[f"{name}/{part}"])) for part in ("config", "shapes"))
    golden = {key.partition("/")[2]: v for key, v in stored.items() if key.startswith(f"{name}/")}
    return config, tower_tensors(shapes), golden


def write_tower(directory, config, tensors, processor=None):
    """Write a model directory."""
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "config.json", config)
    if processor is not None:
        write_json(directory / "preprocessor_config.json", processor)
    if "text_config" in config:
        tokenizer().save(str(directory / "tokenizer.json"))
        write_json(directory / "tokenizer_config.json", {"pad_token": "<pad>"})
    save_file(tensors, directory / "model.safetensors", {"format": "pt"})
    return directory


def write_tiny_tower(directory, name, **changes):
    config, tensors, _ = tiny_tower(name)
    return write_tower(directory, {**config, **changes}, tensors, processor_of(name))
