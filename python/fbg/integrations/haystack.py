"""Haystack: components that embed texts and documents and rank documents. Needs haystack-ai."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from fbg.integrations.embedder import Embedder
from fbg.integrations.prompted import DOCUMENT_PROMPTS, QUERY_PROMPTS, encode_prompted

__all__ = ["FbgDocumentEmbedder", "FbgRanker", "FbgTextEmbedder"]


class _Component:
    """A model that is loaded by `warm_up`, or when it is first used.

    path, dtype, num_threads: as for `fbg.load`; a pipeline stores them.
    """

    def __init__(self, path: str, dtype: str | None = None, num_threads: int = 1) -> None:
        self.path = path
        self.dtype = dtype
        self.num_threads = num_threads
        self._embedder = Embedder(path, dtype, num_threads)

    def warm_up(self) -> None:
        """Load the model."""
        _ = self._embedder.model

    def to_dict(self) -> dict[str, Any]:
        """Return what a stored pipeline keeps of the component."""
        return default_to_dict(self, path=self.path, dtype=self.dtype, num_threads=self.num_threads)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """Return the component that `to_dict` described."""
        return default_from_dict(cls, data)


@component
class FbgTextEmbedder(_Component):
    """Embeds a query, with the prompt of the model for queries if there is one."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Return {"embedding": …}."""
        rows = encode_prompted(self._embedder.model, [text], QUERY_PROMPTS)
        return {"embedding": rows[0].tolist()}


@component
class FbgDocumentEmbedder(_Component):
    """Embeds the contents of documents, with the prompt for documents if there is one."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Return {"documents": …}, copies with embeddings."""
        texts = [document.content or "" for document in documents]
        rows = encode_prompted(self._embedder.model, texts, DOCUMENT_PROMPTS)
        found = zip(documents, rows, strict=True)
        return {"documents": [replace(document, embedding=row.tolist()) for document, row in found]}


@component
class FbgRanker(_Component):
    """Orders documents by how well they answer a query; the model is a cross-encoder."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], top_k: int = 10) -> dict[str, Any]:
        """Return {"documents": …}, the best `top_k` with their scores, best first."""
        texts = [document.content or "" for document in documents]
        ranked = self._embedder.model.rerank(query, texts, top_k=top_k)
        return {"documents": [replace(documents[r["corpus_id"]], score=r["score"]) for r in ranked]}
