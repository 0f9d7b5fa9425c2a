"""A connection of uvicorn whose client can cost only so much: seconds, and bytes that wait.

h11 reads the requests, and uvicorn has them answered, one after the other. Both trust that a client
goes on with what it has begun, reads its answers, and stays until it has them.
"""

from __future__ import annotations

import contextlib
import re
import select
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# The head of a request: its line and its headers. h11 takes microseconds for each header.
MAX_HEAD_BYTES = 64 << 10
MOST_LINES = 256
HEADER_SECONDS = 15.0

# A client must read an answer, or a part of it (guard.py), in this time.
ANSWER_SECONDS = 30.0

# A connection that the server ends while the client may still be sending is read on for so long.
# If it were closed at once, the system would reset it, and the client would lose its answer.
LINGER_SECONDS = 30.0
LINGER_BYTES = 256 << 20

# Chunks of a body: so many, and one more for each of these bytes. Each takes as long as a header.
MOST_CHUNKS = 4096
BYTES_OF_CHUNK = 32


_EMPTY_LINES = re.compile(rb"(?:\r?\n)*")
_END_OF_HEAD = re.compile(rb"\n\r?\n")


class Parser(h11.Connection):
    """Refuses what proxies read in two ways, large heads, and bodies in chunks of a few bytes."""

    def next_event(self) -> Any:
        if self.their_state is h11.MUST_CLOSE and self._receive_buffer:
            return h11.PAUSED  # no request comes after this one, whatever the client sends
        if self.their_state is h11.IDLE and not self._begins_with_a_head():
            return h11.NEED_DATA
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
            if {b"content-length", b"transfer-encoding"} <= {name for name, _ in event.headers}:
                raise h11.RemoteProtocolError("the body has two lengths")
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start  # never if the body has a length
            self._bytes += len(event.data)
            if self._chunks > MOST_CHUNKS + self._bytes // BYTES_OF_CHUNK:
                raise h11.RemoteProtocolError("the chunks of the body are too small")
        return event

    def _begins_with_a_head(self) -> bool:
        """Pass over empty lines (RFC 9112, 2.2); say whether a head, or a part of one, follows.

        It is checked before h11 reads it: h11 limits only heads that have not arrived as a whole.
        It looks into the buffer of h11, of which h11 itself gives only copies, of all that waits.
        """
        data = self._receive_buffer._data
        empty = _EMPTY_LINES.match(data)
        if empty and empty.end():
            self._receive_buffer.maybe_extract_at_most(empty.end())
        end = _END_OF_HEAD.search(data)
        size = end.end() if end else len(data)
        if size > MAX_HEAD_BYTES or data.count(b"\n", 0, size) > MOST_LINES + bool(end):
            raise h11.RemoteProtocolError("the head of the request is too large")
        return len(data) > data.startswith(b"\r")  # which may begin an empty line


class Connection(H11Protocol):
    """Made by uvicorn for each client, by `uvicorn.Config(http=Connection)`."""

    transport: Any

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = Parser(h11.SERVER, MAX_HEAD_BYTES)
        self._since = self.loop.time()  # when the wait for a request began, or for the client
        self._dropped = 0

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered to anybody."""
        if self.cycle is None or self.cycle.response_complete:
            return True
        return self.cycle.disconnected or self.transport.lingers

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # So that an answer has been read when it is drained. TLS is never drained below 0.
        transport.set_write_buffer_limits(1, 0)
        self.transport = _LingeringTransport(transport, self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.transport.lingers:
            super().data_received(data)
            return
        self._dropped += len(data)
        if self._dropped > LINGER_BYTES:
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._since = self.loop.time()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._since = self.loop.time()

    def send_400_response(self, msg: str) -> None:
        self._cancel()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # after the beginning of another answer
            self.transport.abort()

    def look(self, now: float) -> None:
        """End the connection if its client is late or gone. Called about twice a second."""
        if self.transport.lingers:
            over = now - self._since > LINGER_SECONDS
        elif self.flow.write_paused:
            over = now - self._since > ANSWER_SECONDS
        elif self.flow.read_paused:  # the event loop does not see then that a client goes
            over, self._since = _has_gone(self.transport), now
        elif self.is_idle and self.timeout_keep_alive_task is None:
            over = now - self._since > HEADER_SECONDS
        else:
            over, self._since = False, now
        if over:
            self.transport.abort()

    def linger(self) -> bool:
        """Return whether the client may be sending; if so, what comes is dropped."""
        self._since = self.loop.time()
        sending = self.conn.their_state in (h11.SEND_BODY, h11.ERROR)
        return sending or bool(self.conn.trailing_data[0])

    def _cancel(self) -> None:
        """Cancel the request that is being answered: nobody will read the answer."""
        if not self.is_idle:
            self.cycle.disconnected = True
            scope: Any = self.cycle.scope
            scope["gone"] = True
            if "task" in scope:  # guard.py
                scope["task"].cancel()


class _LingeringTransport:
    """The transport of a connection, which `close` ends only when the client has its answer."""

    def __init__(self, transport: Any, connection: Connection) -> None:
        self.lingers = False
        self._transport = transport
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.lingers or self._transport.is_closing()

    def close(self) -> None:
        if self.is_closing() or not self._connection.linger():
            self._transport.close()
            return
        self.lingers = True
        with contextlib.suppress(OSError, RuntimeError):  # the client is gone, or TLS
            self._transport.write_eof()
        self._connection.flow.resume_reading()


def _has_gone(transport: Any) -> bool:
    socket = transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(socket.fileno(), getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))
