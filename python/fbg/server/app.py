"""The application: routes, and what stands around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Router
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp

from fbg.server.endpoint import Endpoint
from fbg.server.guard import Guard
from fbg.server.routes import openai, pipelines, rerank, status, tei
from fbg.server.state import State

__all__ = ["build_app"]

POST_ROUTES = (*openai.ROUTES, *tei.ROUTES, *rerank.ROUTES, *pipelines.ROUTES)

GET_ROUTES: tuple[tuple[str, Callable[[State, Request], Response]], ...] = (
    ("/", status.page),
    ("/health", status.health),
    ("/ping", status.health),
    ("/info", status.info),
    ("/metrics", status.metrics),
    ("/v1/models", openai.list_models),
    ("/v1/models/{name:path}", openai.list_models),
)


def build_app(state: State) -> ASGIApp:
    """Return the ASGI application of a server."""
    routes: list[BaseRoute] = [
        StarletteRoute(route.path, endpoint=Endpoint(state, route), methods=["POST"])
        for route in POST_ROUTES
    ]
    routes += [
        StarletteRoute(path, endpoint=_get(state, answer), methods=["GET"])
        for path, answer in GET_ROUTES
    ]
    app: ASGIApp = Guard(Router(routes, redirect_slashes=False), state)
    origins = state.settings.cors_origins
    if origins:
        app = CORSMiddleware(
            app, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    return app


def _get(
    state: State, answer: Callable[[State, Request], Response]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return answer(state, request)

    return endpoint
