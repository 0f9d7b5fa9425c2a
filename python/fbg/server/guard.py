"""Around all routes: request ids, keys, errors as answers, the access log. An ASGI middleware."""

from __future__ import annotations

import asyncio
import logging
import time

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fbg.server.errors import Fault, RequestError
from fbg.server.replies import log_access, received, refusal, send_reply
from fbg.server.state import State

log = logging.getLogger("fbg.server")

ABANDONED = 499  # the client went away

# Paths that need no key: they say nothing about texts or models.
OPEN_PATHS = frozenset({"/", "/health", "/ping", "/metrics", "/v2/health/live", "/v2/health/ready"})


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
        given = received(scope["headers"])
        scope["content_length"] = given.content_length
        scope["request_id"] = given.request_id.decode()
        status, reply = 0, None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = [(b"x-request-id", given.request_id)]
                if state.draining:
                    more.append((b"connection", b"close"))
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            if scope["path"] not in OPEN_PATHS or scope["method"] == "POST":
                state.check_key(given.authorization)
            await self._app(scope, receive, answer)
        except RequestError as error:
            reply = refusal(state, scope, error)
        except (ConnectionError, asyncio.CancelledError) as error:
            log_access(state, scope, ABANDONED, begin)
            if isinstance(error, asyncio.CancelledError):
                raise
            return
        except HTTPException as error:
            reply = refusal(state, scope, _no_route(error))
            for name, value in (error.headers or {}).items():
                reply.headers.append((name.lower().encode(), value.encode()))
        except Exception:
            log.exception("a request failed")
            if not status:
                fault = RequestError(Fault.BACKEND, "the request failed")
                reply = refusal(state, scope, fault)
        if reply is not None:  # here, as the error keeps all that the request had
            await send_reply(answer, reply)
        log_access(state, scope, status, begin)


def _no_route(error: HTTPException) -> RequestError:
    if error.status_code == 405:
        return RequestError(Fault.METHOD, "this path does not take this method")
    return RequestError(Fault.UNKNOWN_PATH, "there is nothing at this path")
