"""The application: routes, and the layers around them.

protocol -> tracing, if asked for -> CORS, if there are origins -> Guard -> Routes -> an endpoint
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Router
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from fbg.server.endpoint import Endpoint
from fbg.server.guard import Guard
from fbg.server.routes import openai, pipelines, rerank, status, tei, vectors
from fbg.server.state import State

POST_ROUTES = (
    *openai.ROUTES,
    *tei.ROUTES,
    *vectors.ROUTES,
    *rerank.ROUTES,
    *pipelines.ROUTES,
)

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
    app: ASGIApp = Guard(Routes(state), state)
    origins = state.settings.cors_origins
    if origins:
        app = CORSMiddleware(
            app, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    if state.tracing is not None:
        paths = {route.path for route in POST_ROUTES} | {path for path, _ in GET_ROUTES}
        app = state.tracing.wrap(app, paths)
    return app


class Routes:
    """Passes each request to its endpoint. Most take a look into a table; what else may come
    (models by name, unknown paths, other methods) is for Starlette's router, which tries route
    after route."""

    def __init__(self, state: State) -> None:
        posts = {route.path: Endpoint(state, route) for route in POST_ROUTES}
        routes: list[BaseRoute] = [
            StarletteRoute(path, endpoint=endpoint, methods=["POST"])
            for path, endpoint in posts.items()
        ]
        gets = [
            StarletteRoute(path, endpoint=_get(state, answer), methods=["GET"])
            for path, answer in GET_ROUTES
        ]
        self._table: dict[tuple[str, str], ASGIApp] = {
            ("POST", path): endpoint for path, endpoint in posts.items()
        }
        self._table |= {("GET", route.path): route.app for route in gets}
        self._router = Router([*routes, *gets], redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises HTTPException if it has no endpoint."""
        found = self._table.get((scope["method"], scope["path"])) if "method" in scope else None
        await (found or self._router)(scope, receive, send)


def _get(
    state: State, answer: Callable[[State, Request], Response]
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return answer(state, request)

    return endpoint
