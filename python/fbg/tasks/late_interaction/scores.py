"""MaxSim: how well the vectors of a query's tokens match those of a document's tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Floats, refuse_texts, require_integer
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear

BLOCK_ROWS = 1 << 16  # tokens of documents that are compared at a time
EMPTY = -1e9  # the score of a document without tokens, as sentence-transformers have it


def maxsim(
    queries: Sequence[npt.ArrayLike] | Floats,
    documents: Sequence[npt.ArrayLike] | Floats,
    num_threads: int | None = None,
) -> Floats:
    """Return the scores of all pairs, (queries, documents) float32.

    queries, documents: sequences of (tokens, dimension) float32 arrays, as `Model.encode_multi`
        returns them, or one such array.
    num_threads: as in `gemm`.

    The score is the sum over the tokens of the query of the largest dot product with a token of the
    document. A document without tokens scores -1e9, below all others; a query without tokens
    scores others as 0. A score depends on nothing but the pair. Raises TypeError for dtypes,
    ValueError for shapes and for a number of threads out of range.

    >>> maxsim(np.float32([[1, 0], [0, 1]]), [np.float32([[2, 0], [0, 3]]), np.float32([[1, 1]])])
    array([[5., 2.]], dtype=float32)
    """
    if num_threads is not None:
        num_threads = require_integer(num_threads, "maxsim: num_threads", 1, _fbg.MAX_THREADS)
    asked, found = _checked("queries", queries), _checked("documents", documents)
    widths = {array.shape[1] for array in (*asked, *found)}
    if len(widths) > 1:
        raise ValueError(f"maxsim: all arrays must have equally many columns, got {sorted(widths)}")
    result = np.zeros((len(asked), len(found)), np.float32)
    result[:, [n for n, document in enumerate(found) if not len(document)]] = EMPTY
    packed = [
        PackedB(query, transpose=True, dtype="float32") if len(query) else None for query in asked
    ]
    begin = 0
    while begin < len(found):
        end, rows = begin, 0
        while end < len(found) and (end == begin or rows + len(found[end]) <= BLOCK_ROWS):
            rows += len(found[end])
            end += 1
        kept = [n for n in range(begin, end) if len(found[n])]
        if kept:
            tokens = np.concatenate([found[n] for n in kept])
            starts = np.cumsum([0, *(len(found[n]) for n in kept[:-1])])
            for row, query in enumerate(packed):
                if query is not None:
                    products = linear(tokens, query, num_threads=num_threads)
                    best = np.maximum.reduceat(products, starts, axis=0)
                    result[row, kept] = best.sum(axis=1)
        begin = end
    return result


def _checked(name: str, given: Any) -> list[Floats]:
    if isinstance(given, np.ndarray) and given.ndim == 2:
        given = [given]
    arrays = [np.ascontiguousarray(array) for array in given]
    for n, array in enumerate(arrays):
        refuse_texts(f"maxsim: {name}[{n}]", array)
        if array.dtype != np.float32:
            raise TypeError(f"maxsim: {name}[{n}] must be float32, got {array.dtype}")
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(f"maxsim: {name}[{n}] must be (tokens, dimension), got {array.shape}")
    return arrays
