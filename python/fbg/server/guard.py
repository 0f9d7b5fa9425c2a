"""Around all routes: request ids, keys, errors as answers, the access log. An ASGI middleware."""

from __future__ import annotations

import logging
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fbg.server.endpoint import encode_json, send_json
from fbg.server.errors import Dialect, Fault, RequestError, error_body
from fbg.server.immediate import REQUEST_ID, new_request_id
from fbg.server.state import State

__all__ = ["Guard"]

log = logging.getLogger("fbg.server")

# What needs no key: they say nothing about texts or models.
OPEN_PATHS = frozenset({"/", "/health", "/ping", "/metrics"})


class Guard:
    """Wraps the routes of a server."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app = app
        self._state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens in it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, state = time.perf_counter(), self._state
        scope["app"] = self  # lets the router raise instead of answering in plain text
        authorization, request_id = None, b""
        for name, value in scope["headers"]:
            if name == b"authorization":
                authorization = value
            elif name == b"x-request-id" and not request_id and REQUEST_ID.fullmatch(value):
                request_id = value
            elif name == b"content-length" and value.isdigit():
                scope["content_length"] = int(value)
        request_id = request_id or new_request_id()
        scope["request_id"] = request_id.decode()
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id)]
                if state.draining:
                    message["headers"].append((b"connection", b"close"))
            await send(message)

        try:
            if scope["path"] not in OPEN_PATHS or scope["method"] == "POST":
                state.check_key(authorization)
            await self._app(scope, receive, answer)
        except RequestError as error:
            await self._refuse(scope, answer, error)
        except ConnectionError:
            scope["abandoned"] = True
        except HTTPException as error:
            await self._refuse(scope, answer, _no_route(error))
        except Exception:
            log.exception("a request failed")
            if not status:
                fault = RequestError(Fault.BACKEND, "the request failed")
                await self._refuse(scope, answer, fault)
        if state.access_log is not None:
            fields = _access_fields(scope, status, time.perf_counter() - begin)
            state.access_log.add(fields)

    async def _refuse(self, scope: Scope, send: Send, error: RequestError) -> None:
        dialect = scope.get("dialect") or _dialect_of(scope["path"])
        status = error.status(dialect)
        self._state.metrics.failed.labels(error.fault.name.lower()).inc()
        headers = []
        if error.fault is Fault.OVERLOADED:
            headers.append((b"retry-after", b"1"))
        elif error.fault is Fault.UNAUTHORIZED:
            headers.append((b"www-authenticate", b"Bearer"))
        elif error.fault in (Fault.TOO_LARGE, Fault.SLOW):
            headers.append((b"connection", b"close"))  # the rest of the body is not read
        await send_json(send, status, encode_json(error_body(dialect, error)), headers)


def _no_route(error: HTTPException) -> RequestError:
    if error.status_code == 405:
        return RequestError(Fault.METHOD, "this path does not take this method")
    return RequestError(Fault.UNKNOWN_PATH, "there is nothing at this path")


def _dialect_of(path: str) -> Dialect:
    if path in ("/v1/rerank", "/v2/rerank"):
        return Dialect.COHERE
    return Dialect.OPENAI if path.startswith("/v1/") else Dialect.TEI


def _access_fields(scope: Scope, status: int, seconds: float) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "request_id": scope["request_id"],
        "method": scope["method"],
        "path": scope["path"],
        "status": 499 if scope.get("abandoned") else status,
        "ms": round(1000 * seconds, 2),
    }
    if "record" in scope:
        fields["tokens"] = scope["record"].tokens
    return fields
