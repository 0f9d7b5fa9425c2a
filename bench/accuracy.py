"""How close low-precision embeddings come to the float32 ones, on real sentences.

    python bench/accuracy.py [MODEL_DIRECTORY] [--sentences 3000] [--calibrate 100] [--text FILE]
    python bench/accuracy.py --peers         torch, onnxruntime and OpenVINO too

Sentences are those of the documentation that this Python has with it (corpus.py). With --text they
are the lines of a file. The last ones calibrate, ours and OpenVINO's, and are not compared. Peers
take one sentence at a time, so that no other one shares its scales; each is held against float32
embeddings that agree to 1e-5 between the engines.

    mean, 1st percentile   of the cosine between the embeddings of a sentence
    top-10 kept            of the 10 nearest neighbours of a sentence among the others, how many
                           are among its 10 nearest by float32 embeddings too
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bert_peers
import checkpoints
import corpus
import numpy as np
import numpy.typing as npt
import sentence_peers
from exports import Exports
from sentence_peers import Embed, Tokenize

import fbg

Floats = npt.NDArray[np.float32]
NEIGHBOURS = 10
AGREEMENT = 1e-5  # of the cosine between float32 embeddings of two engines
PEERS = ("openvino-fp32", "openvino-bf16", "openvino-int8", "ort-int8", "torch-int8")


def neighbours(embeddings: Floats) -> npt.NDArray[np.intp]:
    similarity = embeddings @ embeddings.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argpartition(-similarity, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]


def compare(embeddings: Floats, exact: Floats) -> tuple[float, float, float]:
    """Return mean cosine, its 1st percentile and the fraction of neighbours kept."""
    cosine = (embeddings * exact).sum(axis=1)
    pairs = zip(neighbours(embeddings), neighbours(exact), strict=True)
    kept = float(np.mean([np.isin(a, b).mean() for a, b in pairs]))
    return float(cosine.mean()), float(np.percentile(cosine, 1)), kept


def own(model: Path, calibrating: list[str]) -> Iterator[tuple[str, Embed]]:
    """Our dtypes and ways of quantizing."""
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("fbg bf16", {"dtype": "bfloat16"}),
        ("fbg fp16", {"dtype": "float16"}),
        ("fbg int8, plain rounding (smooth=False)", {"dtype": "int8", "smooth": False}),
        ("fbg int8, smooth, no data (default)", {"dtype": "int8"}),
        ("fbg int8, calibrate=synthetic", {"dtype": "int8", "calibrate": "synthetic"}),
        (
            f"fbg int8, calibrate={len(calibrating)} texts",
            {"dtype": "int8", "calibrate": calibrating},
        ),
        ("fbg int4, no data (default)", {"dtype": "int4"}),
        (
            f"fbg int4, calibrate={len(calibrating)} texts",
            {"dtype": "int4", "calibrate": calibrating},
        ),
    )
    for name, options in ways:
        loaded = fbg.load(model, **options)
        yield name, functools.partial(loaded.encode, normalize_embeddings=True)


def of_peers(exports: Exports, tokenize: Tokenize) -> Iterator[tuple[str, Embed]]:
    for name in PEERS:
        if not bert_peers.available(name, exports):
            print(f"{name}: not installed, left out")
            continue
        forward = bert_peers.peer(name, exports, threads=1)
        yield name, sentence_peers.batch(forward, tokenize, size=1)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, help="default: the MiniLM of the tests")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--calibrate", type=int, default=100)
    parser.add_argument("--text", type=Path, help="a file with a sentence on each line")
    parser.add_argument("--peers", action="store_true", help="measure other engines too")
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    return parser.parse_args()


def main() -> None:
    arguments = options()
    model: Path = arguments.model or checkpoints.of_tests("minilm").minilm_directory()
    wanted = arguments.sentences + arguments.calibrate
    texts = corpus.lines_of(arguments.text, wanted) or corpus.installed_sentences(wanted)
    compared, calibrating = texts[: -arguments.calibrate], texts[-arguments.calibrate :]
    exact = fbg.load(model)
    tokens = exact.token_counts(compared)
    reference = exact.encode(compared, normalize_embeddings=True)
    print(f"{len(compared)} sentences of {np.mean(tokens):.0f} tokens on average", flush=True)

    contestants = own(model, calibrating)
    if arguments.peers:
        exports, tokenize = sentence_peers.real_exports(model, arguments.cache, calibrating)
        contestants = itertools.chain(contestants, of_peers(exports, tokenize))
    print(f"{'':40} {'mean':>8} {'1st pct':>8} {'top-10':>7} {'load s':>7}")
    start = time.perf_counter()
    for name, embed in contestants:  # each is made when it is asked for
        seconds = time.perf_counter() - start
        mean, percentile, kept = compare(embed(compared), reference)
        print(f"{name:40} {mean:8.5f} {percentile:8.5f} {kept:7.1%} {seconds:7.2f}", flush=True)
        if name.endswith("fp32") and not percentile > 1 - AGREEMENT:
            raise SystemExit(f"accuracy.py: {name} differs from fbg in float32")
        start = time.perf_counter()


if __name__ == "__main__":
    main()
