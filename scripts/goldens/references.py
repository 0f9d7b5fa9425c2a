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


def norm_of(x: Array, eps: float, centred: bool = True) -> Array:
    x = x - x.mean(-1, keepdims=True) if centred else x
    return x / np.sqrt(np.square(x).mean(-1, keepdims=True) + eps)


def gelu(x: Array) -> Array:
    result: Array = x / 2 * (1 + erf(x / math.sqrt(2)))
    return result


def attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Of (heads, length, size) the context (length, heads * size)."""
    scores = np.where(mask == 0, -np.inf, q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1]))
    p = np.exp(scores - scores.max(-1, keepdims=True))
    context = p / p.sum(-1, keepdims=True) @ v
    return context.swapaxes(0, 1).reshape(q.shape[1], -1)


def turned(x: Array, theta: float, neighbours: bool) -> Array:
    """Queries or keys, turned as complex numbers, whose two parts are neighbours or half a head
    apart.
    """
    size = x.shape[-1]
    angles = np.arange(x.shape[1])[:, None] * theta ** (-np.arange(0, size, 2) / size)
    first, second = (x[..., 0::2], x[..., 1::2]) if neighbours else np.split(x, 2, axis=-1)
    z = (first + 1j * second) * np.exp(1j * angles)
    parts = [z.real, z.imag]
    return np.stack(parts, -1).reshape(x.shape) if neighbours else np.concatenate(parts, -1)


def neobert_shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The tensors of NeoBERT, as its files on the hub have them."""
    hidden = config["hidden_size"]
    wide = 8 * math.ceil(int(2 * config["intermediate_size"] / 3) / 8)
    shapes: dict[str, tuple[int, ...]] = {"encoder.weight": (config["vocab_size"], hidden)}
    for n in range(config["num_hidden_layers"]):
        parts = {
            **{"qkv": (3 * hidden, hidden), "wo": (hidden, hidden)},
            **{"ffn.w12": (2 * wide, hidden), "ffn.w3": (hidden, wide)},
            **{"attention_norm": (hidden,), "ffn_norm": (hidden,)},
        }
        shapes |= {f"transformer_encoder.{n}.{key}.weight": own for key, own in parts.items()}
    return {**shapes, "layer_norm.weight": (hidden,)}


def neobert_forward(
    config: dict[str, Any], tensors: dict[str, Array], ids: Array, mask: Array, types: Array
) -> Array:
    """The hidden states of one sequence (arXiv:2502.19587, and the model's code on the hub)."""
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    heads, length = config["num_attention_heads"], ids.size

    def norm(x: Array, name: str) -> Array:
        return norm_of(x, config["norm_eps"], centred=False) * weights[f"{name}.weight"]

    x = weights["encoder.weight"][ids]
    for n in range(config["num_hidden_layers"]):
        layer = f"transformer_encoder.{n}"
        rows = norm(x, f"{layer}.attention_norm") @ weights[f"{layer}.qkv.weight"].T
        q, k, v = np.split(rows.reshape(length, heads, -1).swapaxes(0, 1), 3, axis=-1)
        q, k = (turned(each, 10_000.0, neighbours=True) for each in (q, k))
        x = x + attention(q, k, v, mask) @ weights[f"{layer}.wo.weight"].T
        gate, up = np.split(
            norm(x, f"{layer}.ffn_norm") @ weights[f"{layer}.ffn.w12.weight"].T, 2, axis=-1
        )
        x = x + (gate / (1 + np.exp(-gate)) * up) @ weights[f"{layer}.ffn.w3.weight"].T
    return norm(x, "layer_norm")


