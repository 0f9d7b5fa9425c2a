"""uvicorn's HTTP protocol, with limits for clients that send headers without end or too slowly."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["BoundedProtocol"]

MAX_HEADER_BYTES = 64 << 10
HEADER_SECONDS = 15.0


class BoundedProtocol(HttpToolsProtocol):
    """Closes connections whose next request does not have all its headers in time and size."""

    _unparsed = 0  # bytes since the last headers or part of a body were complete
    _timer: asyncio.TimerHandle | None = None

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
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        super().on_message_complete()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
