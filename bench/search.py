"""Exact search for the ten most similar embeddings, against NumPy's product and `argpartition`.

    OPENBLAS_NUM_THREADS=1 python bench/search.py
    python bench/search.py --rows 100000 --dimensions 768

float32 embeddings, the same quantized to int8 and to bits, with one query and with 32. Searches of
the first rows are compared with a sorted list of their scores before. NumPy searches the float32
embeddings, on as many threads as OPENBLAS_NUM_THREADS says: name the same number in both places.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import numpy as np
import timing

import fbg

TOP_K = 10
QUERIES = (1, 32)
HEADERS = ["queries", "threads", "numpy, ms", "float32, ms", "×", "int8, ms", "×", "bits, ms", "×"]
PRECISIONS: tuple[Literal["int8", "ubinary"], ...] = ("int8", "ubinary")
Metric = Literal["dot", "hamming"]
Array = np.ndarray[Any, np.dtype[Any]]


def numpy_search(queries: Array, corpus: Array) -> Array:
    """Return the best rows for each query, as a user of NumPy finds them."""
    scores = queries @ corpus.T
    best = np.argpartition(-scores, TOP_K, axis=1)[:, :TOP_K]
    order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
    return np.take_along_axis(best, order, 1)


def verify(name: str, queries: Array, corpus: Array, metric: Metric) -> None:
    """End the program unless the search finds what sorting all scores of a part finds."""
    part = corpus[:5000]
    scores = fbg.similarity(queries, part, metric)
    wanted = np.argsort(-scores.astype(np.float64), axis=1, kind="stable")[:, :TOP_K]
    found = fbg.semantic_search(queries, part, TOP_K, metric)
    if [[hit["corpus_id"] for hit in hits] for hits in found] != wanted.tolist():
        raise SystemExit(f"search.py: the search of {name} does not find the best rows")


def operands(rows: int, dimensions: int) -> dict[str, tuple[Array, Array, Metric]]:
    """Return queries, corpus and metric by dtype; a query is near to one row of the corpus."""
    rng = np.random.default_rng(0)
    corpus = rng.standard_normal((rows, dimensions), dtype=np.float32)
    corpus /= np.linalg.norm(corpus, axis=1, keepdims=True)
    queries = corpus[: max(QUERIES)].copy()
    queries += 0.1 / dimensions**0.5 * rng.standard_normal(queries.shape, dtype=np.float32)
    ranges = fbg.embedding_ranges(corpus[:10000])
    bytes_of, bits_of = (
        [fbg.quantize_embeddings(x, precision, ranges=ranges) for x in (queries, corpus)]
        for precision in PRECISIONS
    )
    return {
        "float32": (queries, corpus, "dot"),
        "int8": (bytes_of[0], bytes_of[1], "dot"),
        "bits": (bits_of[0], bits_of[1], "hamming"),
    }


def contestants(
    count: int, cases: dict[str, tuple[Array, Array, Metric]]
) -> list[timing.Contestant]:
    queries, corpus, _ = cases["float32"]
    search = functools.partial(numpy_search, queries[:count], corpus)
    entrants = [timing.Contestant("numpy", search)]
    for name, (some, rows, metric) in cases.items():
        verify(name, some[:count], rows, metric)
        call = functools.partial(fbg.semantic_search, some[:count], rows, TOP_K, metric)
        entrants.append(timing.Contestant(name, call))
    return entrants


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=384)
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("search", arguments)
    cases = operands(arguments.rows, arguments.dimensions)
    table = []
    for threads in arguments.threads:
        fbg.set_num_threads(threads)
        for count in QUERIES:
            case = {"queries": count, "threads": threads}
            entrants = functools.partial(contestants, count, cases)
            results = report.race(case, entrants, timing.rounds(arguments))
            row = [str(count), str(threads), f"{results['numpy'].median * 1e3:.1f}"]
            for name in cases:
                gain = results[name].speedup_over(results["numpy"])
                row += [f"{results[name].median * 1e3:.1f}", f"{gain:.1f}"]
            table.append(row)
    print(f"\n### Search in {arguments.rows} × {arguments.dimensions}, {fbg.isa.active()}\n")
    print(timing.markdown(HEADERS, table), flush=True)


if __name__ == "__main__":
    main()
