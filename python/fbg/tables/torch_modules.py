"""Embeddings and embedding bags of PyTorch: what the modules hold, without importing torch."""

from __future__ import annotations

from typing import Any

import numpy as np

from fbg.arrays import Array, bfloat16
from fbg.quantization.rowwise import RowwiseMatrix

BITS = {"torch.quint8": 8, "torch.quint4x2": 4}


def read_module(module: Any, name: str) -> tuple[Array | RowwiseMatrix, dict[str, Any]]:
    """Return the table of a module and the options of an `EmbeddingBag`."""
    if not all(hasattr(module, field) for field in ("embedding_dim", "num_embeddings")):
        got = type(module).__name__
        raise TypeError(f"{name}: module must be an EmbeddingBag or an Embedding, got {got}")
    options: dict[str, Any] = {}
    sums = hasattr(module, "include_last_offset")  # an Embedding has neither that nor a mode
    if sums:
        options = {"mode": module.mode, "include_last_offset": bool(module.include_last_offset)}
    if hasattr(module, "_packed_params"):
        if getattr(module, "pruned_weights", False):
            raise ValueError(f"{name}: module must not be pruned")
        return _quantized(module.weight(), module.embedding_dim), options
    if module.max_norm is not None:
        raise ValueError(f"{name}: module must have no max_norm, got {module.max_norm}")
    if sums and module.padding_idx is not None:  # which an Embedding looks up as any other row
        options["padding_idx"] = int(module.padding_idx)
    return _floats(module.weight), options


def _floats(weight: Any) -> Array:
    tensor = weight.detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":  # which NumPy does not have; float32 has its values
        rows: Array = tensor.float().numpy()
        return rows.astype(bfloat16())
    rows = tensor.numpy()
    return rows


def _quantized(weight: Any, columns: int) -> RowwiseMatrix:
    """PyTorch keeps ``scale * (q - zero_point)``, zero points being floats."""
    bits = BITS[str(weight.dtype)]
    scale_dtype = np.float32 if bits == 8 else np.float16
    scale = weight.q_per_channel_scales().numpy().astype(np.float32)
    points = weight.q_per_channel_zero_points().numpy().astype(np.float32)
    data = weight.int_repr().numpy().reshape(len(scale), -1)
    bias = points * scale * np.float32(-1)
    return RowwiseMatrix(data, scale.astype(scale_dtype), bias.astype(scale_dtype), columns, bits)
