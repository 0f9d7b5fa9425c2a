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
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fbg.errors import ClosedError, ModelError, OverloadedError
from fbg.server.answers import json_of
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.keys import fault_of_library, not_json, wrong_message
from fbg.server.replies import Reply, send_reply
from fbg.server.state import Call, State

log = logging.getLogger("fbg.server")

JSON = "application/json"
Answer = Callable[[Call, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """path, answer: the function of the route, which returns an argument for answers.json_of.
    message: the type of its body. metric: its name in metrics. result: the type of its answer.
    bodies: the types of its body where there are several."""

    path: str
    answer: Answer
    message: Any
    metric: str
    result: Any = Any
    dialect: Dialect = Dialect.TEI
    bodies: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Page:
    """path, answer: the function of a route that reads no JSON. result: the type of its answer;
    media_type: None for an answer without a body. form: the fields of the form that it takes."""

    path: str
    answer: Callable[[State, Request], Response | Awaitable[Response]]
    result: Any
    media_type: str | None = JSON
    method: str = "GET"
    form: tuple[str, ...] = ()


class Endpoint:
    """Answers the requests of one route."""

    def __init__(self, state: State, route: Route) -> None:
        self.route = route
        self._state = state
        self._decode = msgspec.json.Decoder(route.message).decode
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
            await state.admission.wait()
            body = await self._body(scope, receive, call)
            result = await self.compute(call, body)
            del body
            seconds = time.perf_counter() - begin
            state.metrics.success(self.route.metric, seconds, call.record)
            scope["record"] = call.record
            headers = _time_headers(call, seconds) if self.route.dialect is Dialect.TEI else []
            reply = Reply(200, headers, result)
            del result
            await send_reply(send, reply)

    async def compute(self, call: Call, body: bytes) -> bytes | bytearray:
        """Return the JSON of the answer to a body; raises RequestError."""
        message = self._message(body)
        del body
        return await self._answer(call, message)

    def _limit(self, size: int) -> None:
        limit = self._state.settings.max_body
        if size > limit:
            raise RequestError(Fault.TOO_LARGE, f"the body must have at most {limit} bytes")

    async def _body(self, scope: Scope, receive: Receive, call: Call) -> bytes:
        self._limit(scope.get("content_length", 0))
        with arriving_within(self._state.settings.body_seconds):
            message = await _next(receive)
            body = message.get("body", b"")
            call.hold(len(body))
            if message.get("more_body"):
                body = bytearray(body)
                while message.get("more_body") and len(body) <= self._state.settings.max_body:
                    message = await _next(receive)
                    body += message.get("body", b"")
                    call.hold(len(body))
        self._limit(len(body))
        return bytes(body)

    def _message(self, body: bytes) -> Any:
        try:
            return self._decode(body)
        except msgspec.ValidationError as error:
            raise wrong_message(error, self.route.message) from None
        except (ValueError, RecursionError) as error:
            raise not_json(error) from None

    async def _answer(self, call: Call, message: Any) -> bytes | bytearray:
        call.message = message
        try:
            return await json_of(call, await self.route.answer(call, message))
        except RequestError:
            raise
        except OverloadedError:
            raise RequestError(Fault.OVERLOADED, "too many texts are waiting") from None
        except ClosedError:
            failed = self._state.former.failure is not None
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
