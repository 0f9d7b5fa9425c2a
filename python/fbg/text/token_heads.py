"""The two small layers of bge-m3 (arXiv:2402.03216): a weight and a vector for every token.

Their files are beside the encoder, written by torch.save: sparse_linear.pt and colbert_linear.pt.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.torch_file import read_torch_file
from fbg.checkpoints.weights import copy_floats
from fbg.errors import ModelError
from fbg.networks.config import EncoderConfig

TOKEN_HEADS = ("sparse_linear.pt", "colbert_linear.pt")


@dataclass(frozen=True)
class TokenHeads:
    """weight: (1 + dimension, hidden), row 0 for the sparse weight. bias: (1 + dimension,)."""

    weight: Floats
    bias: Floats


def read_token_heads(directory: Path, config: EncoderConfig) -> TokenHeads | None:
    """Return both layers, None for a model that has neither; raises ModelError."""
    present = [(directory / name).is_file() for name in TOKEN_HEADS]
    if not any(present):
        return None
    if not all(present):
        missing = TOKEN_HEADS[present.index(False)]
        raise ModelError(f"{directory / missing}: no such file, but there is the other head")
    parts = [_read(directory / name, config.hidden_size) for name in TOKEN_HEADS]
    if len(parts[0][1]) != 1:
        raise ModelError(f"{directory / TOKEN_HEADS[0]}: tensor weight must have one row")
    return TokenHeads(
        np.concatenate([weight for weight, _ in parts]), np.concatenate([bias for _, bias in parts])
    )


def _read(path: Path, hidden: int) -> tuple[Floats, Floats]:
    tensors = read_torch_file(path)
    for name in sorted(tensors.keys() - {"weight", "bias"}):
        raise ModelError(f"{path}: tensor {name} has no place in a linear layer")
    for name in ("weight", "bias"):
        if name not in tensors:
            raise ModelError(f"{path}: tensor {name} is missing")
        if tensors[name].dtype not in ("float32", "float16", "bfloat16"):
            raise ModelError(f"{path}: tensor {name} must have floats, got {tensors[name].dtype}")
    rows = tensors["bias"].shape[0] if tensors["bias"].shape else 0
    for name, shape in (("weight", (rows, hidden)), ("bias", (rows,))):
        if tensors[name].shape != shape:
            raise ModelError(
                f"{path}: tensor {name} must have shape {shape}, got {tensors[name].shape}"
            )
    return copy_floats(tensors["weight"], 1), copy_floats(tensors["bias"], 1)
