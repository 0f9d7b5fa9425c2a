"""LangChain: `Embeddings`, and a reranker as `BaseDocumentCompressor`. Needs langchain-core."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field, field_validator

from fbg.integrations.prompted import (
    DOCUMENT_PROMPTS,
    QUERY_PROMPTS,
    encode_prompted,
    require_model,
)
from fbg.model.model import Model

__all__ = ["FbgEmbeddings", "FbgReranker"]


class FbgEmbeddings(Embeddings):
    """Embeddings for vector stores of LangChain.

    model: from `fbg.load`. Its prompts for queries and documents are used if it has some.
    options: of `Model.encode`.

    >>> store = InMemoryVectorStore(FbgEmbeddings(fbg.load("path/to/model")))  # doctest: +SKIP
    """

    def __init__(self, model: Model, **options: Any) -> None:
        self.model = require_model("FbgEmbeddings", model)
        signature(Model.encode).bind_partial(**options)  # raises TypeError for others
        self._options = options

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return an embedding for each text."""
        rows = encode_prompted(self.model, texts, DOCUMENT_PROMPTS, **self._options)
        return rows.tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        """Return the embedding of a query."""
        rows = encode_prompted(self.model, [text], QUERY_PROMPTS, **self._options)
        return rows[0].tolist()  # type: ignore[no-any-return]


class FbgReranker(BaseDocumentCompressor):
    """Keeps the documents that answer a query best, in that order, with their scores.

    model: a cross-encoder with one label, from `fbg.load`. top_n: how many documents to keep; None:
    all. Scores are put into metadata["relevance_score"].

    >>> FbgReranker(model=model, top_n=3).compress_documents(found, "a question")  # doctest: +SKIP
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: Any
    top_n: int | None = Field(default=None, ge=1)

    @field_validator("model")
    @classmethod
    def _check_model(cls, value: object) -> Model:
        return require_model("FbgReranker", value)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,
    ) -> Sequence[Document]:
        """Return the best documents, best first."""
        texts = [document.page_content for document in documents]
        return [
            documents[r["corpus_id"]].model_copy(
                update={
                    "metadata": {
                        **documents[r["corpus_id"]].metadata,
                        "relevance_score": r["score"],
                    }
                }
            )
            for r in self.model.rerank(query, texts, top_k=self.top_n)
        ]
