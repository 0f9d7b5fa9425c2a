"""The GET routes: health, metrics, the models, and the page."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

import fbg
from fbg.server.endpoint import Page
from fbg.server.errors import Fault, RequestError
from fbg.server.metrics import CONTENT_TYPE
from fbg.server.models.served import Served
from fbg.server.replies import encode_json
from fbg.server.state import State

# The page brings everything with it and talks to its own server only.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
)


def health(state: State, request: Request) -> Response:
    """`GET /health` and `/ping`: 200 while the server takes requests."""
    if not state.healthy:
        raise RequestError(Fault.UNHEALTHY, "the server is starting, stopping or has failed")
    return Response(status_code=200)


def metrics(state: State, request: Request) -> Response:
    """`GET /metrics`, in the text format of Prometheus."""
    return Response(state.metrics.text(), headers={"content-type": CONTENT_TYPE})


def info(state: State, request: Request) -> Response:
    """`GET /info`: the first model, in the words of TEI, and all of them."""
    if not state.ready:
        raise RequestError(Fault.UNHEALTHY, "the models are not ready yet")
    settings, served = state.settings, state.models.first
    body = {
        "model_id": served.name,
        "served_model_name": served.name,
        "model_sha": None,
        "model_dtype": served.facts.dtype,
        "model_type": _model_type(served),
        "max_concurrent_requests": settings.max_concurrent_requests,
        "max_input_length": served.facts.described["max_length"],
        "max_batch_tokens": settings.max_batch_tokens,
        "max_batch_requests": None,
        "max_client_batch_size": settings.max_client_batch_size,
        "auto_truncate": True,
        "tokenization_workers": 2,
        "version": fbg.__version__,
        "sha": None,
        "docker_label": None,
        "models": [
            {
                "name": each.name,
                "tasks": sorted(each.facts.tasks),
                "dtype": each.facts.dtype,
                "max_input_length": each.facts.described["max_length"],
                "embedding_dimension": each.facts.dimension,
            }
            | state.loaded(each.slot)
            for each in state.models
        ],
    }
    return Response(encode_json(body), media_type="application/json")


def _model_type(served: Served) -> dict[str, Any]:
    facts = served.facts
    if facts.head_kind != "ForSequenceClassification":
        return {"embedding": {"pooling": facts.described["pooling"]}}
    ids = {str(n): label for n, label in enumerate(facts.labels)}
    kind = "reranker" if len(ids) == 1 else "classifier"
    return {kind: {"id2label": ids, "label2id": {label: int(n) for n, label in ids.items()}}}


@cache
def _page() -> bytes:
    return resources.files("fbg.server.routes").joinpath("page.html").read_bytes()


def page(state: State, request: Request) -> Response:
    """`GET /`: a page to try the tasks on one's own text."""
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
    return Response(_page(), headers=headers)


PAGES = [
    Page("/", page, str, "text/html"),
    Page("/health", health, None, None),
    Page("/ping", health, None, None),
    Page("/info", info, dict[str, Any]),
    Page("/metrics", metrics, str, "text/plain"),
]
