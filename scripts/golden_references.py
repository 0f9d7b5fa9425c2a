"""References of our own in float64 NumPy: families of which transformers has only remote code."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from helpers import tiny_models

Array = np.ndarray[Any, Any]

erf = np.vectorize(math.erf)


def jina_shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The tensors of jina-embeddings-v2, as its files on the hub have them."""
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    norm = {"weight": (hidden,), "bias": (hidden,)}
    square = {"weight": (hidden, hidden), "bias": (hidden,)}
    modules: dict[str, dict[str, tuple[int, ...]]] = {
        "embeddings.word_embeddings": {"weight": (config["vocab_size"], hidden)},
        "embeddings.token_type_embeddings": {"weight": (config["type_vocab_size"], hidden)},
        "embeddings.LayerNorm": norm,
    }
    for n in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{n}"
        modules |= {f"{layer}.attention.self.{part}": square for part in ("query", "key", "value")}
        modules |= {
            f"{layer}.attention.output.dense": square,
            f"{layer}.attention.output.LayerNorm": norm,
            f"{layer}.mlp.gated_layers": {"weight": (2 * wide, hidden)},
            f"{layer}.mlp.wo": {"weight": (hidden, wide), "bias": (hidden,)},
            f"{layer}.mlp.layernorm": norm,
        }
    modules["pooler.dense"] = square
    return {
        f"{name}.{part}": shape for name, parts in modules.items() for part, shape in parts.items()
    }


def alibi_bias(heads: int, length: int) -> Array:
    """(heads, length, length), for numbers of heads as the paper and its code define slopes."""

    def slopes(count: int) -> list[float]:
        if math.log2(count).is_integer():
            start = 2.0 ** (-(2.0 ** -(math.log2(count) - 3)))
            return [start * start**n for n in range(count)]
        lower = 2 ** math.floor(math.log2(count))
        return slopes(lower) + slopes(2 * lower)[0::2][: count - lower]

    place = np.arange(length)
    return -np.array(slopes(heads))[:, None, None] * np.abs(place[:, None] - place)


def jina_forward(
    config: dict[str, Any], tensors: dict[str, Array], ids: Array, mask: Array, types: Array
) -> Array:
    """The hidden states (length, hidden) of one sequence."""
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    heads, length = config["num_attention_heads"], ids.size

    def linear(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0.0)

    def norm(x: Array, name: str) -> Array:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + config["layer_norm_eps"])
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][types], "embeddings.LayerNorm")
    for n in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{n}"
        q, k, v = (
            linear(x, f"{layer}.attention.self.{part}").reshape(length, heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1]) + alibi_bias(heads, length)
        scores = np.where(mask == 0, -np.inf, scores)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        context = (p / p.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(length, -1)
        output = f"{layer}.attention.output"
        x = norm(x + linear(context, f"{output}.dense"), f"{output}.LayerNorm")
        gate, up = np.split(linear(x, f"{layer}.mlp.gated_layers"), 2, axis=-1)
        gate = gate / 2 * (1 + erf(gate / math.sqrt(2)))
        x = norm(x + linear(gate * up, f"{layer}.mlp.wo"), f"{layer}.mlp.layernorm")
    return x


def jina_arrays(config: dict[str, Any]) -> dict[str, Array]:
    """The golden arrays of a model like jina-embeddings-v2 (arXiv:2310.19923)."""
    shapes = jina_shapes(config)
    tensors = tiny_models.random_tensors(shapes)
    arrays = {"config": np.array(json.dumps(config)), "shapes": np.array(json.dumps(shapes))}
    inputs = tiny_models.golden_inputs(config)
    for batch in ("full", "holey"):
        ids = inputs[batch]
        mask = inputs.get(f"{batch}_mask", np.ones_like(ids))
        types = inputs.get(f"{batch}_types", np.zeros_like(ids))
        rows = [jina_forward(config, tensors, *row) for row in zip(ids, mask, types, strict=True)]
        arrays[f"{batch}_hidden"] = np.stack(rows)[mask != 0].astype(np.float32)
        first = np.stack(rows)[:, 0]
        dense = {
            part: tensors[f"pooler.dense.{part}"].astype(np.float64) for part in ("weight", "bias")
        }
        pooled = np.tanh(first @ dense["weight"].T + dense["bias"])
        arrays[f"{batch}_pooler"] = pooled.astype(np.float32)
    return arrays
