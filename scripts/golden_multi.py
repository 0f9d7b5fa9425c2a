"""The golden arrays of models with a vector for every token. For make_golden.py.

For each model of tests/helpers/tiny_multi.py: NAME-query and NAME-document, the vectors of all
texts end to end, NAME-query-tokens and NAME-document-tokens, how many each has; of those of
sentence-transformers also NAME-scores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from helpers import tiny_multi

ASKED = {"query": tiny_multi.QUERIES, "document": tiny_multi.DOCUMENTS}
Encode = Callable[[str, list[str]], list[Any]]  # kind and texts
Load = Callable[[str, Path], tuple[Encode, Any]]  # also what computes scores, if anything does


def _arrays(
    names: Iterable[str], load: Callable[[str, Path], tuple[Encode, Any]]
) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            path = tiny_multi.write_multi(Path(directory) / name, name)
            encode, similarity = load(name, path)
            encoded = {kind: encode(kind, texts) for kind, texts in ASKED.items()}
            for kind, rows in encoded.items():
                arrays[f"{name}-{kind}"] = np.concatenate([np.asarray(row) for row in rows])
                arrays[f"{name}-{kind}-tokens"] = np.array([len(row) for row in rows])
            if similarity is not None:
                arrays[f"{name}-scores"] = similarity(*encoded.values()).numpy()
    return arrays


def multi_arrays() -> dict[str, Any]:
    from sentence_transformers import MultiVectorEncoder

    def load(name: str, path: Path) -> tuple[Encode, Any]:
        model = MultiVectorEncoder(str(path), device="cpu")
        return lambda kind, texts: getattr(model, f"encode_{kind}")(texts), model.similarity

    return _arrays(tiny_multi.MODELS, load)


def pylate_arrays() -> dict[str, Any]:
    from pylate import models

    def load(name: str, path: Path) -> tuple[Encode, Any]:
        known = len(tiny_multi.tokenizer(tiny_multi.PYLATE[name].family, True).get_vocab())
        model = models.ColBERT(str(path), device="cpu")
        assert len(model.tokenizer) == known, "PyLate must not have to add prefixes"

        def encode(kind: str, texts: list[str]) -> list[Any]:
            # One at a time: of a batch, padding would count in queries that are not filled up.
            options = {"is_query": kind == "query", "show_progress_bar": False}
            return [model.encode([text], **options)[0] for text in texts]

        return encode, None

    return _arrays(tiny_multi.PYLATE, load)
