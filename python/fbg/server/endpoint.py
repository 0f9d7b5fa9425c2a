"""One POST route: read the body, check it, compute, answer. An ASGI application.

    limits -> body -> message -> function of the route -> JSON, with the times in the headers

A client that goes away cancels its request, and with it what it has in the queue.
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
from starlette.types import Receive, Scope, Send

from fbg.errors import ClosedError, ModelError, OverloadedError
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.state import Call, State

__all__ = ["Endpoint", "Route", "send_json"]

log = logging.getLogger("fbg.server")

encode_json = msgspec.json.Encoder().encode
JSON = (b"content-type", b"application/json")

# A request that is answered sooner is not watched: most are.
WATCH_AFTER = 0.05  # seconds

Answer = Callable[[Call, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """path, answer: the function of the route. message: the type of its body. method: its name in
    metrics."""

    path: str
    answer: Answer
    message: Any
    method: str
    dialect: Dialect = Dialect.TEI


class Endpoint:
    """Answers the requests of one route."""

    def __init__(self, state: State, route: Route) -> None:
        self._state = state
        self._route = route
        self._decode = msgspec.json.Decoder(route.message).decode

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; RequestError says what is wrong with it (guard.py answers that)."""
        state, route, begin = self._state, self._route, time.perf_counter()
        scope["dialect"] = route.dialect
        state.metrics.requests.labels(route.method).inc()
        state.enter()
        held = 0
        try:
            body = await self._body(scope, receive)
            state.hold(len(body))
            held = len(body)
            call = Call(state)
            message = self._message(body)
            del body
            result = await _until_disconnect(self._answer(call, message), receive)
        finally:
            state.leave()
            state.hold(-held)
        if result is None:
            scope["abandoned"] = True
            return
        seconds = time.perf_counter() - begin
        state.metrics.success(route.method, seconds, call.record)
        scope["tokens"] = call.record.tokens
        await send_json(send, 200, encode_json(result), _time_headers(call, seconds))

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        limit = self._state.settings.max_body
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > limit:
                raise RequestError(Fault.TOO_LARGE, f"the body must have at most {limit} bytes")
        with _time_limit(self._state.settings.body_seconds):
            message = await _next(receive)
            body = message.get("body", b"")
            if message.get("more_body"):
                body = bytearray(body)
                while message.get("more_body") and len(body) <= limit:
                    message = await _next(receive)
                    body += message.get("body", b"")
        if len(body) > limit:
            raise RequestError(Fault.TOO_LARGE, f"the body must have at most {limit} bytes")
        return bytes(body)

    def _message(self, body: bytes) -> Any:
        try:
            return self._decode(body)
        except msgspec.ValidationError as error:
            raise RequestError(Fault.VALIDATION, str(error)) from None
        except (ValueError, RecursionError):
            raise RequestError(Fault.MALFORMED, "the body is not valid JSON") from None

    async def _answer(self, call: Call, message: Any) -> Any:
        try:
            return await self._route.answer(call, message)
        except RequestError:
            raise
        except msgspec.ValidationError as error:
            raise RequestError(Fault.VALIDATION, str(error)) from None
        except OverloadedError:
            raise RequestError(Fault.OVERLOADED, "too many texts are waiting") from None
        except ClosedError:
            raise RequestError(Fault.UNHEALTHY, "the server is stopping") from None
        except ModelError as error:  # its text names files
            log.error("%s: %s", self._route.path, error)
            raise RequestError(Fault.BACKEND, "the model cannot do this") from None
        except ValueError as error:
            raise RequestError(Fault.VALIDATION, str(error)) from None
        except Exception:
            log.exception("%s failed", self._route.path)
            raise RequestError(Fault.BACKEND, "the computation failed") from None


async def _next(receive: Receive) -> Any:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ConnectionResetError
    return message


@contextlib.contextmanager
def _cancelled_by(
    begin: Callable[[Callable[[], None]], Callable[[], None]],
) -> Iterator[list[bool]]:
    """Run a block that an event may cancel; the list is then not empty, and the block has ended.

    begin: starts to wait for the event, which calls what `begin` was given; returns what stops it.
    """
    task = asyncio.current_task()
    assert task is not None
    happened: list[bool] = []

    def cancel() -> None:
        happened.append(True)
        task.cancel()

    stop = begin(cancel)
    try:
        yield happened
    except asyncio.CancelledError:
        if not happened:
            raise
        if sys.version_info >= (3, 11):
            task.uncancel()
    finally:
        stop()


@contextlib.contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise RequestError for a block that takes longer."""
    loop = asyncio.get_running_loop()
    with _cancelled_by(lambda cancel: loop.call_later(seconds, cancel).cancel) as late:
        yield
    if late:
        raise RequestError(Fault.SLOW, "the request took too long to arrive")


async def _until_disconnect(answer: Awaitable[Any], receive: Receive) -> Any:
    """Return what a request is answered with, or None if its client went away before that."""
    loop = asyncio.get_running_loop()
    watchers: list[asyncio.Task[None]] = []

    def begin(cancel: Callable[[], None]) -> Callable[[], None]:
        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            cancel()

        timer = loop.call_later(WATCH_AFTER, lambda: watchers.append(loop.create_task(watch())))

        def stop() -> None:
            timer.cancel()
            for watcher in watchers:
                watcher.cancel()

        return stop

    result = None
    with _cancelled_by(begin):
        result = await answer
    return result


def _time_headers(call: Call, seconds: float) -> list[tuple[bytes, bytes]]:
    """Return the headers in which TEI tells what a request took, in milliseconds."""
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


async def send_json(
    send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    """Send an answer with a JSON body."""
    headers = [JSON, (b"content-length", b"%d" % len(body)), *headers]
    with contextlib.suppress(ConnectionError):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
