"""Requests that arrived as a whole, answered without ASGI.

    protocol -> Direct.reply -> Endpoint.respond -> Reply

Most requests are small: their headers and their body come in one packet. Such a request needs no
waiting for a body and no watch over its client, since the protocol is told when the connection
ends. Everything else takes the way through ASGI: bodies in several parts, other methods and paths,
and all requests of a server with middleware (CORS, tracing).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from starlette.types import Scope

from fbg.server.endpoint import Endpoint
from fbg.server.errors import Fault, RequestError
from fbg.server.replies import Headers, Reply, log_access, received, refusal
from fbg.server.state import State

__all__ = ["Direct"]

log = logging.getLogger("fbg.server")

ABANDONED = 499


class Direct:
    """The POST routes of one process. endpoints: by their paths."""

    def __init__(self, state: State, endpoints: Mapping[str, Endpoint]) -> None:
        self._state = state
        self._endpoints = {path.encode(): endpoint for path, endpoint in endpoints.items()}

    def find(self, method: bytes, url: bytes) -> Endpoint | None:
        """Return the endpoint of a request; None if the application has to answer it."""
        return self._endpoints.get(url) if method == b"POST" else None

    async def reply(self, endpoint: Endpoint, headers: Headers, body: bytes) -> Reply:
        """Return the answer to a request, whatever happens in it."""
        begin, state = time.perf_counter(), self._state
        given, route = received(headers), endpoint.route
        scope: Scope = {
            "request_id": given.request_id.decode(),
            "method": "POST",
            "path": route.path,
            "dialect": route.dialect,
        }
        try:
            state.check_key(given.authorization)
            reply = await endpoint.respond(scope, body)
        except RequestError as error:
            reply = refusal(state, scope, error)
        except Exception:
            log.exception("a request failed")
            reply = refusal(state, scope, RequestError(Fault.BACKEND, "the request failed"))
        except asyncio.CancelledError:
            log_access(state, scope, ABANDONED, begin)
            raise
        reply.headers.append((b"x-request-id", given.request_id))
        if state.draining:
            reply.close()
        log_access(state, scope, reply.status, begin)
        return reply
