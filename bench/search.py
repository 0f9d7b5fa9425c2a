"""Exact search for the ten most similar embeddings, against NumPy, faiss, usearch and numkong.

    OPENBLAS_NUM_THREADS=1 python bench/search.py
    python bench/search.py --rows 100000 --dimensions 768 --queries 1 8

float32 embeddings, the same quantized to int8 and to bits, with one query and with 32. Before, what
everyone finds is compared with the scores of all rows. NumPy searches float32 only, on as many
threads as OPENBLAS_NUM_THREADS says where threadpoolctl is not installed: name the same number in
both places.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import comparison
import numpy as np
import peers
import timing
from peers import Array
from peers.vectors import Search, Task

import fbg

TOP_K = 10
PRECISIONS: dict[str, Literal["int8", "ubinary"]] = {"int8": "int8", "bits": "ubinary"}
BLOCK = 1 << 14  # rows whose scores are checked together
Operands = dict[str, tuple[Array, Array]]


def operands(rows: int, dimensions: int, count: int) -> Operands:
    """Queries and corpus by precision; a query is near to one row of the corpus."""
    rng = np.random.default_rng(0)
    corpus = rng.standard_normal((rows, dimensions), dtype=np.float32)
    corpus /= np.linalg.norm(corpus, axis=1, keepdims=True)
    queries = corpus[:count].copy()
    queries += 0.1 / dimensions**0.5 * rng.standard_normal(queries.shape, dtype=np.float32)
    ranges = fbg.embedding_ranges(corpus[:10000])
    found = {"fp32": (queries, corpus)}
    for name, precision in PRECISIONS.items():
        quantize = partial(fbg.quantize_embeddings, precision=precision, ranges=ranges)
        found[name] = quantize(queries), quantize(corpus)
    return found


def exact_scores(precision: str, queries: Array, corpus: Array) -> Array:
    """The scores of all pairs by NumPy alone; of bits, how many differ, negative."""
    parts = []
    for first in range(0, len(corpus), BLOCK):
        rows = corpus[first : first + BLOCK]
        if precision == "bits":
            different = np.bitwise_count(queries[:, None] ^ rows)
            parts.append(-different.sum(axis=2, dtype=np.float32))
        else:  # sums of int8 products are exact in float32 up to 1040 dimensions
            parts.append(queries.astype(np.float32) @ rows.astype(np.float32).T)
    return np.concatenate(parts, axis=1)


def verify(name: str, found: Any, scores: Array) -> None:
    """End the program unless a search has found rows with the best scores, best first."""
    if isinstance(found, list):  # of fbg
        found = [[hit["corpus_id"] for hit in hits] for hits in found]
    best = -np.sort(np.partition(-scores, TOP_K - 1, axis=1)[:, :TOP_K], axis=1)
    rows = np.atleast_2d(found).astype(np.int64)  # usearch gives one row for one query
    distinct = all(len(set(row)) == TOP_K for row in rows.tolist())
    if not distinct or not np.allclose(np.take_along_axis(scores, rows, 1), best, 0, 1e-5):
        raise SystemExit(f"search.py: {name} does not find the best rows")


def contestants(
    precision: str, ready: dict[str, Search], queries: Array, corpus: Array
) -> Iterator[timing.Contestant]:
    """All searchers, verified."""
    scores = exact_scores(precision, queries, corpus)
    for name, search in ready.items():
        verify(name, search(queries), scores)
        yield timing.Contestant(name, partial(search, queries))


def cases(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    count = max(arguments.queries)
    for precision, (queries, corpus) in operands(
        arguments.rows, arguments.dimensions, count
    ).items():
        metric: Literal["dot", "hamming"] = "hamming" if precision == "bits" else "dot"
        for threads in arguments.threads:
            fbg.set_num_threads(threads)
            search: Any = partial(fbg.semantic_search, corpus=corpus, top_k=TOP_K, metric=metric)
            ready: dict[str, Search] = {f"fbg-{precision}": search}
            for engine in peers.available("SEARCHES"):
                make = peers.table("SEARCHES")[engine].make
                for way, other in make(Task(precision, corpus, TOP_K, threads)):
                    ready[f"{engine}-{precision} {way}".strip()] = other
            for n in arguments.queries:
                names = {"queries": n, "threads": threads, "precision": precision}
                yield timing.Case(
                    names, partial(contestants, precision, ready, queries[:n], corpus)
                )


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--queries", type=int, nargs="+", default=(1, 32), metavar="N")
    arguments = parser.parse_args()
    report = timing.begin("search", arguments)
    comparison.run(report, cases(arguments), timing.rounds(arguments))


if __name__ == "__main__":
    main()
