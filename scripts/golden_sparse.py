"""The golden arrays of sparse embeddings, by SparseEncoder of sentence-transformers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import transformers

from helpers import tiny_sparse, tiny_tasks

STRATEGIES, ACTIVATIONS = ("max", "sum"), ("relu", "log1p_relu")


def sparse_arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Return the vectors of tiny_tasks.TEXTS for each pooling strategy and activation, and those of
    queries and documents for models with a table for queries: (texts, vocabulary).
    """
    from sentence_transformers import SparseEncoder
    from sentence_transformers.sparse_encoder.modules import MLMTransformer, SpladePooling

    result = {}
    with tempfile.TemporaryDirectory() as directory:
        path = tiny_tasks.write_model(Path(directory), "bert-ForMaskedLM")
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=tiny_tasks.tokenizer("bert"),
            model_max_length=tiny_tasks.LENGTH,
            pad_token="[PAD]",
            mask_token="[MASK]",
        )
        tokenizer.save_pretrained(path)
        for strategy in STRATEGIES:
            for activation in ACTIVATIONS:
                pooling = SpladePooling(strategy, activation)
                model = SparseEncoder(modules=[MLMTransformer(str(path)), pooling], device="cpu")
                rows = model.encode(tiny_tasks.TEXTS, convert_to_sparse_tensor=False)
                result[f"{strategy}-{activation}"] = rows.numpy()
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_sparse.ROUTED:
            path = tiny_sparse.write_routed(Path(directory) / name, name)
            model = SparseEncoder(str(path), device="cpu")
            for kind, encode in (
                ("query", model.encode_query),
                ("document", model.encode_document),
            ):
                rows = encode(tiny_sparse.TEXTS, convert_to_sparse_tensor=False)
                result[f"{name}-{kind}"] = rows.numpy()
    return result
