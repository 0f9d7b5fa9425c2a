"""Answers that need nothing but the headers of a request: to /health, and to what is refused.

An overloaded server refuses most of the requests that arrive. The less time a refusal takes, the
more is left for the requests that are accepted, and /health has to be answered even then. So the
protocol asks this module as soon as it has the headers of a request: no task is started, no scope
is made and no body is read. The answers are made when the server starts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from prometheus_client import Counter

from fbg.locks import cached_property
from fbg.server.endpoint import Route
from fbg.server.errors import Fault, RequestError, error_body
from fbg.server.replies import REQUEST_ID, Headers, encode_json, new_request_id
from fbg.server.state import State

__all__ = ["Immediate"]


@dataclass(frozen=True)
class _Answer:
    """An answer without the id of its request. counts: the metrics that count it."""

    status: HTTPStatus
    headers: bytes = b""
    body: bytes = b""
    counts: tuple[Counter, ...] = ()

    @cached_property
    def head(self) -> bytes:
        return b"HTTP/1.1 %d %s\r\n%scontent-length: %d\r\n" % (
            self.status.value,
            self.status.phrase.encode(),
            self.headers,
            len(self.body),
        )


class Immediate:
    """The answers of one process. routes: those whose requests are refused while it is full.

    Keys are not checked, because these answers say nothing about texts or models.
    """

    def __init__(self, state: State, routes: Iterable[Route]) -> None:
        self._state = state
        healthy = _Answer(HTTPStatus.OK)
        self._healthy = {b"/health": healthy, b"/ping": healthy}
        self._refused = {route.path.encode(): _refusal(state, route) for route in routes}

    def answer(self, method: bytes, path: bytes, headers: Headers, more: Headers) -> bytes | None:
        """Return the answer to a request, or None if the application has to answer it.

        headers: of the request. more: headers that every answer has.
        """
        state = self._state
        if not state.healthy:
            return None
        if method == b"POST":
            found = self._refused.get(path) if state.full else None
        else:
            found = self._healthy.get(path) if method == b"GET" else None
        if found is None:
            return None
        begin = time.perf_counter()
        for counter in found.counts:
            counter.inc()
        number = _request_id(headers)
        lines = [found.head, b"x-request-id: ", number, b"\r\n"]
        for name, value in more:
            lines += name, b": ", value, b"\r\n"
        if state.access_log is not None:
            fields = {
                "request_id": number.decode(),
                "method": method.decode(),
                "path": path.decode(),
                "status": found.status.value,
                "ms": round(1000 * (time.perf_counter() - begin), 2),
            }
            state.access_log.add(fields)
        return b"".join((*lines, b"\r\n", found.body))


def _refusal(state: State, route: Route) -> _Answer:
    """Return the answer to a request of this route that is one too many."""
    error = RequestError(Fault.OVERLOADED, "too many requests at the same time")
    return _Answer(
        HTTPStatus(error.status(route.dialect)),
        b"content-type: application/json\r\nretry-after: 1\r\n",
        encode_json(error_body(route.dialect, error)),
        (
            state.metrics.requests.labels(route.method),
            state.metrics.failed.labels(error.fault.name.lower()),
        ),
    )


def _request_id(headers: Headers) -> bytes:
    """Return the id that a request brings with it, or a new one."""
    for name, value in headers:
        if name == b"x-request-id" and REQUEST_ID.fullmatch(value):
            return value
    return new_request_id()
