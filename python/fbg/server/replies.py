"""Parts of every request and every answer: an id, a key, a line of the log."""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import numpy as np
from starlette.types import Scope, Send

from fbg.server.errors import Dialect, Fault, RequestError, dialect_of, error_body
from fbg.server.state import State

REQUEST_ID = re.compile(rb"[\x21-\x7e]{1,128}")
JSON = b"application/json"
BYTES = b"application/octet-stream"
CLOSE = (b"connection", b"close")

Headers = Iterable[tuple[bytes, bytes]]


def _plain(value: Any) -> Any:
    """Return an array as JSON has it: as a list."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"an answer holds a {type(value).__name__}")


encode_json = msgspec.json.Encoder(enc_hook=_plain).encode


class Received(NamedTuple):
    """The headers of a request that the server reads. content_length: 0 if it is not given.
    waits: whether the client sends the body only after `100 Continue`."""

    authorization: bytes | None
    request_id: bytes
    content_length: int
    waits: bool


class Packed(NamedTuple):
    """An answer of JSON and bytes behind it."""

    head: Any
    parts: list[memoryview]


class Reply(NamedTuple):
    """An answer. headers: those besides its type and its length."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes | bytearray
    media_type: bytes = JSON

    def close(self) -> None:
        """Say that the connection ends with this answer."""
        if CLOSE not in self.headers:
            self.headers.append(CLOSE)


def received(headers: Headers) -> Received:
    """Read the headers of a request; the request gets an id if it brings none."""
    authorization, request_id, content_length, waits = None, b"", 0, False
    for name, value in headers:
        if name == b"authorization":
            authorization = value
        elif name == b"x-request-id" and not request_id and REQUEST_ID.fullmatch(value):
            request_id = value
        elif name == b"content-length" and value.isdigit():
            content_length = int(value)
        elif name == b"expect":
            waits = True
    return Received(authorization, request_id or _new_request_id(), content_length, waits)


def _new_request_id() -> bytes:
    """Return 16 hexadecimal digits. They tell requests apart in logs and protect nothing."""
    return b"%016x" % random.getrandbits(64)


def refusal(state: State, scope: Scope, error: RequestError) -> Reply:
    """Return the answer to a request that ends with an error, and count it.

    scope: that of ASGI, or a mapping with "path".
    """
    dialect = _dialect(state, scope["path"])
    state.metrics.failed.labels(error.fault.name.lower()).inc()
    reply = Reply(error.status(dialect), [], encode_json(error_body(dialect, error)))
    if error.fault is Fault.OVERLOADED:
        reply.headers.append((b"retry-after", b"1"))
    elif error.fault is Fault.UNAUTHORIZED:
        reply.headers.append((b"www-authenticate", b"Bearer"))
    elif error.fault in (Fault.TOO_LARGE, Fault.SLOW):
        reply.close()  # the rest of the body is not read
    return reply


def _dialect(state: State, path: str) -> Dialect:
    """Return the dialect of the route at a path; that of any other path follows from its prefix."""
    return state.dialects.get(path) or dialect_of(path)


def log_access(state: State, scope: Scope, status: int, begin: float) -> None:
    """Log a request that ends now. begin: by time.perf_counter. status: 499 if its client left."""
    if state.access_log is None:
        return
    fields = {
        "request_id": scope["request_id"],
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round(1000 * (time.perf_counter() - begin), 2),
    }
    if "record" in scope:
        fields["tokens"] = scope["record"].tokens
    state.access_log.add(fields)


async def send_reply(send: Send, reply: Reply) -> None:
    """Send an answer through ASGI; returns when the client has read it."""
    about = [(b"content-type", reply.media_type), (b"content-length", b"%d" % len(reply.body))]
    headers = [*about, *reply.headers]
    with contextlib.suppress(ConnectionError):
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})
