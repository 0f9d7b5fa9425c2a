"""Arrays of embeddings as in sentence-transformers: quantized, compared, as tensors."""

from __future__ import annotations

from enum import Enum
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.errors import needed
from fbg.tasks.embedding_precision import Precision, quantize_embeddings

__all__ = [
    "SIMILARITIES",
    "has_torch",
    "in_form",
    "quantized",
    "require_similarity",
    "similarities",
    "tensor",
    "tensor_or_array",
]


SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


def quantized(rows: Floats, precision: Precision | None) -> npt.NDArray[Any]:
    """Return embeddings with a lower precision; "int8" and "uint8" take the ranges of these rows.

    Raises ValueError for the ranges of a single row.
    """
    if precision is None:
        return rows
    if precision not in ("int8", "uint8"):
        return quantize_embeddings(rows, precision)
    if len(rows) == 1:
        raise ValueError(f"precision {precision!r} needs at least 2 embeddings for their ranges")
    if len(rows) == 0:
        return rows.astype(precision)
    return quantize_embeddings(rows, precision, calibration=rows)


def has_torch() -> bool:
    """Whether torch is installed; it is not imported."""
    return find_spec("torch") is not None


def tensor(values: npt.NDArray[Any]) -> Any:
    """Return a torch tensor; raises ModuleNotFoundError without torch."""
    with needed("tensors"):
        import torch
    return torch.from_numpy(values)


def tensor_or_array(values: npt.NDArray[Any]) -> Any:
    """Return a torch tensor where torch is installed, and otherwise the array."""
    return tensor(values) if has_torch() else values


def in_form(rows: npt.NDArray[Any], single: bool, numpy: bool, as_tensor: bool) -> Any:
    """Return results as `convert_to_numpy` and `convert_to_tensor` ask: an array, a tensor, or a
    list of tensors; the first of them if single.
    """
    if as_tensor or (single and not numpy):
        return tensor(rows)[0] if single else tensor(rows)
    if not numpy:
        return list(tensor(rows)) if len(rows) else []
    return rows[0] if single else rows


def require_similarity(where: str, name: object) -> str:
    """Return one of SIMILARITIES: a name, or a member of the enum of sentence-transformers.

    Raises ValueError for anything else.
    """
    value = name.value if isinstance(name, Enum) else name
    if not isinstance(value, str) or value not in SIMILARITIES:
        raise ValueError(
            f"{where}: similarity_fn_name must be one of {', '.join(SIMILARITIES)}, got {name!r}"
        )
    return value


def similarities(name: str, a: Any, b: Any, *, pairwise: bool) -> Any:
    """Return similarities of rows by one of SIMILARITIES; distances are negated.

    a, b: (rows, dimension) or (dimension,), arrays or tensors; lists of them are stacked. Returns
    (rows of a, rows of b), or (rows,) if pairwise; a tensor if a or b is one, or a list of them.

    Raises ValueError for other shapes.
    """
    x, y = (np.atleast_2d(np.asarray(_on_cpu(v), np.float32)) for v in (a, b))
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(
            "similarity: embeddings1 and embeddings2 must be (rows, dimension) with the same "
            f"dimension, got {x.shape} and {y.shape}"
        )
    if pairwise and len(x) != len(y) and 1 not in (len(x), len(y)):
        raise ValueError(
            f"similarity_pairwise: embeddings2 must have {len(x)} rows, as embeddings1, "
            f"got {len(y)}"
        )
    if name == "cosine":
        x, y = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in (x, y))
    order = 2 if name == "euclidean" else 1
    if name in ("cosine", "dot"):
        result = (x * y).sum(1) if pairwise else x @ y.T
    elif pairwise:
        result = -np.linalg.norm(x - y, order, axis=1)
    else:
        result = np.empty((len(x), len(y)), np.float32)
        for n, row in enumerate(x):  # one at a time: all differences take rows times the memory
            result[n] = -np.linalg.norm(row - y, order, axis=1)
    return tensor(result) if _has_tensor(a) or _has_tensor(b) else result


def _has_tensor(values: Any) -> bool:
    if isinstance(values, (list, tuple)):
        return any(map(_has_tensor, values[:1]))
    return hasattr(values, "detach")


def _on_cpu(values: Any) -> Any:
    """Return tensors, also those in a list, as arrays."""
    if isinstance(values, (list, tuple)):
        return [_on_cpu(value) for value in values]
    return values.detach().cpu().float().numpy() if hasattr(values, "detach") else values
