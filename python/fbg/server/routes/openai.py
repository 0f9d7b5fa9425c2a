"""The routes of OpenAI's API: `/v1/embeddings` and `/v1/models`."""

from __future__ import annotations

import base64
import time
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response

from fbg.arrays import Floats
from fbg.server.endpoint import Page, Route
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.inputs import embed, require_dimensions
from fbg.server.messages import Input, Modality, OpenAIEmbedding
from fbg.server.models.served import unknown
from fbg.server.replies import encode_json
from fbg.server.routes.pictures import embed_modalities
from fbg.server.routes.results import Embeddings, ModelCard, ModelCards
from fbg.server.state import Call, State
from fbg.tasks.search import unit_rows

STARTED = int(time.time())


async def embeddings(call: Call, message: OpenAIEmbedding) -> dict[str, Any]:
    """`POST /v1/embeddings`: an embedding of each text, in OpenAI's form, or of each picture."""
    items = [item for item in message.input if isinstance(item, Modality)]
    served = await call.choose("encode_image" if items else "encode", message)
    widest = served.model.embedding_dimension
    require_dimensions(served, message.dimensions)
    shortened = message.dimensions not in (None, widest)
    options = {
        "truncate_dim": message.dimensions,
        # As OpenAI's own: a shortened embedding has length 1.
        "normalize_embeddings": True if shortened else None,
    }
    if items:
        if len(items) < len(message.input):
            text = "`input` must hold objects only, or none"
            raise RequestError(Fault.VALIDATION, text, "input")
        rows = await embed_modalities(call, served, items, None)
        if shortened:
            rows = unit_rows(rows[:, : message.dimensions])
    else:
        rows = await embed(call, served, cast(Input, message.input), "input", options)
    tokens = call.record.tokens
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": n, "embedding": _formatted(row, message)}
            for n, row in enumerate(rows)
        ],
        "model": served.name,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _formatted(row: Floats, message: OpenAIEmbedding) -> str | Floats:
    if message.encoding_format == "float":
        return row
    return base64.b64encode(row.astype("<f4", copy=False).tobytes()).decode()


def list_models(state: State, request: Request) -> Response:
    """`GET /v1/models` and `/v1/models/{name}`."""
    models = [
        {"id": name, "object": "model", "created": STARTED, "owned_by": "fbg"} | state.loaded(slot)
        for name, slot in state.models.slots.items()
    ]
    name = request.path_params.get("name")
    if name is None:
        body: Any = {"object": "list", "data": models}
    else:
        body = next((model for model in models if model["id"] == name), None)
        if body is None:
            raise unknown("model", name, state.models.names)
    return Response(encode_json(body), media_type="application/json")


ROUTES = [Route("/v1/embeddings", embeddings, OpenAIEmbedding, "embed", Embeddings, Dialect.OPENAI)]

PAGES = [
    Page("/v1/models", list_models, ModelCards),
    Page("/v1/models/{name:path}", list_models, ModelCard),
]
