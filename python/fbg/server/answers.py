"""The JSON of answers with many numbers.

It is made outside of the event loop, for which it would take too long, and a row of numbers at a
time, because one call of the encoder keeps the interpreter for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from fbg.server.replies import encode_json
from fbg.tasks.multi.hybrid import HybridEmbeddings
from fbg.tasks.sparse import SparseEmbeddings

__all__ = ["hybrid_json", "matrices_json", "sparse_json"]

Floats = npt.NDArray[np.float32]


def matrices_json(matrices: Iterable[Floats]) -> bytes:
    """Return a list with a list of rows for each matrix."""
    return b"".join(_list(map(_rows, matrices)))


def sparse_json(found: SparseEmbeddings) -> bytes:
    """Return a list with a list of {index, value} for each text."""
    return b"".join(_list((entries,) for entries in _entries(found)))


def hybrid_json(found: HybridEmbeddings) -> bytes:
    """Return a list with {dense, sparse, multi} for each text."""
    parts = zip(found.dense, _entries(found.sparse), found.multi, strict=True)
    return b"".join(_list(_hybrid(*part) for part in parts))


def _hybrid(dense: Floats, sparse: bytes, multi: Floats) -> Iterator[bytes]:
    yield from (b'{"dense":', encode_json(dense.tolist()), b',"sparse":', sparse, b',"multi":')
    yield from chain(_rows(multi), (b"}",))


def _rows(matrix: Floats) -> Iterator[bytes]:
    return _list((encode_json(row.tolist()),) for row in matrix)


def _entries(found: SparseEmbeddings) -> Iterator[bytes]:
    for begin, end in pairwise(found.indptr.tolist()):
        indices, values = found.indices[begin:end].tolist(), found.data[begin:end].tolist()
        entries = zip(indices, values, strict=True)
        yield encode_json([{"index": index, "value": value} for index, value in entries])


def _list(items: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the parts of a JSON list; an item consists of parts, too."""
    yield b"["
    for n, item in enumerate(items):
        if n:
            yield b","
        yield from item
    yield b"]"
