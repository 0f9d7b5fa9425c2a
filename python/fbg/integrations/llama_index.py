"""LlamaIndex: an embedding model and a reranking postprocessor. Needs llama-index-core."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from fbg.integrations.prompted import (
    DOCUMENT_PROMPTS,
    QUERY_PROMPTS,
    encode_prompted,
    require_model,
)
from fbg.model.model import Model

__all__ = ["FbgEmbedding", "FbgRerank"]


class FbgEmbedding(BaseEmbedding):
    """Embeddings for the indices of LlamaIndex.

    model: from `fbg.load`. Its prompts for queries and documents are used if it has some.
    fields: of BaseEmbedding, such as embed_batch_size.

    >>> Settings.embed_model = FbgEmbedding(fbg.load("path/to/model"))  # doctest: +SKIP
    """

    _model: Model = PrivateAttr()

    def __init__(self, model: Model, **fields: Any) -> None:
        super().__init__(**{"model_name": require_model("FbgEmbedding", model).name, **fields})
        self._model = model

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores the kind of an object."""
        return "FbgEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        rows = encode_prompted(self._model, [query], QUERY_PROMPTS)
        return rows[0].tolist()  # type: ignore[no-any-return]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows = encode_prompted(self._model, texts, DOCUMENT_PROMPTS)
        return rows.tolist()  # type: ignore[no-any-return]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


class FbgRerank(BaseNodePostprocessor):
    """Keeps the nodes that answer a query best, in that order, with the scores of the model.

    model: a cross-encoder with one label, from `fbg.load`. top_n: how many nodes to keep.

    >>> index.as_retriever(node_postprocessors=[FbgRerank(model)])  # doctest: +SKIP
    """

    top_n: int = Field(default=5, ge=1)
    _model: Model = PrivateAttr()

    def __init__(self, model: Model, **fields: Any) -> None:
        require_model("FbgRerank", model)
        super().__init__(**fields)
        self._model = model

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex stores the kind of an object."""
        return "FbgRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ValueError("FbgRerank: nodes can be ranked only for a query")
        texts = [node.node.get_content(metadata_mode=MetadataMode.EMBED) for node in nodes]
        ranked = self._model.rerank(query_bundle.query_str, texts, top_k=self.top_n)
        return [NodeWithScore(node=nodes[r["corpus_id"]].node, score=r["score"]) for r in ranked]
