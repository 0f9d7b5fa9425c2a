"""Similarities of embeddings, and an exact search for the most similar ones.

Float embeddings are multiplied in float32 and int8 ones exactly in int32; for bits, the bits that
differ are counted. A score has the same bits for any number of queries and threads. A search reads
a corpus of contiguous rows in place, and copies any other; it keeps only the best scores of
each query.
"""

from __future__ import annotations

from typing import Literal, TypedDict

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import Array, has_dense_rows, refuse_texts, require_integer
from fbg.threads import get_num_threads

Metric = Literal["cosine", "dot", "hamming"]

METRICS = ("cosine", "dot", "hamming")
KEPT_BYTES = 32  # entries for each of the top k scores, half of which are about to be replaced
MEMORY = 64 << 20  # bytes for the scores that all threads keep for the queries that run together


class Hit(TypedDict):
    """An embedding that was found: its row in the corpus, and its score."""

    corpus_id: int
    score: float


def similarity(a: npt.ArrayLike, b: npt.ArrayLike, metric: Metric = "cosine") -> Array:
    """Return the scores of all pairs, (len(a), len(b)).

    a, b: (n, dimensions) embeddings of the same dtype: float32; int8 as `quantize_embeddings` makes
        them, of at most 131071 dimensions, with metric "dot" only; uint8 or int8 bits, with metric
        "hamming".
    metric: "cosine" and "dot" of float32 return float32; "dot" of int8 returns int32. "hamming"
        returns minus the number of bits that differ, int32, so that larger is always more similar.

    Raises TypeError for dtypes, ValueError for shapes and an unknown metric.

    >>> similarity(np.float32([[3, 4]]), np.float32([[6, 8], [-3, -4]]))
    array([[ 1., -1.]], dtype=float32)
    """
    left, right = _checked("similarity", a, b, metric)
    scores: Array = _fbg.similarity(*_operands(left, right, metric), metric, get_num_threads())
    return scores


def semantic_search(
    queries: npt.ArrayLike,
    corpus: npt.ArrayLike,
    top_k: int = 10,
    metric: Metric = "cosine",
) -> list[list[Hit]]:
    """Return for each query the most similar embeddings of a corpus, best first.

    queries, corpus, metric: as in `similarity`; one query may be 1-D.
    top_k: how many; fewer if the corpus is smaller. Equal scores are in the order of the corpus.
        A score that is NaN comes last, as -inf.

    >>> semantic_search(np.float32([1, 0]), np.float32([[0, 1], [2, 0]]), top_k=1)
    [[{'corpus_id': 1, 'score': 1.0}]]
    """
    left, right = _checked("semantic_search", queries, corpus, metric)
    k = require_integer(top_k, "semantic_search: top_k", 1, 1 << 30)
    left, right = _operands(left, right, metric)
    kept = KEPT_BYTES * min(k, max(len(right), 1))  # kept by one thread for one query
    threads = max(1, min(get_num_threads(), MEMORY // kept))
    count = max(1, MEMORY // (kept * threads))
    found: list[list[Hit]] = []
    for first in range(0, len(left), count):
        scores, rows = _fbg.search(left[first : first + count], right, metric, k, threads)
        for hits in zip(rows.tolist(), scores.tolist(), strict=True):
            found.append([Hit(corpus_id=n, score=float(x)) for n, x in zip(*hits, strict=True)])
    return found


def _operands(left: Array, right: Array, metric: str) -> tuple[Array, Array]:
    """Return queries and corpus as the kernels read them."""
    left = np.array(left, order="C")  # NumPy then adds in the same order for any layout
    if metric == "cosine":
        left = unit_rows(left)
    if metric == "hamming":
        left, right = left.view(np.uint8), right.view(np.uint8)
    return left, right if has_dense_rows(right) else np.array(right, order="C")


def unit_rows(x: Array) -> Array:
    """Divide rows by their lengths; each row is summed by itself, whatever rows are beside it."""
    lengths = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    unit: Array = x / np.maximum(lengths, np.float32(1e-12))
    return unit


def _checked(where: str, a: npt.ArrayLike, b: npt.ArrayLike, metric: str) -> tuple[Array, Array]:
    if metric not in METRICS:
        raise ValueError(f"{where}: metric must be one of {', '.join(METRICS)}, got {metric!r}")
    wanted = {"cosine": ("float32",), "dot": ("float32", "int8"), "hamming": ("uint8", "int8")}
    left, right = np.atleast_2d(np.asarray(a)), np.asarray(b)
    for array in (left, right):
        refuse_texts(where, array)
        if str(array.dtype) not in wanted[metric]:
            names = " or ".join(wanted[metric])
            fits = " or ".join(repr(m) for m, kinds in wanted.items() if str(array.dtype) in kinds)
            other = f"; pass metric={fits}" if fits else ""
            if array.dtype in (np.float64, np.int64) and "float32" in wanted[metric]:
                other = "; convert it with np.asarray(x, np.float32)"
            raise TypeError(f"{where}: {metric} needs {names}, got {array.dtype}{other}")
    if left.dtype != right.dtype:
        raise TypeError(f"{where}: both must have one dtype, got {left.dtype} and {right.dtype}")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1] or not left.shape[1]:
        row = "; pass b[None] for a single vector" if right.ndim == 1 else ""
        raise ValueError(
            f"{where}: both must be 2-D with equally many columns, at least one, got "
            f"{np.shape(a)} and {right.shape}{row}"
        )
    return left, right
