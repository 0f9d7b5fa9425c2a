"""The golden arrays of towers for pictures (tests/helpers/tiny_towers.py).

tiny_towers.npz, with "<name>/" before each:

    config, shapes     config.json and the shape of each tensor, as transformers has them, in JSON
    hidden, pooler     of the tower on prepared pictures; for CLIP, the pooler's output is projected
    vectors            of pictures, prepared by the processors that use Pillow
    logits             of the head of a classifier
    texts, scores      vectors of texts; probabilities of all texts for each picture
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image

from helpers.tiny_towers import (
    CLASSIFIERS,
    CONFIGS,
    PAIRS,
    TEXTS,
    pictures,
    pixel_values,
    processor_of,
    tokenizer,
    tower_tensors,
    write_tower,
)


def tower_arrays() -> dict[str, np.ndarray]:
    arrays = {}
    for name in CONFIGS:
        arrays |= {f"{name}/{key}": array for key, array in _arrays(name).items()}
    return arrays


def _arrays(name: str) -> dict[str, np.ndarray]:
    settings = dict(CONFIGS[name])
    built = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    classifier = name in CLASSIFIERS
    auto = transformers.AutoModelForImageClassification if classifier else transformers.AutoModel
    empty = auto.from_config(built)
    config = json.loads(built.to_json_string())
    config["architectures"] = [type(empty).__name__]
    shapes = {key: tuple(tensor.shape) for key, tensor in empty.named_parameters()}
    tensors = tower_tensors(shapes)
    with tempfile.TemporaryDirectory() as directory:
        path = write_tower(Path(directory), config, tensors)
        model = auto.from_pretrained(path, attn_implementation="eager").eval()
    arrays = {"config": np.array(json.dumps(config)), "shapes": np.array(json.dumps(shapes))}
    processor = _processor(name)
    images = [Image.fromarray(picture) for picture in pictures()]
    prepared = processor(images, return_tensors="pt")["pixel_values"]
    values = torch.from_numpy(pixel_values())
    with torch.inference_mode():
        if classifier:
            arrays["logits"] = model(values).logits.numpy()
            return arrays | {"picture_logits": model(prepared).logits.numpy()}
        tower = getattr(model, "vision_model", model)
        result = tower(values)
        arrays["hidden"] = result.last_hidden_state.numpy()
        if name not in PAIRS:
            if name == "vit":
                arrays["pooler"] = result.pooler_output.numpy()
            return arrays | {"vectors": tower(prepared).last_hidden_state[:, 0].numpy()}
        arrays["vectors"] = model.get_image_features(prepared).pooler_output.numpy()
        ids, mask = _ids(name, config["text_config"]["max_position_embeddings"])
        given = {} if name == "siglip" else {"attention_mask": mask}
        arrays["texts"] = model.get_text_features(ids, **given).pooler_output.numpy()
        logits = model(input_ids=ids, pixel_values=prepared, **given).logits_per_image
        scores = torch.sigmoid(logits) if name == "siglip" else torch.softmax(logits, dim=-1)
        return arrays | {"scores": scores.numpy()}


def _processor(name: str) -> Any:
    settings = processor_of(name)
    kind = getattr(transformers, settings["image_processor_type"] + "Pil")
    return kind(**settings)


def _ids(name: str, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids, padded at the right, and the mask."""
    made = tokenizer()
    made.enable_truncation(length)
    made.enable_padding(length=length, pad_id=1, pad_token="<pad>")
    encoded = made.encode_batch(list(TEXTS))
    ids, mask = (
        torch.tensor([getattr(text, part) for text in encoded])
        for part in ("ids", "attention_mask")
    )
    return ids, mask
