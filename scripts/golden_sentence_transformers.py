"""The golden arrays of sentence-transformers. For make_golden.py.

The texts are those of tests/helpers/drop_ins.py; the names of the arrays are its CALLS, and those
of similarities and of pairs below.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sentence_transformers import CrossEncoder, SentenceTransformer

from helpers import drop_ins
from helpers.minilm import minilm_directory
from helpers.tiny_tasks import DOCUMENTS, PAIRS, QUERY, write_model


def drop_in_arrays() -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as name:
        directories = {
            "minilm": minilm_directory(),
            "tiny": drop_ins.write_prompted(Path(name) / "tiny"),
        }
        for kind, directory in directories.items():
            model = SentenceTransformer(str(directory), device="cpu")
            for call, (method, options) in drop_ins.CALLS.items():
                arrays[f"{kind}_{call}"] = getattr(model, method)(drop_ins.TEXTS, **options)
        rows = arrays["minilm_encode"]
        for function in drop_ins.SIMILARITIES:
            model.similarity_fn_name = function
            arrays[f"similarity_{function}"] = model.similarity(rows[:5], rows[5:]).numpy()
            pairwise = model.similarity_pairwise(rows[:5], rows[5:10])
            arrays[f"pairwise_{function}"] = pairwise.numpy()
        pairs = CrossEncoder(str(write_model(Path(name) / "pairs", "pairs")), device="cpu")
        arrays["predict"] = pairs.predict(PAIRS)
        ranked = pairs.rank(QUERY, DOCUMENTS)
        arrays["rank_ids"] = np.array([item["corpus_id"] for item in ranked])
        arrays["rank_scores"] = np.array([item["score"] for item in ranked], np.float32)
    return arrays
