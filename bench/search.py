"""Exact search for the ten most similar embeddings, against NumPy, faiss, usearch and numkong.

    OPENBLAS_NUM_THREADS=1 python bench/search.py
    python bench/search.py --rows 100000 --dimensions 768 --queries 1 8

float32 embeddings, the same quantized to int8 and to bits, with one query and with 32. Before, what
everyone finds is compared with the scores of all rows. "× NumPy" is against NumPy's search of the
float32 embeddings at any precision; NumPy takes as many threads as OPENBLAS_NUM_THREADS says where
threadpoolctl is not installed: name the same number in both places.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import search_peers
import timing
from search_peers import Array, Search, Task

import fbg

TOP_K = 10
QUERIES = (1, 32)
NUMPY = "numpy-fp32"
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
        some, all_rows = (
            fbg.quantize_embeddings(x, precision, ranges=ranges) for x in (queries, corpus)
        )
        found[name] = some, all_rows
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


def contestants(ready: dict[str, Search], cases: Operands, count: int) -> list[timing.Contestant]:
    """All searchers with the first queries of their precision, verified."""
    entrants = []
    for precision, (queries, corpus) in cases.items():
        scores = exact_scores(precision, queries[:count], corpus)
        for name, search in ready.items():
            if precision_of(name) == precision:
                verify(name, search(queries[:count]), scores)
                call = functools.partial(search, queries[:count])
                entrants.append(timing.Contestant(name, call))
    return entrants


def searchers(cases: Operands, threads: int) -> dict[str, Search]:
    """This library and its peers at every precision."""
    fbg.set_num_threads(threads)
    found: dict[str, Search] = {}
    for precision, (_, corpus) in cases.items():
        metric: Literal["dot", "hamming"] = "hamming" if precision == "bits" else "dot"
        search: Any = functools.partial(
            fbg.semantic_search, corpus=corpus, top_k=TOP_K, metric=metric
        )
        found[f"fbg-{precision}"] = search
        found |= search_peers.searchers(Task(precision, corpus, TOP_K, threads))
    return found


def precision_of(name: str) -> str:
    """int8 of "numkong-int8 packed"."""
    return name.split()[0].rpartition("-")[2]


def lines(case: dict[str, int], results: dict[str, timing.Result]) -> Iterator[dict[str, str]]:
    """A line of the table for each precision: cells by their headers."""
    for precision in (precision_of(name) for name in results if name.startswith("fbg")):
        ours = results[f"fbg-{precision}"]
        line = {key: str(value) for key, value in case.items()} | {"precision": precision}
        line["fbg, ms"] = f"{ours.median * 1e3:.1f}"
        line["× NumPy"] = f"{ours.speedup_over(results[NUMPY]):.1f}"
        for name, result in results.items():
            if precision_of(name) == precision and name not in (ours.name, NUMPY):
                short = name.replace(f"-{precision}", "")
                line[f"{short}, ms"] = f"{result.median * 1e3:.1f}"
                line[f"× {short}"] = f"{ours.speedup_over(result):.2f}"
        yield line


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--queries", type=int, nargs="+", default=QUERIES, metavar="N")
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("search", arguments)
    cases = operands(arguments.rows, arguments.dimensions, max(arguments.queries))
    table: list[dict[str, str]] = []
    for threads in arguments.threads:
        ready = searchers(cases, threads)
        for count in arguments.queries:
            case = {"queries": count, "threads": threads}
            entrants = functools.partial(contestants, ready, cases, count)
            results = report.race(case, entrants, timing.rounds(arguments))
            table += lines(case, results)
    print(f"\n### Search in {arguments.rows} × {arguments.dimensions}, {fbg.isa.active()}\n")
    headers = list(dict.fromkeys(header for line in table for header in line))
    rows = [[line.get(header, "") for header in headers] for line in table]
    print(timing.markdown(headers, rows), flush=True)


if __name__ == "__main__":
    main()
