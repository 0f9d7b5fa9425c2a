"""Cohere's `/v1/embed` and `/v2/embed`; its reranking is in rerank.py."""

from __future__ import annotations

import base64
import secrets
from typing import Any

from fbg.arrays import Floats
from fbg.server.endpoint import Route
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.inputs import embed, require_dimensions
from fbg.server.messages import CohereEmbedding, Modality
from fbg.server.models.served import Served
from fbg.server.routes.pictures import embed_modalities
from fbg.server.routes.results import Embedded
from fbg.server.state import Call
from fbg.tasks.embedding_precision import quantize_embeddings

# The prompts of a model, by the use that a request names; the first that the model has.
PROMPTS = {"search_query": ("query",), "search_document": ("document", "passage", "corpus")}


async def embed_v1(call: Call, message: CohereEmbedding) -> dict[str, Any]:
    """`POST /v1/embed`: an embedding of each text or picture."""
    rows, texts = await _rows(call, message)
    if message.embedding_types is None:
        return _answer(call, "1", texts, rows, "embeddings_floats")
    return _answer(call, "1", texts, _by_type(rows, message), "embeddings_by_type")


async def embed_v2(call: Call, message: CohereEmbedding) -> dict[str, Any]:
    """`POST /v2/embed`: an embedding of each text or picture, in each of the types asked for."""
    rows, texts = await _rows(call, message)
    return _answer(call, "2", texts, _by_type(rows, message), "embeddings_by_type")


async def _rows(call: Call, message: CohereEmbedding) -> tuple[Floats, list[str]]:
    """Return the embeddings, and the texts."""
    if (message.texts is None) == (message.images is None):
        text = "there must be either `texts` or `images`"
        raise RequestError(Fault.VALIDATION, text, "texts")
    served = await call.choose("encode" if message.images is None else "encode_image", message)
    require_dimensions(served, message.output_dimension)
    if message.images is not None:
        items = [Modality(image=image) for image in message.images]
        return (await embed_modalities(call, served, items, None))[
            :, : message.output_dimension
        ], []
    texts = message.texts or []
    options = {
        "truncate_dim": message.output_dimension,
        "prompt_name": _prompt(served, message.input_type),
        "truncation": message.truncate != "NONE",
    }
    return await embed(call, served, [*texts], "texts", options), texts


def _prompt(served: Served, use: str | None) -> str | None:
    prompts = served.model.prompts
    return next((name for name in PROMPTS.get(use or "", ()) if name in prompts), None)


def _by_type(rows: Floats, message: CohereEmbedding) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in message.embedding_types or ["float"]:
        if kind == "float":
            found[kind] = rows
        elif kind == "base64":
            whole = rows.astype("<f4", copy=False)
            found[kind] = [base64.b64encode(row.tobytes()).decode() for row in whole]
        else:
            found[kind] = quantize_embeddings(rows, kind)
    return found


def _answer(call: Call, version: str, texts: list[str], rows: Any, kind: str) -> dict[str, Any]:
    return {
        "id": secrets.token_hex(16),
        "embeddings": rows,
        "texts": texts,
        "meta": {
            "api_version": {"version": version},
            "billed_units": {"input_tokens": call.record.tokens},
        },
        "response_type": kind,
    }


ROUTES = [
    Route("/v1/embed", embed_v1, CohereEmbedding, "embed", Embedded, Dialect.COHERE, large=True),
    Route("/v2/embed", embed_v2, CohereEmbedding, "embed", Embedded, Dialect.COHERE, large=True),
]
