"""The golden arrays of the kinds of outputs: tests/data/tiny_outputs.npz. Called by make_golden.py.

Needs model2vec beside the packages of make_golden.py.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer

from helpers import tiny_outputs
from helpers.tiny_outputs import LONG, TEXTS, UNKNOWN

Arrays = dict[str, np.ndarray[Any, Any]]


def output_arrays() -> Arrays:
    return _static()


def _static() -> Arrays:
    """Embeddings of TEXTS, UNKNOWN and LONG; model2vec has rules of its own."""
    from model2vec import StaticModel

    result: Arrays = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_outputs.STATIC:
            path = tiny_outputs.write_static(Path(directory) / name, name)
            if (path / "modules.json").is_file():
                model: Any = SentenceTransformer(str(path), device="cpu")
            else:
                model = StaticModel.from_pretrained(path)
            rows = model.encode([*TEXTS, *UNKNOWN, LONG])
            result[f"static-{name}"] = rows.astype(np.float32)
    return result
