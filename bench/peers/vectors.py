"""NumPy, and libraries of exact search: one product of vectors, and the best rows of many.

    numpy-fp32              products by np.matmul into a given array (OpenBLAS); search by a product
                            and `argpartition`
    faiss-fp32              IndexFlatIP
    faiss-int8              IndexScalarQuantizer, QT_8bit_direct_signed
    faiss-bits              IndexBinaryFlat
    usearch-*               usearch.index.search(exact=True)
    numkong-* in place      cdist of the queries and the rows, then NumPy's `argpartition`
    numkong-* packed        the same with rows that were packed before

numkong and usearch add float32 products in float64. numkong has no threads of its own: each thread
of a pool searches a part of the rows.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from peers import Array, Call, Peer, Product, Row, installed, rotate

Search = Callable[[Array], Array]  # (n, dimensions) queries -> (n, top_k) rows, best first


@dataclass(frozen=True)
class Task:
    """The rows to search, which are of one precision: fp32, int8 or bits (eight in a byte)."""

    precision: str
    corpus: Array
    top_k: int
    threads: int


def nearest(distances: Array, top_k: int) -> Array:
    """The columns of the least distances of each row, in order."""
    found = np.argpartition(distances, top_k - 1, axis=1)[:, :top_k]
    order = np.argsort(np.take_along_axis(distances, found, 1), axis=1, kind="stable")
    return np.take_along_axis(found, order, 1)


def _numpy(task: Task) -> Iterator[tuple[str, Search]]:
    if task.precision != "fp32":
        return
    if installed("threadpoolctl"):  # otherwise as OPENBLAS_NUM_THREADS says
        import threadpoolctl

        threadpoolctl.threadpool_limits(task.threads, user_api="blas")
    yield "", lambda queries: nearest(-(queries @ task.corpus.T), task.top_k)


def _faiss(task: Task) -> Iterator[tuple[str, Search]]:
    import faiss

    dimensions = task.corpus.shape[1]
    if task.precision == "bits":
        index = faiss.IndexBinaryFlat(8 * dimensions)
    elif task.precision == "int8":
        kind = faiss.ScalarQuantizer.QT_8bit_direct_signed
        index = faiss.IndexScalarQuantizer(dimensions, kind, faiss.METRIC_INNER_PRODUCT)
    else:
        index = faiss.IndexFlatIP(dimensions)
    dtype = np.uint8 if task.precision == "bits" else np.float32
    for first in range(0, len(task.corpus), 1 << 16):
        index.add(task.corpus[first : first + (1 << 16)].astype(dtype))

    def search(queries: Array) -> Array:
        faiss.omp_set_num_threads(task.threads)
        rows: Array = index.search(queries.astype(dtype), task.top_k)[1]
        return rows

    yield "", search


def _usearch(task: Task) -> Iterator[tuple[str, Search]]:
    from usearch.index import MetricKind, search

    bits = task.precision == "bits"
    options = {
        "metric": MetricKind.Hamming if bits else MetricKind.IP,
        "threads": task.threads,
        "dtype": {"fp32": "f32", "int8": "i8", "bits": "b1"}[task.precision],
    }
    yield "", lambda queries: search(task.corpus, queries, task.top_k, exact=True, **options).keys


def _numkong(task: Task) -> Iterator[tuple[str, Search]]:
    import numkong

    starts = [len(task.corpus) * n // task.threads for n in range(task.threads + 1)]
    parts = [task.corpus[a:b] for a, b in itertools.pairwise(starts)]
    options: dict[str, str] = {"metric": "dot"}
    distances_of: Callable[[Any], Array] = np.negative
    pack, product = numkong.dots_pack, numkong.dots_packed
    if task.precision == "bits":
        options = {"metric": "hamming", "dtype": "uint1"}
        distances_of = np.asarray
        pack, product = numkong.hammings_pack, numkong.hammings_packed
    compare = functools.partial(numkong.cdist, out_dtype="float32", **options)
    packed = [pack(part) for part in parts]
    yield "in place", _in_parts(task, lambda *pair: distances_of(compare(*pair)), parts)
    yield "packed", _in_parts(task, lambda *pair: distances_of(product(*pair)), packed)


def _in_parts(task: Task, measure: Callable[[Array, Any], Array], parts: list[Any]) -> Search:
    """A search by distances from the queries to parts of the corpus, one for each thread."""
    pool = ThreadPoolExecutor(task.threads)

    def search(queries: Array) -> Array:
        def best(number: int) -> tuple[Array, Array]:
            distances = measure(queries, parts[number])
            rows = nearest(distances, task.top_k)
            first = len(task.corpus) * number // task.threads
            return np.take_along_axis(distances, rows, 1), rows + first

        found = list(pool.map(best, range(task.threads)))
        distances, rows = (np.concatenate(each, axis=1) for each in zip(*found, strict=True))
        return np.take_along_axis(rows, nearest(distances, task.top_k), 1)

    return search


def _product(product: Product) -> Peer:
    import threadpoolctl

    threadpoolctl.threadpool_limits(product.threads, user_api="blas")  # until told otherwise

    def make() -> Call:
        w, bias = product.w.copy(), product.bias
        out = np.empty((len(product.x), w.shape[1]), np.float32)
        if bias is None:
            return lambda: np.matmul(product.x, w, out=out)
        return lambda: np.add(np.matmul(product.x, w, out=out), bias, out=out)

    return Peer(rotate(make, product.copies))


PRODUCTS = {"numpy-fp32": Row(("threadpoolctl",), _product)}
ENGINES = {"numpy": _numpy, "faiss": _faiss, "usearch": _usearch, "numkong": _numkong}
SEARCHES = {name: Row((name,), make) for name, make in ENGINES.items()}
