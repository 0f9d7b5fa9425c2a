"""The golden arrays of models with a vector for every token: tests/data/tiny_multi.npz.

Needs, in an environment of its own, sentence-transformers 6.2 or later:

    pip install torch==2.13.0 sentence-transformers ml_dtypes
    python scripts/golden_multi.py

For each model of tests/helpers/tiny_multi.py: NAME-query and NAME-document, the vectors of all
texts end to end, NAME-query-tokens and NAME-document-tokens, how many each has, and NAME-scores.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import MultiVectorEncoder

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from helpers import tiny_multi  # noqa: E402


def main() -> None:
    torch.set_num_threads(1)
    arrays: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_multi.MODELS:
            path = tiny_multi.write_multi(Path(directory) / name, name)
            model = MultiVectorEncoder(str(path), device="cpu")
            queries = model.encode_query(tiny_multi.QUERIES)
            documents = model.encode_document(tiny_multi.DOCUMENTS)
            for kind, rows in (("query", queries), ("document", documents)):
                arrays[f"{name}-{kind}"] = np.concatenate([np.asarray(row) for row in rows])
                arrays[f"{name}-{kind}-tokens"] = np.array([len(row) for row in rows])
            arrays[f"{name}-scores"] = model.similarity(queries, documents).numpy()
    path = ROOT / "tests" / "data" / "tiny_multi.npz"
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
