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
    _answered = False  # whether the request that arrives was

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
        if self._answered:
            self._answered = False
            self.on_response_complete()
        else:
            super().on_message_complete()

    def _answer(self, immediate: Immediate) -> bool:
        """Answer a request whose headers suffice for that; says whether it did.

        One behind others on the same connection takes the usual way, which keeps the order.
        """
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy or self.parser.should_upgrade():
            return False
        method, more = self.parser.get_method(), self.server_state.default_headers
        answer = immediate.answer(method, self.url, self.headers, more)
        if answer is None:
            return False
        self.transport.write(answer)
        if self.parser.get_http_version() == "1.0" or not self.parser.should_keep_alive():
            self.transport.close()
        return True

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol_with(immediate: Immediate | None) -> type[BoundedProtocol]:
    """Return the protocol of a server that has these answers."""
    return type("AnsweringProtocol", (BoundedProtocol,), {"immediate": immediate})
