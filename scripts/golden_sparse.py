"""The golden arrays of sparse embeddings, by SparseEncoder of sentence-transformers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import transformers

from helpers import tiny_tasks

STRATEGIES, ACTIVATIONS = ("max", "sum"), ("relu", "log1p_relu")


def sparse_arrays() -> dict[str, np.ndarray[Any, Any]]:
    """Of tiny_tasks.TEXTS, for each pooling strategy and activation: (texts, vocabulary)."""
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
    return result
