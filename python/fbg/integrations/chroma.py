"""Chroma: an embedding function that a collection can store. Needs chromadb."""

from __future__ import annotations

from typing import Any

import numpy as np
from chromadb.api.types import Documents, EmbeddingFunction, Embeddings
from chromadb.utils.embedding_functions import register_embedding_function

from fbg.integrations.embedder import Embedder
from fbg.integrations.prompted import DOCUMENT_PROMPTS, QUERY_PROMPTS, encode_prompted

__all__ = ["FbgEmbeddingFunction"]


@register_embedding_function
class FbgEmbeddingFunction(EmbeddingFunction[Documents]):
    """Embeds the documents and queries of a collection.

    path, dtype, num_threads: as for `fbg.load`; a collection stores them. The prompts of the model
    for queries and documents are used if it has some.

    >>> client.create_collection(
    ...     "texts", embedding_function=FbgEmbeddingFunction("path/to/model")
    ... )  # doctest: +SKIP
    """

    def __init__(self, path: str, dtype: str | None = None, num_threads: int = 1) -> None:
        self._config = {"path": path, "dtype": dtype, "num_threads": num_threads}
        self._embedder = Embedder(path, dtype, num_threads)

    def __call__(self, input: Documents) -> Embeddings:
        """Return an embedding for each document."""
        return list(encode_prompted(self._embedder.model, input, DOCUMENT_PROMPTS))

    def embed_query(self, input: Documents) -> Embeddings:
        """Return an embedding for each query."""
        rows = encode_prompted(self._embedder.model, input, QUERY_PROMPTS)
        return list(np.asarray(rows))

    @staticmethod
    def name() -> str:
        """Return the name under which a collection remembers this function."""
        return "fbg"

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the function."""
        return dict(self._config)

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> FbgEmbeddingFunction:
        """Return the function with the arguments that `get_config` gave."""
        return FbgEmbeddingFunction(**config)
