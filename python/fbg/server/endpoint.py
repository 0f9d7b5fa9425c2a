"""One POST route: read the body, check it, compute, answer. An ASGI application.

    limits -> body -> message -> function of the route -> JSON, with the times in the headers

A client that goes away cancels its request, and with it its work in the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fbg.errors import ClosedError, ModelError, OverloadedError
from fbg.runtime.event_loop import in_thread
from fbg.server.answers import json_of
from fbg.server.bodies import decode, not_json, require_lists_within, size_of
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.keys import fault_of_library
from fbg.server.replies import BYTES, Packed, Reply, encode_json, send_reply
from fbg.server.state import Call, State

log = logging.getLogger("fbg.server")

JSON = "application/json"
JSON_LENGTH = b"inference-header-content-length"
M = TypeVar("M")

Answer = Callable[[Call, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """path, answer: the function of the route, which returns an argument for answers.json_of.
    message: the type of its body. metric: its name in metrics. result: the type of its answer.
    bodies: the types of its body where there are several. large: whether bodies hold tensors or
    pictures, which are larger than texts. binary: whether bytes may follow the JSON."""

    path: str
    answer: Answer
    message: Any
    metric: str
    result: Any = Any
    dialect: Dialect = Dialect.TEI
    bodies: tuple[Any, ...] = ()
    large: bool = False
    binary: bool = False


@dataclass(frozen=True)
class Page:
    """path, answer: the function of a GET route. result: the type of its answer; media_type: None
    for an answer without a body."""

    path: str
    answer: Callable[[State, Request], Response | Awaitable[Response]]
    result: Any
    media_type: str | None = JSON


class Endpoint:
    """Answers the requests of one route."""

    def __init__(self, state: State, route: Route) -> None:
        self.route = route
        self._state = state
        self._requests = state.metrics.requests.labels(route.metric)
        state.dialects[route.path] = route.dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; RequestError says what is wrong with it (guard.py answers that).

        A request counts until the client has read its answer.
        """
        state, begin = self._state, time.perf_counter()
        self._requests.inc()
        with state.request() as call:
            call.parameters = scope.get("path_params", {})
            call.headers = scope["headers"]
            await state.admission.wait()
            result = await self.compute(call, await self._body(scope, receive, call))
            seconds = time.perf_counter() - begin
            state.metrics.success(self.route.metric, seconds, call.record)
            scope["record"] = call.record
            headers = _time_headers(call, seconds) if self.route.dialect is Dialect.TEI else []
            headers += [(b"warning", b'299 - "%s"' % text) for text in call.warnings]
            if call.json_length is not None:
                headers.append((JSON_LENGTH, b"%d" % call.json_length))
            reply = Reply(200, headers, result)
            if call.json_length is not None:
                reply = reply._replace(media_type=BYTES)
            del result
            await send_reply(send, reply)

    async def compute(self, call: Call, body: bytes) -> bytes | bytearray:
        """Return the body of the answer to a body; raises RequestError."""
        text = self._without_binary(call, body) if self.route.binary else body
        message = await read_message(call, text, self.route.message)
        # Tensors and inner messages are read from the body itself.
        stays = self.route.binary or self.route.message is msgspec.Raw
        call.keep(len(body) if stays else 0)
        del body, text
        return await self._answer(call, message)

    @property
    def _most(self) -> int:
        settings = self._state.settings
        return settings.max_body_of_tensors if self.route.large else settings.max_body

    def _limit(self, size: int) -> None:
        if size > self._most:
            option = "max-tensor-body" if self.route.large else "max-body"
            text = f"the body must have at most {self._most} bytes (fbg serve --{option})"
            raise RequestError(Fault.TOO_LARGE, text)

    async def _body(self, scope: Scope, receive: Receive, call: Call) -> bytes:
        self._limit(scope.get("content_length", 0))
        with arriving_within(self._state.settings.body_seconds):
            message = await _next(receive)
            body = message.get("body", b"")
            call.hold(len(body))
            if message.get("more_body"):
                body = bytearray(body)
                while message.get("more_body") and len(body) <= self._most:
                    message = await _next(receive)
                    body += message.get("body", b"")
                    call.hold(len(body))
        self._limit(len(body))
        return bytes(body)

    def _without_binary(self, call: Call, body: bytes) -> bytes:
        """Return the JSON of a body, and leave the bytes behind it in `call.binary`."""
        given = dict(call.headers).get(JSON_LENGTH)
        if given is None:
            return body
        if not (given.isdigit() and len(given) < 12 and int(given) <= len(body)):
            text = f"Inference-Header-Content-Length must be in [0, {len(body)}]"
            raise RequestError(Fault.MALFORMED, text)
        call.binary = memoryview(body)[int(given) :]
        return body[: int(given)]

    async def _answer(self, call: Call, message: Any) -> bytes | bytearray:
        call.message = message
        try:
            found = await self.route.answer(call, message)
            if not isinstance(found, Packed):
                return await json_of(call, found)
            head = encode_json(found.head)
            call.json_length = len(head)
            return b"".join((head, *found.parts))
        except RequestError:
            raise
        except OverloadedError:
            raise RequestError(Fault.OVERLOADED, "too many texts are waiting") from None
        except ClosedError:
            failed = self._state.batcher.failure is not None
            what = "has failed" if failed else "is stopping"
            raise RequestError(Fault.UNHEALTHY, f"the server {what}") from None
        except ModelError as error:  # its text names files
            log.error("%s: %s", self.route.path, error)
            raise RequestError(Fault.BACKEND, "the model cannot do this") from None
        except ValueError as error:
            raise fault_of_library(error, call.message) from None
        except Exception:
            log.exception("%s failed", self.route.path)
            raise RequestError(Fault.BACKEND, "the computation failed") from None


