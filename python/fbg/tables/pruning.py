"""Pruned tables: rows that were left out, and a mapping from indices to the rows that are held.

    index      0  1  2  3  4
    mapping    0 -1 -1  1  2        FBGEMM's compressed_indices_mapping: -1 for a pruned row

A pruned row adds nothing, and a mean counts it: that is FBGEMM's EmbeddingSpMDMRowWiseSparse.
"""

from __future__ import annotations

import numpy as np

from fbg.arrays import Array, as_array, first_of
from fbg.tables.arguments import BagArguments, contiguous, refuse, require_index_dtype


def check_mapping(mapping: object, rows: int, name: str) -> Array:
    """Return a mapping, in place, to a table of so many rows."""
    array = as_array(mapping, name, refers=True)
    require_index_dtype(array, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    wrong = (array < -1) | (array >= rows)
    if wrong.any():
        raise ValueError(f"{name} must be within [-1, {rows}), got {first_of(array, wrong)}")
    return contiguous(array)


def remapped(
    part: BagArguments, mapping: Array, padding: int, ends: bool, counts: bool, name: str, at: str
) -> BagArguments:
    """Return the arguments for the rows that are held, without those that are left out.

    counts: whether to count the rows of each bag, except those of the padding.
    """
    flat, size = part.indices.reshape(-1), part.indices.size
    wrong = (flat < 0) | (flat >= len(mapping))
    if wrong.any():
        bad = (0, "indices", int(np.argmax(wrong)))
        refuse(bad, part, len(mapping), f"{name}: indices{at}")
    begins = part.offsets
    if begins is None:
        length = size // max(part.bags, 1)
        begins = np.arange(part.bags + ends) * length
    falls = (begins < np.append(0, begins[:-1])[: len(begins)]) | (begins > size)
    falls[:1] |= begins[:1] != 0
    if falls.any():
        bad = (0, "offsets", int(np.argmax(falls)))
        refuse(bad, part, len(mapping), f"{name}: offsets{at}")
    rows = mapping[flat].astype(np.int64, copy=False)
    counted = flat != padding
    kept = (rows >= 0) & counted
    numbers = None
    if counts:
        numbers = np.diff(_before(counted, begins if ends else np.append(begins, size)))
    weights = None if part.weights is None else part.weights.reshape(-1)[kept]
    return BagArguments(rows[kept], _before(kept, begins), weights, part.bags, numbers)


def _before(chosen: Array, positions: Array) -> Array:
    """Return how many are chosen before each position."""
    return np.concatenate([[0], np.cumsum(chosen)])[positions]
