"""Arrays of embeddings as sentence-transformers has them: quantized, compared, as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SIMILARITIES", "quantized", "similarities", "tensor"]

Floats = npt.NDArray[np.float32]

SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")


def quantized(rows: Floats, precision: str) -> npt.NDArray[Any]:
    """Return embeddings with a lower precision.

    "uint8" divides the range of each dimension over all rows into 256 steps, "int8" is that less
    128. "ubinary" packs the signs of eight dimensions into a byte, "binary" is that less 128.
    Raises ValueError for another precision, and for the ranges of a single row.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
    if precision == "float32":
        return rows
    if precision in ("binary", "ubinary"):
        bits = np.packbits(rows > 0, axis=-1)
        return bits if precision == "ubinary" else (bits ^ 128).view(np.int8)
    if len(rows) == 1:
        raise ValueError(f"precision {precision!r} needs at least 2 embeddings for their ranges")
    if len(rows) == 0:
        return rows.astype(precision)
    start = rows.min(axis=0)
    step = (rows.max(axis=0) - start) / np.float32(255)
    step = np.where(step == 0, np.float32(1), step)
    values = np.clip(np.floor((rows - start) / step), 0, 255)
    return (values - 128).astype(np.int8) if precision == "int8" else values.astype(np.uint8)


def tensor(values: npt.NDArray[Any]) -> Any:
    """Return a torch tensor; raises ModuleNotFoundError without torch."""
    try:
        import torch
    except ModuleNotFoundError:
        raise ModuleNotFoundError("tensors need torch, which is not installed") from None
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
        else:  # a row at a time: the differences of all take rows times the memory
            result = np.stack([-np.linalg.norm(row - y, order, axis=1) for row in x])
    return tensor(result) if as_tensor else result
