"""Reranking: TEI's `/rerank`, and that of Cohere and Jina there and at `/v1/rerank`, `/v2/rerank`.

`texts` in the request makes it TEI's, `documents` the other. Models with a vector for every token
(ColBERT) rank, too: their scores are sums of dot products, and have no other form.
"""

from __future__ import annotations

import secrets
from typing import Any

from fbg.server.endpoint import Route
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.inputs import truncation
from fbg.server.messages import Document, Reranking
from fbg.server.models.served import Served
from fbg.server.routes.results import Ranked, Relevances
from fbg.server.state import Call


async def rerank(call: Call, message: Reranking) -> Any:
    """`POST /rerank`: the scores of texts for a query, the best one first."""
    if message.texts is not None and message.documents is None:
        return await _tei(call, message, message.texts)
    return await documents(call, message)


async def _tei(call: Call, message: Reranking, texts: list[str]) -> list[dict[str, Any]]:
    served = await call.choose("rerank", message)
    ranked = await _ranked(call, served, message, call.texts(texts, "texts"))
    results = []
    for item in ranked:
        result = {"index": item["corpus_id"], "score": item["score"]}
        if message.return_text:
            result["text"] = texts[item["corpus_id"]]
        results.append(result)
    return results


async def documents(call: Call, message: Reranking) -> dict[str, Any]:
    """`POST /v1/rerank` and `/v2/rerank`."""
    if message.documents is None:
        raise RequestError(Fault.VALIDATION, "`documents` is required", "documents")
    served = await call.choose("rerank", message)
    texts = [item.text if isinstance(item, Document) else item for item in message.documents]
    ranked = await _ranked(call, served, message, call.texts(texts, "documents"))
    results = []
    for item in ranked:
        result = {"index": item["corpus_id"], "relevance_score": item["score"]}
        if message.return_documents:
            result["document"] = {"text": texts[item["corpus_id"]]}
        results.append(result)
    return {
        "id": secrets.token_hex(16),
        "model": served.name,
        "results": results,
        "usage": {"prompt_tokens": call.record.tokens, "total_tokens": call.record.tokens},
        "meta": {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}},
    }


async def _ranked(call: Call, served: Served, message: Reranking, texts: list[str]) -> Any:
    call.texts([message.query], "query")
    if message.top_n is not None and message.top_n < 1:
        raise RequestError(Fault.VALIDATION, "`top_n` must be at least 1", "top_n")
    if "rank" in served.facts.tasks:
        cut = truncation(message)
        return await served.runs.rank(
            message.query, texts, call.record, top_k=message.top_n, truncation=cut
        )
    scores = "none" if message.raw_scores else "sigmoid"
    return await served.runs.rerank(
        message.query,
        texts,
        call.record,
        top_k=message.top_n,
        truncation=truncation(message),
        activation_fn=None if served.facts.head_kind == "JinaForRanking" else scores,
    )


ROUTES = [
    Route("/rerank", rerank, Reranking, "rerank", list[Ranked] | Relevances),
    Route("/v1/rerank", documents, Reranking, "rerank", Relevances, Dialect.COHERE),
    Route("/v2/rerank", documents, Reranking, "rerank", Relevances, Dialect.COHERE),
]
