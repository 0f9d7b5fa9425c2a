"""LanceDB: an embedding function that a table can store. Needs lancedb."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from lancedb.embeddings import TextEmbeddingFunction, register
from pydantic import PrivateAttr

from fbg.integrations.embedder import Embedder
from fbg.integrations.prompted import DOCUMENT_PROMPTS, QUERY_PROMPTS, encode_prompted

__all__ = ["FbgEmbeddings"]


@register("fbg")
class FbgEmbeddings(TextEmbeddingFunction):
    """Embeds a column of texts of a table, and the queries for it.

    path, dtype, num_threads: as for `fbg.load`; a table stores them. The prompts of the model for
    queries and documents are used if it has some.

    >>> function = FbgEmbeddings.create(path="path/to/model", dtype="int8")  # doctest: +SKIP
    >>> class Row(LanceModel):  # doctest: +SKIP
    ...     text: str = function.SourceField()
    ...     vector: Vector(function.ndims()) = function.VectorField()
    """

    path: str
    dtype: str | None = None
    num_threads: int = 1
    _embedder: Embedder = PrivateAttr()

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._embedder = Embedder(self.path, self.dtype, self.num_threads)

    def ndims(self) -> int:
        """Return the length of an embedding."""
        return self._embedder.model.embedding_dimension

    def generate_embeddings(
        self, texts: Iterable[str], *args: Any, **kwargs: Any
    ) -> list[np.ndarray[Any, Any]]:
        """Return an embedding for each document."""
        return list(encode_prompted(self._embedder.model, texts, DOCUMENT_PROMPTS))

    def compute_query_embeddings(
        self, query: str, *args: Any, **kwargs: Any
    ) -> list[np.ndarray[Any, Any]]:
        """Return a list with the embedding of a query."""
        return list(encode_prompted(self._embedder.model, [query], QUERY_PROMPTS))
