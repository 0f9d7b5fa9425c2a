"""Embeddings of real text in real tokens per second: ours against the peers at their best.

    python bench/sentences.py --threads 1 2                      MiniLM, 5000 texts, every peer
    python bench/sentences.py --contestants fbg-int8 ort-int8 openvino-int8 --quick
    python bench/sentences.py --model DIRECTORY --text FILE

From texts to normalised embeddings, tokenization included (the same library for all); padding does
not count as tokens. Each peer runs with every strategy of sentence_peers; ratios are against the
fastest of them all. First every contestant embeds all texts, and those in fp32 must agree to a
cosine of 0.9999. Then every round takes another part of the texts: batches out of the sorted whole,
so that those of a peer are padded as little as if it ran on all. "computing" leaves out the time
that tokenization takes alone.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bert_peers
import checkpoints
import corpus
import numpy as np
import sentence_peers
import timing
from exports import Exports
from sentence_peers import BATCH, Embed, Floats, Tokenize

OURS = {"fbg-fp32": "float32", "fbg-bf16": "bfloat16", "fbg-int8": "int8"}
CHOICES = (*OURS, *bert_peers.BERT_PEERS)
DEFAULT = tuple(name for name in CHOICES if name not in ("torch-bf16", "torch-int8"))
CALIBRATING = 100
AGREEMENT = 0.9999
TOKENIZING = "tokenizing alone"


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
    name: str, embed: Callable[[list[str]], object], parts: list[Part]
) -> timing.Contestant:
    """Seconds per token; each sample takes the next part."""
    count = 0

    def sample() -> float:
        nonlocal count
        part = parts[count % len(parts)]
        count += 1
        return timing.elapsed(lambda: embed(part.texts)) / part.tokens

    return timing.Contestant(name, sample=sample)


def prepare(
    names: list[str], exports: Exports, threads: int, tokenize: Tokenize
) -> dict[str, Embed]:
    """Every contestant with each of its strategies, ready to run."""
    ready: dict[str, Embed] = {}
    for name in names:
        if name in OURS:
            ready[name] = ours(name, exports, threads)
        elif bert_peers.available(name, exports):
            made = sentence_peers.embedders(name, exports, threads, tokenize)
            ready |= {f"{name} {strategy}": embed for strategy, embed in made.items()}
        else:
            print(f"{name}: not installed, left out")
    return ready


def ours(name: str, exports: Exports, threads: int) -> Embed:
    import fbg

    model = fbg.load(exports.checkpoint, dtype=OURS[name], num_threads=threads)
    return lambda texts: model.encode(texts, normalize_embeddings=True)


def verify(ready: dict[str, Embed], texts: list[str]) -> None:
    """Embed all texts with all contestants: fp32 must agree; it also wakes their caches."""
    fp32 = [name for name in ready if "-fp32" in name]
    reference = next((name for name in fp32 if name not in OURS), (fp32 or list(ready))[0])
    exact: Floats = ready[reference](texts)
    for name, embed in ready.items():
        cosine = (embed(texts) * exact).sum(axis=1)
        print(
            f"verified: {name} against {reference}: cosine at least {cosine.min():.5f}, "
            f"{cosine.mean():.5f} on average",
            flush=True,
        )
        if not cosine.min() > (AGREEMENT if name in fp32 else 0):
            raise SystemExit(f"sentences.py: {name} differs from {reference}")


def show(results: dict[str, timing.Result], threads: int) -> None:
    tokenizing = results.pop(TOKENIZING)
    print(f"\n### {threads} thread{'s' * (threads > 1)}: real tokens per second\n")
    rows = [[TOKENIZING, f"{1 / tokenizing.median:,.0f}", ""]]
    rows += [
        [name, f"{1 / result.median:,.0f}", f"{1 / (result.median - tokenizing.median):,.0f}"]
        for name, result in results.items()
    ]
    print(timing.markdown(["contestant", "from texts", "computing"], rows), flush=True)
    print()
    for mine in (name for name in results if name in OURS):
        precision = mine.partition("-")[2]
        rivals = [name for name in results if f"-{precision} " in name]
        for engine in dict.fromkeys(name.partition("-")[0] for name in rivals):
            field = [results[name] for name in rivals if name.startswith(engine)]
            best = min(field, key=lambda result: result.median)
            ratio = results[mine].speedup_over(best)
            print(f"{mine} is {ratio:.2f} × as fast as {best.name}")


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="a model directory; default: MiniLM")
    parser.add_argument("--texts", type=int, default=5000, help="number of texts (default 5000)")
    parser.add_argument("--text", type=Path, help="a file with a text on each line")
    parser.add_argument("--contestants", nargs="+", choices=CHOICES, metavar="NAME")
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.texts = min(arguments.texts, 600)
    return arguments


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    checkpoint: Path = arguments.model or checkpoints.of_tests("minilm").minilm_directory()
    wanted = arguments.texts + CALIBRATING
    texts = corpus.lines_of(arguments.text, wanted) or corpus.mixed_texts(wanted)
    texts, calibrating = texts[:-CALIBRATING], texts[-CALIBRATING:]
    exports, tokenize = sentence_peers.real_exports(checkpoint, arguments.cache, calibrating)

    lengths = np.array([ids.size for ids in tokenize(texts)])
    low, middle, high = np.percentile(lengths, (10, 50, 90))
    print(
        f"{len(texts)} texts, {lengths.sum()} tokens: {lengths.mean():.0f} on average, 10 % have "
        f"at most {low:.0f}, half {middle:.0f}, 90 % {high:.0f}, all {lengths.max()}",
        flush=True,
    )
    names = arguments.contestants or list(DEFAULT)
    report = timing.Report("sentences", arguments)
    for threads in arguments.threads:
        # The tokenizers of all contestants read this at every call.
        os.environ["TOKENIZERS_PARALLELISM"] = "true" if threads > 1 else "false"
        if report.rows({"threads": threads}):
            continue
        ready = prepare(names, exports, threads, tokenize)
        verify(ready, texts)
        parts = parts_of(texts, tokenize, timing.rounds(arguments))
        field = [contestant(name, embed, parts) for name, embed in ready.items()]
        field.append(contestant(TOKENIZING, tokenize, parts))
        results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
        report.add({"threads": threads}, results)
        show(results, threads)


if __name__ == "__main__":
    main()
