"""Embeddings in fewer bytes: 8 bits or one bit for each dimension, as in sentence-transformers.

Every dimension has a range of its own, in 255 steps of equal size. The range comes from embeddings
of similar texts: `calibration`, or `ranges` that were kept from there. A bit says whether the
dimension is positive, and eight dimensions share a byte, the first of them in its highest bit.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, refuse_texts

Precision = Literal["float32", "int8", "uint8", "binary", "ubinary"]

PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")
WHERE = "quantize_embeddings"


def quantize_embeddings(
    embeddings: npt.ArrayLike,
    precision: Precision,
    *,
    ranges: npt.ArrayLike | None = None,
    calibration: npt.ArrayLike | None = None,
) -> npt.NDArray[Any]:
    """Return embeddings in another precision.

    embeddings: (n, dimensions) floats, or (dimensions,) for one.
    precision: "int8" and "uint8": (n, dimensions) of that dtype. "binary" and "ubinary":
        (n, ceil(dimensions / 8)) bytes, as int8 and as uint8. "float32" changes nothing.
    ranges: (2, dimensions), the smallest and the largest value of each dimension, for "int8" and
        "uint8"; values outside become the nearest one inside.
    calibration: (m, dimensions) embeddings to take the ranges from. One of the two is required, so
        that a result never depends on the embeddings beside it.

    Raises TypeError for arrays that are not floats; ValueError for shapes and an unknown precision.
    Formulas: `quantize_embeddings` of sentence-transformers.

    >>> quantize_embeddings(np.float32([[0.3, -0.2, 0.1]]), "ubinary")
    array([[160]], dtype=uint8)
    >>> quantize_embeddings(np.float32([0.0, 0.5]), "uint8", ranges=[[-1, 0], [1, 1]])
    array([127, 127], dtype=uint8)
    """
    x = _floats("embeddings", embeddings)
    if precision not in PRECISIONS:
        raise ValueError(
            f"{WHERE}: precision must be one of {', '.join(PRECISIONS)}, got {precision!r}"
        )
    if precision == "float32":
        return x
    if precision in ("binary", "ubinary"):
        bits = np.packbits(x > 0, axis=-1)
        return bits if precision == "ubinary" else (bits ^ np.uint8(0x80)).view(np.int8)
    low, high = _given_ranges(ranges, calibration, x.shape[-1])
    step = (high - low) / 255
    levels = np.clip(np.floor((x - low) / np.where(step == 0, 1, step)), 0, 255)
    if precision == "uint8":
        return levels.astype(np.uint8)
    return (levels - 128).astype(np.int8)


def embedding_ranges(embeddings: npt.ArrayLike) -> Floats:
    """Return (2, dimensions): the smallest and the largest value of each dimension.

    embeddings: (n, dimensions) floats of at least one text; some hundreds make the ranges stable.

    >>> embedding_ranges(np.float32([[0.0, 2.0], [1.0, -2.0]]))
    array([[ 0., -2.],
           [ 1.,  2.]], dtype=float32)
    """
    x = _floats("calibration", embeddings)
    if x.ndim != 2 or len(x) == 0:
        raise ValueError(f"{WHERE}: calibration must be (n, dimensions), n > 0, got {x.shape}")
    return np.stack([x.min(axis=0), x.max(axis=0)])


def _given_ranges(
    ranges: npt.ArrayLike | None, calibration: npt.ArrayLike | None, dimensions: int
) -> tuple[Floats, Floats]:
    if (ranges is None) == (calibration is None):
        raise ValueError(f"{WHERE}: int8 and uint8 require either ranges or calibration")
    if calibration is not None:
        found = embedding_ranges(calibration)
    else:
        found = np.asarray(ranges, np.float32)
    if found.shape != (2, dimensions):
        raise ValueError(
            f"{WHERE}: ranges must be (2, {dimensions}) for these embeddings, got {found.shape}"
        )
    if not (found[0] <= found[1]).all():
        raise ValueError(f"{WHERE}: ranges must be the smallest values, then the largest ones")
    return found[0], found[1]


def _floats(name: str, value: npt.ArrayLike) -> Floats:
    array = np.asarray(value)
    refuse_texts(f"{WHERE}: {name}", array)
    if array.dtype.kind != "f":
        raise TypeError(f"{WHERE}: {name} must be floats, got {array.dtype}")
    if array.ndim not in (1, 2):
        raise ValueError(f"{WHERE}: {name} must be 1-D or 2-D, got shape {array.shape}")
    return array.astype(np.float32, copy=False)