async def read_message(call: Call, body: bytes | msgspec.Raw, kind: type[M]) -> M:
    """Return the message of a body, whose lists are within their limits; raises RequestError."""
    try:
        message = decode(body, kind)
    except (ValueError, RecursionError) as error:
        wrong = str(error)
    else:
        require_lists_within(message, call.state.settings.max_client_batch_size)
        call.keep(size_of(message))
        return message
    encoding = dict(call.headers).get(b"content-encoding", b"").decode("latin-1")
    raise await in_thread(call.state.encoders, not_json, bytes(body), wrong, encoding)


async def _next(receive: Receive) -> Any:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ConnectionResetError
    return message


@contextlib.contextmanager
def arriving_within(seconds: float) -> Iterator[None]:
    """Raise RequestError in this task if the block takes longer."""
    task, late = asyncio.current_task(), False
    assert task is not None

    def cancel() -> None:
        nonlocal late
        late = True
        task.cancel()

    timer = asyncio.get_running_loop().call_later(seconds, cancel)
    try:
        yield
    except asyncio.CancelledError:
        if not late or (sys.version_info >= (3, 11) and task.uncancel() > 0):
            raise
        raise RequestError(Fault.SLOW, "the request took too long to arrive") from None
    finally:
        timer.cancel()


def _time_headers(call: Call, seconds: float) -> list[tuple[bytes, bytes]]:
    """Return the headers in which TEI reports the times of a request, in milliseconds."""
    record = call.record
    if not record.tokens:
        return []
    inference = record.inference
    return [
        (b"x-compute-type", b"cpu"),
        (b"x-compute-time", b"%d" % (1000 * (record.tokenization + inference))),
        (b"x-compute-characters", b"%d" % call.characters),
        (b"x-compute-tokens", b"%d" % record.tokens),
        (b"x-total-time", b"%d" % (1000 * seconds)),
        (b"x-tokenization-time", b"%d" % (1000 * record.tokenization)),
        (b"x-queue-time", b"%d" % (1000 * record.queue)),
        (b"x-inference-time", b"%d" % (1000 * inference)),
    ]
