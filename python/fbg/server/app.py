"""The application: routes, and the layers around them.

protocol -> tracing, if asked for -> CORS, if there are origins -> Guard -> Routes -> an endpoint
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Router
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from fbg.server.endpoint import JSON, Endpoint, Page
from fbg.server.guard import Guard
from fbg.server.replies import encode_json
from fbg.server.routes import (
    cohere,
    infer,
    openai,
    pictures,
    pipelines,
    rerank,
    status,
    tei,
    vectors,
)
from fbg.server.state import State

POST_ROUTES = (
    *openai.ROUTES,
    *tei.ROUTES,
    *vectors.ROUTES,
    *pictures.ROUTES,
    *rerank.ROUTES,
    *cohere.ROUTES,
    *pipelines.ROUTES,
    *infer.ROUTES,
)


def describe(state: State, request: Request) -> Response:
    """`GET /openapi.json`: all routes, their messages and results, as an OpenAPI document."""
    return Response(openapi(), media_type=JSON)


PAGES = (
    *status.PAGES,
    *openai.PAGES,
    *infer.PAGES,
    Page("/openapi.json", describe, dict[str, Any]),
)


@cache
def openapi() -> bytes:
    """Return the document at /openapi.json."""
    from fbg.server.routes.openapi import document  # here: most servers are never asked for it

    return encode_json(document(POST_ROUTES, PAGES))


def build_app(state: State) -> ASGIApp:
    """Return the ASGI application of a server."""
    app: ASGIApp = Guard(Routes(state), state)
    origins = state.settings.cors_origins
    if origins:
        app = CORSMiddleware(
            app, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    if state.tracing is not None:
        paths = {route.path for route in POST_ROUTES} | {page.path for page in PAGES}
        app = state.tracing.wrap(app, paths)
    return app


class Routes:
    """Passes each request to its endpoint. Most take a look into a table; what else may come
    (models by name, unknown paths, other methods) is for Starlette's router, which tries route
    after route."""

    def __init__(self, state: State) -> None:
        posts = {route.path: Endpoint(state, route) for route in POST_ROUTES}
        routes = [
            StarletteRoute(path, endpoint=endpoint, methods=["POST"])
            for path, endpoint in posts.items()
        ]
        gets = [
            StarletteRoute(page.path, endpoint=_get(state, page.answer), methods=["GET"])
            for page in PAGES
        ]
        self._table: dict[tuple[str, str], ASGIApp] = {
            ("POST", path): endpoint for path, endpoint in posts.items()
        }
        self._table |= {
            ("GET", page.path): route.app for page, route in zip(PAGES, gets, strict=True)
        }
        self._table = {at: each for at, each in self._table.items() if "{" not in at[1]}
        self._routes = [*routes, *gets]
        self._router = Router(self._routes, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises HTTPException if it has no endpoint."""
        method, path = scope["method"], scope["path"]
        endpoint = self._table.get((method, path))
        if endpoint is None:  # the router takes the parameters from a path
            found = [r for r in self._routes if r.matches(scope)[0] is not Match.NONE]
            methods = {each for route in found for each in route.methods or ()}
            if found and method not in methods:
                raise HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})
            endpoint = self._router
        await endpoint(scope, receive, send)


def _get(
    state: State, answer: Callable[[State, Request], Response | Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        found = answer(state, request)
        return found if isinstance(found, Response) else await found

    return endpoint
