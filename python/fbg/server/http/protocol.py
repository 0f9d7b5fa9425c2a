"""uvicorn's HTTP protocol, with limits for clients that send headers without end or too slowly.

It answers by itself what can be answered at once (immediate.py), and requests that arrive as a
whole without ASGI (direct.py). uvicorn has the rest.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fbg.server.endpoint import Endpoint
from fbg.server.http.direct import Direct
from fbg.server.http.immediate import Immediate
from fbg.server.replies import CLOSE, Headers

__all__ = ["BoundedProtocol", "protocol_with"]

MAX_HEADER_BYTES = 64 << 10
HEADER_SECONDS = 15.0


class _Exchange:
    """A request that is answered without ASGI: what uvicorn asks of its RequestResponseCycle.

    disconnected: the connection has ended. keep_alive: whether it stays open after the answer.
    """

    message_event = asyncio.Event()  # uvicorn sets it at the end of a connection; nobody waits

    def __init__(self, endpoint: Endpoint, headers: Headers, keep_alive: bool) -> None:
        self.endpoint = endpoint
        self.headers = headers
        self.body: list[bytes] = []
        self.keep_alive = keep_alive
        self.disconnected = False
        self.response_complete = False


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections whose next request does not have all its headers in time and size.

    A connection has one deadline, for the headers that arrive or for its next request, and one
    timer, which looks at the deadline when it fires: to start and to cancel timers for each request
    takes more time than to read its headers.
    """

    immediate: Immediate | None = None
    direct: Direct | None = None
    _unparsed = 0  # bytes since the last headers or part of a body were complete
    _deadline: float | None = None
    _idle = False  # whether the deadline is for the next request
    _timer: asyncio.TimerHandle | None = None
    _timer_ends = 0.0
    _answered = False  # whether the request that is arriving has been answered already
    _held_back = False  # whether nothing is read until the client has read its answers
    _arriving: _Exchange | None = None  # its headers have come, but not yet all of its body
    _working: asyncio.Task[None] | None = None  # answers a request without ASGI

    # --- What uvicorn and the parser call --------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait_for(HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._working is not None:
            self._working.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unparsed += len(data)
        if self._idle:
            self._wait_for(None)
        super().data_received(data)
        if self._arriving is not None:
            self._hand_over(self._arriving)
        if self._unparsed > MAX_HEADER_BYTES and not self.transport.is_closing():
            self.send_400_response("The headers of the request are too long.")
        elif self._unparsed and self._deadline is None:
            # A request on a connection that is kept alive has begun.
            self._wait_for(HEADER_SECONDS)

    def on_headers_complete(self) -> None:
        self._unparsed = 0
        # An answer to an earlier request of the same packet may have set it.
        self._wait_for(None)
        # A request that comes while an earlier one of the same connection is worked on takes the
        # usual way, which keeps the order.
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy or self.parser.should_upgrade():
            super().on_headers_complete()
        elif self.immediate is not None and self._answer(self.immediate):
            self._answered = True
        elif self.direct is None or not self._take(self.direct):
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        if self._arriving is not None:
            self._arriving.body.append(body)
        elif not self._answered:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        if self._arriving is not None:
            self._begin(self._arriving)
        elif self._answered:
            self._answered = False
            self._wait_for(None)
            self.on_response_complete()
        else:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """As uvicorn's, with the deadline of the connection instead of a timer for each request."""
        if self.pipeline or self.transport.is_closing():
            super().on_response_complete()  # which begins with the next request
            return
        self.server_state.total_requests += 1
        if self.flow.write_paused:
            self._held_back = True
            self.flow.pause_reading()
        else:
            self.flow.resume_reading()
        if self._deadline is None:
            self._wait_for(self.timeout_keep_alive, idle=True)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._held_back:
            self._held_back = False
            self.flow.resume_reading()

    # --- Answers at once --------------------------------------------------------------------------

    def _answer(self, immediate: Immediate) -> bool:
        """Answer a request if its headers are enough for that; return whether they were.

        The body of an answered request has a limited time to arrive, because nothing else would end
        the connection.
        """
        keep_alive = self._keeps_alive()
        more = [*self.server_state.default_headers, *(() if keep_alive else (CLOSE,))]
        answer = immediate.answer(self.parser.get_method(), self.url, self.headers, more)
        if answer is None:
            return False
        self.transport.write(answer)
        if keep_alive:
            self._wait_for(HEADER_SECONDS)
        else:
            self.transport.close()
        return True

    def _keeps_alive(self) -> bool:
        return self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()

    # --- Requests without ASGI --------------------------------------------------------------------

    def _take(self, direct: Direct) -> bool:
        """Take a request that `direct` answers if all of it has arrived; return whether it does."""
        endpoint = direct.find(self.parser.get_method(), self.url)
        if endpoint is None:
            return False
        self._arriving = _Exchange(endpoint, self.headers, self._keeps_alive())
        return True

    def _hand_over(self, exchange: _Exchange) -> None:
        """Leave to uvicorn a request whose body has not arrived together with its headers."""
        self._arriving = None
        if not self.transport.is_closing():
            super().on_headers_complete()
            for part in exchange.body:
                super().on_body(part)

    def _begin(self, exchange: _Exchange) -> None:
        self._arriving = None
        cycle: Any = exchange
        self.cycle = cycle
        self._working = self.loop.create_task(self._work(exchange))
        self.tasks.add(self._working)  # the server waits for them when it ends
        self._working.add_done_callback(self.tasks.discard)

    async def _work(self, exchange: _Exchange) -> None:
        assert self.direct is not None
        body = b"".join(exchange.body)
        exchange.body.clear()
        try:
            reply = await self.direct.reply(exchange.endpoint, exchange.headers, body)
        except asyncio.CancelledError:  # the client went away, or the server does not wait longer
            self.transport.close()
            raise
        finally:
            self._working = None
        exchange.response_complete = True
        if not exchange.keep_alive:
            reply.close()
        self.transport.write(reply.message(self.server_state.default_headers))
        if reply.closes:
            self.transport.close()
        self.on_response_complete()

    # --- Deadlines --------------------------------------------------------------------------------

    def _wait_for(self, seconds: float | None, idle: bool = False) -> None:
        """Close the connection in so many seconds, unless this is called before; None: never.

        idle: until the next request begins.
        """
        self._idle = idle
        if seconds is None:
            self._deadline = None
            return
        self._deadline = self.loop.time() + seconds
        if self._timer is not None and self._timer_ends > self._deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._start_timer(seconds)

    def _start_timer(self, seconds: float) -> None:
        self._timer_ends = self.loop.time() + seconds
        self._timer = self.loop.call_later(seconds, self._look_at_deadline)

    def _look_at_deadline(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        rest = self._deadline - self.loop.time()
        if rest > 0:
            self._start_timer(rest)
        else:
            self.transport.close()


def protocol_with(immediate: Immediate | None, direct: Direct | None) -> type[BoundedProtocol]:
    """Return the protocol of a server that answers so."""
    members = {"immediate": immediate, "direct": direct}
    return type("AnsweringProtocol", (BoundedProtocol,), members)
