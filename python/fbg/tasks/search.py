"""Similarities of embeddings, and an exact search for the most similar ones.

Float embeddings are multiplied in float32 and int8 ones exactly in int32, both by the library's
products; of bits, those that differ are counted. The corpus is read in blocks, so that memory does
not grow with it.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from fbg.arrays import require_integer
from fbg.matmul.packed_b import PackedB
from fbg.matmul.packers import PackAWithRowOffset
from fbg.matmul.pipeline import CorrectZeroPoints
from fbg.matmul.product import linear, multiply

__all__ = ["Hit", "Metric", "semantic_search", "similarity"]

Array = npt.NDArray[Any]
Metric = Literal["cosine", "dot", "hamming"]

METRICS = ("cosine", "dot", "hamming")
BLOCK_BYTES = 64 << 20  # of scores
ROWS = 1 << 16  # of the corpus at most, per block
BIT_ROWS = 1 << 14  # of it whose bits are compared at a time: they stay in the cache


class Hit(TypedDict):
    """An embedding that was found: its row in the corpus, and its score."""

    corpus_id: int
    score: float


def similarity(a: npt.ArrayLike, b: npt.ArrayLike, metric: Metric = "cosine") -> Array:
    """Return the scores of all pairs, (len(a), len(b)).

    a, b: (n, dimensions) embeddings of the same dtype: float32; int8 as `quantize_embeddings` makes
        them, with metric "dot" only; uint8 or int8 bits, with metric "hamming".
    metric: "cosine" and "dot" of float32 return float32; "dot" of int8 returns int32. "hamming"
        returns minus the number of bits that differ, int32, so that larger is always more similar.

    Raises TypeError for dtypes, ValueError for shapes and an unknown metric.

    >>> similarity(np.float32([[3, 4]]), np.float32([[6, 8], [-3, -4]]))
    array([[ 1., -1.]], dtype=float32)
    """
    left, right = _checked("similarity", a, b, metric)
    return _scores(left, right, metric)


def semantic_search(
    queries: npt.ArrayLike,
    corpus: npt.ArrayLike,
    top_k: int = 10,
    metric: Metric = "cosine",
) -> list[list[Hit]]:
    """Return for each query the most similar embeddings of a corpus, best first.

    queries, corpus, metric: as in `similarity`; one query may be 1-D.
    top_k: how many; fewer if the corpus is smaller. Equal scores are in the order of the corpus.

    >>> semantic_search(np.float32([1, 0]), np.float32([[0, 1], [2, 0]]), top_k=1)
    [[{'corpus_id': 1, 'score': 1.0}]]
    """
    left, right = _checked("semantic_search", queries, corpus, metric)
    k = min(require_integer(top_k, "semantic_search: top_k", 1, 1 << 30), len(right))
    if k == 0 or len(left) == 0:
        return [[] for _ in left]
    best = np.empty((len(left), 0), np.float64)
    ids = np.empty((len(left), 0), np.int64)
    rows = max(1, min(ROWS, BLOCK_BYTES // (4 * len(left))))
    for first in range(0, len(right), rows):
        scores = _scores(left, right[first : first + rows], metric)
        scores = np.where(np.isnan(scores), -np.inf, scores) if scores.dtype.kind == "f" else scores
        found = _best(scores, k)
        best = np.concatenate([best, np.take_along_axis(scores, found, 1)], axis=1)
        ids = np.concatenate([ids, found + first], axis=1)
        kept = np.argsort(-best, axis=1, kind="stable")[:, :k]
        best, ids = np.take_along_axis(best, kept, 1), np.take_along_axis(ids, kept, 1)
    return [
        [{"corpus_id": int(n), "score": float(score)} for n, score in zip(*row, strict=True)]
        for row in zip(ids, best, strict=True)
    ]


def _best(scores: Array, k: int) -> npt.NDArray[np.int64]:
    """Return the columns of the k largest scores of each row, ascending; of equals the first."""
    result = np.empty((len(scores), min(k, scores.shape[1])), np.int64)
    for n, row in enumerate(scores):
        size = result.shape[1]
        least = np.partition(row, row.size - size)[row.size - size]
        above = np.flatnonzero(row > least)
        equal = np.flatnonzero(row == least)[: size - above.size]
        result[n] = np.sort(np.concatenate([above, equal]))
    return result


def _scores(left: Array, right: Array, metric: str) -> Array:
    if metric == "hamming":
        return _minus_different_bits(left, right)
    if left.dtype == np.int8:
        packed = PackedB(np.ascontiguousarray(left.T), scale=np.float32(1), zero_point=0)
        rows = PackAWithRowOffset(right, scale=1.0, zero_point=0)
        return np.ascontiguousarray(multiply(rows, packed, CorrectZeroPoints()).T)
    if metric == "cosine":
        left, right = _unit(left), _unit(right)
    # The corpus is by far the larger factor: it is read where it lies, and queries are packed.
    packed = PackedB(left, transpose=True, dtype="float32")
    return np.ascontiguousarray(linear(right, packed).T)


def _minus_different_bits(left: Array, right: Array) -> npt.NDArray[np.int32]:
    """Return minus the bits that differ, 64 of them at a time for a block of the corpus."""
    padding = -left.shape[1] % 8
    a, b = (
        np.ascontiguousarray(np.pad(x.view(np.uint8), ((0, 0), (0, padding)))).view(np.uint64)
        for x in (left, right)
    )
    words = np.ascontiguousarray(b.T)
    counter = np.uint16 if 64 * len(words) < 1 << 16 else np.uint32
    result = np.empty((len(a), len(b)), np.int32)
    for first in range(0, len(b), BIT_ROWS):
        part = words[:, first : first + BIT_ROWS]
        differing = np.empty_like(part[0])
        counts: Array = np.empty(part.shape[1], counter)
        for n, row in enumerate(a):
            counts[:] = 0
            for own, others in zip(row, part, strict=True):
                np.bitwise_xor(others, own, out=differing)
                counts += _count_bits(differing)
            np.negative(counts, out=result[n, first : first + BIT_ROWS], dtype=np.int32)
    return result


def _count_bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    """Return how many bits of each word are set."""
    if hasattr(np, "bitwise_count"):
        found: npt.NDArray[np.uint8] = np.bitwise_count(words)
        return found
    counts = np.array([bin(n).count("1") for n in range(1 << 16)], np.uint8)  # before NumPy 2
    found = counts[words.view(np.uint16)].reshape(-1, 4).sum(axis=1, dtype=np.uint8)
    return found


def _unit(x: Array) -> Array:
    lengths = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    unit: Array = x / np.maximum(lengths, np.float32(1e-12))
    return unit


def _checked(where: str, a: npt.ArrayLike, b: npt.ArrayLike, metric: str) -> tuple[Array, Array]:
    if metric not in METRICS:
        raise ValueError(f"{where}: metric must be one of {', '.join(METRICS)}, got {metric!r}")
    wanted = {"cosine": ("float32",), "dot": ("float32", "int8"), "hamming": ("uint8", "int8")}
    left, right = np.atleast_2d(np.asarray(a)), np.asarray(b)
    for array in (left, right):
        if str(array.dtype) not in wanted[metric]:
            names = " or ".join(wanted[metric])
            raise TypeError(f"{where}: {metric} needs {names}, got {array.dtype}")
    if left.dtype != right.dtype:
        raise TypeError(f"{where}: both must have one dtype, got {left.dtype} and {right.dtype}")
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1] or not left.shape[1]:
        raise ValueError(
            f"{where}: both must be 2-D with equally many columns, at least one, got "
            f"{left.shape} and {right.shape}"
        )
    return left, right
