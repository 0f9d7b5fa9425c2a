"""One POST route: read the body, check it, compute, answer. An ASGI application.

    limits -> body -> message -> function of the route -> JSON, with the times in the headers

A client that goes away cancels its request, and with it what it has in the queue.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from starlette.types import Receive, Scope, Send

from fbg.errors import ClosedError, ModelError, OverloadedError
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.replies import Reply, encode_json, send_reply
from fbg.server.state import Call, State

__all__ = ["Endpoint", "Route"]

log = logging.getLogger("fbg.server")

# A request that is answered sooner is not watched: most are.
WATCH_AFTER = 0.05  # seconds

Answer = Callable[[Call, Any], Awaitable[Any]]


@dataclass(frozen=True)
class Route:
    """path, answer: the function of the route, which returns what becomes JSON, or bytes that are
    JSON. message: the type of its body. method: its name in metrics."""

    path: str
    answer: Answer
    message: Any
    method: str
    dialect: Dialect = Dialect.TEI


class Endpoint:
    """Answers the requests of one route."""

    def __init__(self, state: State, route: Route) -> None:
        self.route = route
        self._state = state
        self._decode = msgspec.json.Decoder(route.message).decode
        self._requests = state.metrics.requests.labels(route.method)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; RequestError says what is wrong with it (guard.py answers that)."""
        state, begin = self._state, time.perf_counter()
        scope["dialect"] = self.route.dialect
        self._requests.inc()
        state.enter()
        watch = _Watch(receive, state.settings.body_seconds)
        try:
            await state.turns.wait()
            body = await self._body(scope, receive)
            watch.arrived()
            reply = await self._reply(scope, body, begin)
        except asyncio.CancelledError:
            if watch.ended_by is None:
                raise
            if sys.version_info >= (3, 11):
                watch.task.uncancel()
            if watch.ended_by == "slow":
                raise RequestError(Fault.SLOW, "the request took too long to arrive") from None
            scope["abandoned"] = True
            return
        finally:
            watch.stop()
            state.leave()
        await send_reply(send, reply)

    async def respond(self, scope: Scope, body: bytes) -> Reply:
        """Answer a request whose body is complete; raises RequestError."""
        state, begin = self._state, time.perf_counter()
        self._requests.inc()
        state.enter()
        try:
            await state.turns.wait()
            self._limit(len(body))
            return await self._reply(scope, body, begin)
        finally:
            state.leave()

    async def _reply(self, scope: Scope, body: bytes, begin: float) -> Reply:
        """Compute the answer to a body; begin: of the request, by time.perf_counter."""
        state, route, size = self._state, self.route, len(body)
        state.hold(size)
        try:
            call = Call(state)
            message = self._message(body)
            del body
            result = await self._answer(call, message)
        finally:
            state.hold(-size)
        seconds = time.perf_counter() - begin
        state.metrics.success(route.method, seconds, call.record)
        scope["record"] = call.record
        headers = _time_headers(call, seconds) if route.dialect is Dialect.TEI else []
        return Reply(200, headers, result if isinstance(result, bytes) else encode_json(result))

    def _limit(self, size: int) -> None:
        limit = self._state.settings.max_body
        if size > limit:
            raise RequestError(Fault.TOO_LARGE, f"the body must have at most {limit} bytes")

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        limit = self._state.settings.max_body
        self._limit(scope.get("content_length", 0))
        message = await _next(receive)
        body = message.get("body", b"")
        if message.get("more_body"):
            body = bytearray(body)
            while message.get("more_body") and len(body) <= limit:
                message = await _next(receive)
                body += message.get("body", b"")
        self._limit(len(body))
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
            return await self.route.answer(call, message)
        except RequestError:
            raise
        except msgspec.ValidationError as error:
            raise RequestError(Fault.VALIDATION, str(error)) from None
        except OverloadedError:
            raise RequestError(Fault.OVERLOADED, "too many texts are waiting") from None
        except ClosedError:
            failed = self._state.queue.failure is not None
            what = "has failed" if failed else "is stopping"
            raise RequestError(Fault.UNHEALTHY, f"the server {what}") from None
        except ModelError as error:  # its text names files
            log.error("%s: %s", self.route.path, error)
            raise RequestError(Fault.BACKEND, "the model cannot do this") from None
        except ValueError as error:
            raise RequestError(Fault.VALIDATION, str(error)) from None
        except Exception:
            log.exception("%s failed", self.route.path)
            raise RequestError(Fault.BACKEND, "the computation failed") from None


async def _next(receive: Receive) -> Any:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ConnectionResetError
    return message


class _Watch:
    """Cancels the task of a request whose body arrives too slowly, or whose client went away.

    Most requests have been answered before anything is watched.

    ended_by: why the task was cancelled; None if it was not.
    """

    def __init__(self, receive: Receive, body_seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.task = task
        self.ended_by: Literal["slow", "gone"] | None = None
        self._receive = receive
        self._body_seconds = body_seconds
        self._arrived = False
        self._limited = False  # whether the timer waits for the body
        self._watcher: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(WATCH_AFTER, self._look)

    def arrived(self) -> None:
        """Say that the body is complete."""
        self._arrived = True
        if self._limited:
            self._limited = False
            self._timer.cancel()
            self._timer = self._loop.call_later(WATCH_AFTER, self._look)

    def stop(self) -> None:
        self._timer.cancel()
        if self._watcher is not None:
            self._watcher.cancel()

    def _look(self) -> None:
        if self._arrived:
            self._watcher = self._loop.create_task(self._until_disconnect())
        else:
            self._limited = True
            rest = max(self._body_seconds - WATCH_AFTER, 0.0)
            self._timer = self._loop.call_later(rest, self._cancel, "slow")

    async def _until_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._cancel("gone")

    def _cancel(self, why: Literal["slow", "gone"]) -> None:
        self.ended_by = why
        self.task.cancel()


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
