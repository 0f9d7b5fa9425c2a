"""uvicorn's HTTP protocol, with limits for clients that send headers without end or too slowly.

It answers by itself what can be answered at once (immediate.py).
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fbg.server.immediate import Immediate

__all__ = ["BoundedProtocol", "protocol_with"]

MAX_HEADER_BYTES = 64 << 10
HEADER_SECONDS = 15.0


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections whose next request does not have all its headers in time and size."""

    immediate: Immediate | None = None
    _unparsed = 0  # bytes since the last headers or part of a body were complete
    _timer: asyncio.TimerHandle | None = None
    _answered = False  # whether the request that is arriving has been answered already
    _held_back = False  # whether nothing is read until the client has read its answers

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEADER_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unparsed += len(data)
        super().data_received(data)
        if self._unparsed > MAX_HEADER_BYTES and not self.transport.is_closing():
            self.send_400_response("The headers of the request are too long.")
        elif self._unparsed and self._timer is None:
            # A request on a connection that is kept alive has begun.
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def on_headers_complete(self) -> None:
        self._unparsed = 0
        self._stop_timer()
        # Set by the answer to an earlier request of the same packet.
        self._unset_keepalive_if_required()
        if self.immediate is not None and self._answer(self.immediate):
            self._answered = True
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        if not self._answered:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        if not self._answered:
            super().on_message_complete()
            return
        self._answered = False
        self._stop_timer()
        self.on_response_complete()
        if self.flow.write_paused:
            self._held_back = True
            self.flow.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._held_back:
            self._held_back = False
            self.flow.resume_reading()

    def _answer(self, immediate: Immediate) -> bool:
        """Answer a request if its headers are enough for that; return whether they were.

        A request that comes while an earlier one of the same connection is worked on takes the
        usual way, which keeps the order. The body of an answered request has a limited time to
        arrive, because nothing else would end the connection.
        """
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy or self.parser.should_upgrade():
            return False
        last = self.parser.get_http_version() == "1.0" or not self.parser.should_keep_alive()
        more = list(self.server_state.default_headers)
        if last:
            more.append((b"connection", b"close"))
        answer = immediate.answer(self.parser.get_method(), self.url, self.headers, more)
        if answer is None:
            return False
        self.transport.write(answer)
        if last:
            self.transport.close()
        else:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)
        return True

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol_with(immediate: Immediate | None) -> type[BoundedProtocol]:
    """Return the protocol of a server that has these answers."""
    return type("AnsweringProtocol", (BoundedProtocol,), {"immediate": immediate})
