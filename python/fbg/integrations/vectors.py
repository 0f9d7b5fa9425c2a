"""Arrays of embeddings as in sentence-transformers: quantized, compared, as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.errors import needed
from fbg.tasks.embedding_precision import Precision, quantize_embeddings

__all__ = ["SIMILARITIES", "quantized", "similarities", "tensor"]


SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


def quantized(rows: Floats, precision: Precision) -> npt.NDArray[Any]:
    """Return embeddings with a lower precision; "int8" and "uint8" take the ranges of these rows.

    Raises ValueError for another precision, and for the ranges of a single row.
    """
    if precision not in ("int8", "uint8"):
        return quantize_embeddings(rows, precision)
    if len(rows) == 1:
        raise ValueError(f"precision {precision!r} needs at least 2 embeddings for their ranges")
    if len(rows) == 0:
        return rows.astype(precision)
    return quantize_embeddings(rows, precision, calibration=rows)


def tensor(values: npt.NDArray[Any]) -> Any:
    """Return a torch tensor; raises ModuleNotFoundError without torch."""
    with needed("tensors"):
        import torch
    return torch.from_numpy(values)


def similarities(name: str, a: Any, b: Any, *, pairwise: bool) -> Any:
    """Return similarities of rows by one of SIMILARITIES; distances are negated.

    a, b: (rows, dimension) or (dimension,), arrays or tensors; lists of them are stacked. Returns
    (rows of a, rows of b), or (rows,) if pairwise; a tensor if a or b is one.
    """
    as_tensor = any(hasattr(x, "detach") for x in (a, b))
    x, y = (np.atleast_2d(np.asarray(v, np.float32)) for v in (a, b))
    if name == "cosine":
        x, y = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in (x, y))
    if name in ("cosine", "dot"):
        result = (x * y).sum(1) if pairwise else x @ y.T
    else:
        order = 2 if name == "euclidean" else 1
        if pairwise:
            result = -np.linalg.norm(x - y, order, axis=1)
        else:  # one row at a time: all differences take rows times the memory
            result = np.stack([-np.linalg.norm(row - y, order, axis=1) for row in x])
    return tensor(result) if as_tensor else result
