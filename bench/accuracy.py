"""How close int8 embeddings come to the float32 ones, on real sentences.

    python bench/accuracy.py [MODEL_DIRECTORY] [--sentences 3000] [--calibrate 100] [--text FILE]

Sentences are those of the documentation that this Python has with it: docstrings of the standard
library and of the packages that are installed, in a fixed random order, each of them once. With
--text they are the lines of a file. The last ones calibrate and are not compared.

    mean, 1st percentile   of the cosine between the embeddings of a sentence
    top-10 kept            of the 10 nearest neighbours of a sentence among the others, how many
                           are among its 10 nearest by float32 embeddings too
"""

from __future__ import annotations

import argparse
import ast
import itertools
import random
import re
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fbg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))

Floats = npt.NDArray[np.float32]
NEIGHBOURS = 10


def docstrings(root: Path) -> Iterator[str]:
    """Every docstring below a directory, files in order of their names."""
    for path in sorted(root.rglob("*.py")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node)
                if text:
                    yield text


def sentences_of(text: str) -> Iterator[str]:
    """The sentences of a docstring: from a capital letter to a full stop, mostly words."""
    for paragraph in re.split(r"\n\s*\n", text):
        flat = " ".join(paragraph.split())
        for sentence in re.split(r"(?<=[.!?])\s+", flat):
            words = sentence.split()
            plain = sum(bool(re.fullmatch(r"[A-Za-z'-]+[,.;:!?]?", word)) for word in words)
            if (
                6 <= len(words) <= 60
                and sentence[0].isupper()
                and sentence[-1] in ".!?"
                and plain >= 0.8 * len(words)
            ):
                yield sentence


def installed_sentences(wanted: int) -> list[str]:
    """Up to `wanted` different sentences out of the documentation of this Python's packages."""
    found: dict[str, None] = {}
    places = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    for text in itertools.chain.from_iterable(docstrings(place) for place in places):
        found.update(dict.fromkeys(sentences_of(text)))
        if len(found) >= 10 * wanted:  # of the first packages by name
            break
    chosen = sorted(found)
    random.Random(0).shuffle(chosen)
    return chosen[:wanted]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="default: the MiniLM of the tests")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--calibrate", type=int, default=100)
    parser.add_argument("--text", type=Path, help="a file with a sentence on each line")
    arguments = parser.parse_args()
    if arguments.model is None:
        from minilm import minilm_directory

        arguments.model = minilm_directory()

    wanted = arguments.sentences + arguments.calibrate
    if arguments.text:
        texts = arguments.text.read_text(encoding="utf-8").splitlines()[:wanted]
    else:
        texts = installed_sentences(wanted)
    compared, calibrating = texts[: -arguments.calibrate], texts[-arguments.calibrate :]
    exact = fbg.load(arguments.model)
    tokens = exact.token_counts(compared)
    wanted_embeddings = exact.encode(compared, normalize_embeddings=True)
    print(f"{len(compared)} sentences of {np.mean(tokens):.0f} tokens on average", flush=True)

    print(f"{'int8':34} {'mean':>8} {'1st pct':>8} {'top-10':>7} {'load s':>7}")
    for name, options in (
        ("plain rounding (smooth=False)", {"smooth": False}),
        ("smooth, no data (default)", {}),
        (f"calibrate={len(calibrating)} texts", {"calibrate": calibrating}),
    ):
        start = time.perf_counter()
        model = fbg.load(arguments.model, dtype="int8", **options)
        seconds = time.perf_counter() - start
        embeddings = model.encode(compared, normalize_embeddings=True)
        mean, percentile, kept = compare(embeddings, wanted_embeddings)
        print(f"{name:34} {mean:8.5f} {percentile:8.5f} {kept:7.1%} {seconds:7.2f}", flush=True)


if __name__ == "__main__":
    main()
