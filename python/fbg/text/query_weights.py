"""A weight for each token of a query, for sparse models whose queries pass no encoder.

The module SparseStaticEmbedding of sentence-transformers, as OpenSearch's models for documents have
it: the sparse embedding of a query is the weight of each of its tokens, such as an inverse document
frequency (Geng et al., 2024, arXiv:2411.04403).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.checkpoint import FORMATS, Checkpoint
from fbg.checkpoints.files import read_optional
from fbg.errors import ModelError
from fbg.networks.unread import require_known_settings
from fbg.text.tokenization import TextTokenizer
from fbg.text.tokenizer_settings import TOKENIZER_CONFIG, TOKENIZER_FILES

TOKENIZER = "tokenizer.json"
LONGEST = 1 << 16  # tokens of a query, if the files set no limit


@dataclass(frozen=True)
class QueryWeights:
    """weights: (vocabulary,). tokenizer: for queries, which get no special tokens."""

    weights: npt.NDArray[np.float32]
    tokenizer: TextTokenizer


def query_files(folder: str) -> list[str]:
    """Return the files that `read_query_weights` may read."""
    names = ("config.json", *TOKENIZER_FILES, *(form.single for form in FORMATS))
    return [f"{folder}/{name}" for name in names]


def read_query_weights(folder: Path, vocabulary: int) -> QueryWeights:
    """Read the folder of the module; raises ModelError.

    vocabulary: the tokens for which documents have weights.
    """
    settings = read_optional(folder / "config.json")
    if settings.get("path") is not None:
        raise settings.error("path", "null, as weights are read from the folder of the module")
    require_known_settings(settings, "SparseStaticEmbedding")
    if not (folder / TOKENIZER).is_file():
        raise ModelError(f"{folder / TOKENIZER}: no such file, which queries are split by")
    checkpoint = Checkpoint(folder, "weight")
    weights = checkpoint.tensor("weight", vocabulary)
    checkpoint.require_all_read()
    longest = read_model_max_length(folder / TOKENIZER_CONFIG)
    longest = LONGEST if longest is None else min(longest, LONGEST)
    return QueryWeights(weights, TextTokenizer(folder / TOKENIZER, longest, special_tokens=False))


def read_model_max_length(path: Path) -> int | None:
    """Return the length of texts in tokenizer_config.json, None if there is none."""
    settings = read_optional(path)
    value = settings.get("model_max_length")  # transformers write 1e30 for "no limit"
    if value is None:
        return None
    if type(value) not in (int, float) or not 1 <= value <= sys.float_info.max:
        raise settings.error("model_max_length", "a number of at least 1")
    return int(value)
