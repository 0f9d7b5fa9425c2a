"""Sparse embeddings (SPLADE) and vectors of tokens (ColBERT): fbg and sentence-transformers.

    python bench/outputs.py                  BERT-base in float32 and int8, 256 texts, one thread
    python bench/outputs.py --texts 1000 --threads 1 2

Both read the same directory: BERT-base with random weights, and the tokenizer of all-MiniLM-L6-v2.
Texts are those of bench/sentences.py. First the float32 results of both must agree to a cosine of
0.9999. sentence-transformers runs torch in float32, 32 texts at a time, sorted by length, as it
does by default; documents are encoded.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from typing import Any

import checkpoints
import corpus
import numpy as np
import timing

import fbg

DTYPES = {"fbg-fp32": "float32", "fbg-int8": "int8"}
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
DIMENSION, LENGTH = 128, 256
AGREEMENT = 0.9999


def write_models(folder: Path) -> dict[str, Path]:
    """Write both models where they are not yet; return their directories."""
    import torch
    import transformers
    from sentence_transformers import MultiVectorEncoder, SparseEncoder, models
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling

    paths = {"sparse": folder / "sparse", "multi": folder / "multi"}
    if all((path / "modules.json").exists() for path in paths.values()):
        return paths
    plain = folder / "bert"
    torch.manual_seed(0)
    transformers.BertForMaskedLM(transformers.BertConfig()).save_pretrained(plain)
    minilm = checkpoints.of_tests("minilm").minilm_directory()
    for name in TOKENIZER:
        if (minilm / name).exists():
            shutil.copy(minilm / name, plain)
    encoder = MLMTransformer(str(plain), max_seq_length=LENGTH)
    SparseEncoder(modules=[encoder, SpladePooling()], device="cpu").save_pretrained(
        str(paths["sparse"])
    )
    encoder = models.Transformer(str(plain), max_seq_length=LENGTH)
    dense = models.Dense(
        768,
        DIMENSION,
        bias=False,
        activation_function=torch.nn.Identity(),
        module_input_name="token_embeddings",
        module_output_name="token_embeddings",
    )
    MultiVectorEncoder(modules=[encoder, dense], device="cpu").save_pretrained(str(paths["multi"]))
    return paths


def theirs(kind: str, path: Path) -> Any:
    """Return what encodes texts to rows with sentence-transformers."""
    from sentence_transformers import MultiVectorEncoder, SparseEncoder

    if kind == "sparse":
        sparse = SparseEncoder(str(path), device="cpu")
        return functools.partial(sparse.encode_document, show_progress_bar=False)
    multi = MultiVectorEncoder(str(path), device="cpu")
    return functools.partial(multi.encode_document, show_progress_bar=False)


def ours(kind: str, path: Path, dtype: str, threads: int) -> Any:
    model = fbg.load(path, dtype=dtype, num_threads=threads)
    if kind == "sparse":
        return functools.partial(model.encode_sparse, kind="document")
    return functools.partial(model.encode_multi, kind="document")


def dense_rows(kind: str, result: Any) -> np.ndarray[Any, Any]:
    if kind == "multi":
        return np.concatenate([np.asarray(rows) for rows in result])
    rows = result.to_dense()
    return rows if isinstance(rows, np.ndarray) else rows.numpy()


def verify(kind: str, a: Any, b: Any, texts: list[str]) -> None:
    x, y = (dense_rows(kind, call(texts)) for call in (a, b))
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    cosine = float(((x * y).sum(axis=1) / lengths).min())
    if x.shape != y.shape or cosine < AGREEMENT:
        raise SystemExit(f"{kind}: shapes {x.shape} and {y.shape}, least cosine {cosine}")


def sample(call: Any, texts: list[str]) -> float:
    return timing.elapsed(functools.partial(call, texts))


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    import torch

    paths = write_models(arguments.cache / "outputs")
    texts = corpus.mixed_texts(arguments.texts)
    rows = []
    for kind, path in paths.items():
        for threads in arguments.threads:
            torch.set_num_threads(threads)
            peer = theirs(kind, path)
            calls = {name: ours(kind, path, dtype, threads) for name, dtype in DTYPES.items()}
            verify(kind, calls["fbg-fp32"], peer, texts[:8])
            contestants = [
                timing.Contestant(name, sample=functools.partial(sample, call, texts))
                for name, call in {**calls, "sentence-transformers": peer}.items()
            ]
            results = timing.race(contestants, arguments.rounds)
            other = results["sentence-transformers"]
            cells = [f"{len(texts) / results[name].median:.1f}" for name in (*DTYPES, other.name)]
            cells += [f"{results[name].speedup_over(other):.2f}" for name in DTYPES]
            rows.append([kind, str(threads), *cells])
    headers = [
        "kind",
        "threads",
        *(f"{name}, texts/s" for name in (*DTYPES, "sentence-transformers")),
    ]
    print(timing.markdown([*headers, "fp32 ×", "int8 ×"], rows))


if __name__ == "__main__":
    main()