def moe_shapes(config: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The tensors of nomic-embed-text-v2-moe, as its files on the hub have them."""
    hidden, wide, experts = config["n_embd"], config["n_inner"], config["num_experts"]

    def linear(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
        return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}

    def norm(name: str) -> dict[str, tuple[int, ...]]:
        return {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}

    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        **norm("emb_ln"),
    }
    for n in range(config["n_layer"]):
        layer = f"encoder.layers.{n}"
        shapes |= linear(f"{layer}.attn.Wqkv", 3 * hidden, hidden)
        shapes |= linear(f"{layer}.attn.out_proj", hidden, hidden)
        if n % config["moe_every_n_layers"] == 1:
            shapes |= {
                f"{layer}.mlp.router.layer.weight": (experts, hidden),
                f"{layer}.mlp.experts.mlp.w1": (experts * wide, hidden),
                f"{layer}.mlp.experts.mlp.w2": (experts * wide, hidden),
                f"{layer}.mlp.experts.bias": (hidden,),
            }
        else:
            shapes |= linear(f"{layer}.mlp.fc1", wide, hidden)
            shapes |= linear(f"{layer}.mlp.fc2", hidden, wide)
        shapes |= {**norm(f"{layer}.norm1"), **norm(f"{layer}.norm2")}
    return shapes


def moe_forward(
    config: dict[str, Any], tensors: dict[str, Array], ids: Array, mask: Array, types: Array
) -> Array:
    """The hidden states of one sequence (arXiv:2502.07972, and the model's code on the hub)."""
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    heads, length, experts = config["n_head"], ids.size, config["num_experts"]

    def linear(x: Array, name: str) -> Array:
        return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0.0)

    def norm(x: Array, name: str) -> Array:
        x = norm_of(x, config["layer_norm_epsilon"])
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def mixture(x: Array, name: str) -> Array:
        logits = linear(x, f"{name}.router.layer")
        p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        first, second = (
            weights[f"{name}.experts.mlp.{part}"].reshape(experts, -1, x.shape[1])
            for part in ("w1", "w2")
        )
        result = np.zeros_like(x)
        for row, own in enumerate(p):
            for expert in np.argsort(-own, kind="stable")[: config["moe_top_k"]]:
                result[row] += own[expert] * (gelu(x[row] @ first[expert].T) @ second[expert])
        return result + weights[f"{name}.experts.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][types], "emb_ln")
    for n in range(config["n_layer"]):
        layer = f"encoder.layers.{n}"
        rows = linear(x, f"{layer}.attn.Wqkv").reshape(length, 3, heads, -1)
        q, k, v = rows.transpose(1, 2, 0, 3)
        q, k = (turned(each, config["rotary_emb_base"], neighbours=False) for each in (q, k))
        context = attention(q, k, v, mask)
        x = norm(x + linear(context, f"{layer}.attn.out_proj"), f"{layer}.norm1")
        if n % config["moe_every_n_layers"] == 1:
            y = mixture(x, f"{layer}.mlp")
        else:
            y = linear(gelu(linear(x, f"{layer}.mlp.fc1")), f"{layer}.mlp.fc2")
        x = norm(x + y, f"{layer}.norm2")
    return x


MODELS = {
    "jina_bert": (jina_shapes, jina_forward),
    "neobert": (neobert_shapes, neobert_forward),
    "nomic_bert-moe": (moe_shapes, moe_forward),
}


def reference_arrays(name: str) -> dict[str, Array]:
    """The golden arrays of a tiny model of MODELS."""
    config, (shapes_of, forward) = tiny_models.CONFIGS[name], MODELS[name]
    shapes = shapes_of(config)
    tensors = tiny_models.random_tensors(shapes)
    arrays = {"config": np.array(json.dumps(config)), "shapes": np.array(json.dumps(shapes))}
    inputs = tiny_models.golden_inputs(config)
    for batch in ("full", "holey"):
        ids = inputs[batch]
        mask = inputs.get(f"{batch}_mask", np.ones_like(ids))
        types = inputs.get(f"{batch}_types", np.zeros_like(ids))
        rows = [forward(config, tensors, *row) for row in zip(ids, mask, types, strict=True)]
        arrays[f"{batch}_hidden"] = np.stack(rows)[mask != 0].astype(np.float32)
        if "pooler.dense.weight" not in shapes:
            continue
        first = np.stack(rows)[:, 0]
        dense = {
            part: tensors[f"pooler.dense.{part}"].astype(np.float64) for part in ("weight", "bias")
        }
        pooled = np.tanh(first @ dense["weight"].T + dense["bias"])
        arrays[f"{batch}_pooler"] = pooled.astype(np.float32)
    return arrays
