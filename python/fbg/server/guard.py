"""Around all routes: request ids, keys, errors as answers, the access log. An ASGI middleware.

A request lasts until the client has read its answer, and ends when the client goes away: its task
is cancelled by the connection (connection.py).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fbg.server.errors import Fault, RequestError
from fbg.server.replies import CLOSE, Reply, log_access, received, refusal, send_reply
from fbg.server.state import State

log = logging.getLogger("fbg.server")

ABANDONED = 499  # the client went away

# Bytes of an answer that a client must read before it gets more, in ANSWER_SECONDS.
PIECE = 8 << 20

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
        scope["task"] = asyncio.current_task()
        status, reply, waits = 0, None, given.waits

        async def take() -> Message:
            nonlocal waits
            waits = False
            return await receive()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] != "http.response.start":
                await _send_body(send, message)
                return
            status = message["status"]
            headers = [*message.get("headers", ()), (b"x-request-id", given.request_id)]
            # If the client still waits for `100 Continue`, only it knows whether the body comes.
            if (state.draining or waits) and CLOSE not in headers:
                headers.append(CLOSE)
            message["headers"] = headers
            await send(message)

        try:
            if scope["path"] not in OPEN_PATHS or scope["method"] == "POST":
                state.check_key(given.authorization)
            await self._app(scope, take if waits else receive, answer)
        except (Exception, asyncio.CancelledError) as error:
            reply = self._reply(scope, error, bool(status))
        if "gone" in scope:
            status = ABANDONED
        elif reply is not None:  # here, as the error keeps all that the request had
            try:
                await send_reply(answer, reply)
            except asyncio.CancelledError:
                if "gone" not in scope:
                    raise
                status = ABANDONED
        log_access(state, scope, status, begin)

    def _reply(self, scope: Scope, error: BaseException, begun: bool) -> Reply | None:
        """Return the answer to a request that failed; None if it has begun, or for nobody."""
        headers: Mapping[str, str] = {}
        if isinstance(error, ConnectionError):
            scope["gone"] = True
        if "gone" in scope:
            return None
        if isinstance(error, asyncio.CancelledError):  # by the end of the process
            if begun:
                raise error
            error = RequestError(Fault.UNHEALTHY, "the server is stopping")
        elif isinstance(error, HTTPException):
            headers, error = error.headers or {}, _no_route(error)
        elif not isinstance(error, RequestError):
            log.error("a request failed", exc_info=error)
            if begun:
                return None
            error = RequestError(Fault.BACKEND, "the request failed")
        reply = refusal(self._state, scope, error)
        for name, value in headers.items():
            reply.headers.append((name.lower().encode(), value.encode()))
        return reply


async def _send_body(send: Send, message: Message) -> None:
    """Send a part of an answer; returns when the client has read so much that the system has it."""
    body, more = memoryview(message.get("body", b"")), message.get("more_body", False)
    for begin in range(0, len(body), PIECE):
        piece = body[begin : begin + PIECE]
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": more})  # drains


def _no_route(error: HTTPException) -> RequestError:
    if error.status_code == 405:
        return RequestError(Fault.METHOD, "this path does not take this method")
    return RequestError(Fault.UNKNOWN_PATH, "there is nothing at this path")
