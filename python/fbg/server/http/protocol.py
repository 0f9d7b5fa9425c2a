"""A connection: reads one request at a time, has it answered, and bounds the cost of its client.

    bytes -> RequestReader -> Exchange -> the application -> bytes

Headers, answers and the rest of what is refused have deadlines; bytes that are not read yet and
bytes that the client does not read have limits. A request begins when the client has read the
answer to the one before.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import select
from typing import Any

from fbg.server.http.deadline import Deadline
from fbg.server.http.exchange import Exchange, answer_head
from fbg.server.http.requests import BadRequest, RequestReader
from fbg.server.replies import CLOSE

log = logging.getLogger("fbg.server")

HEADER_SECONDS = 15.0

# Bytes that are read in advance, of a body or of the next requests.
READ_AHEAD = 256 << 10
# How often to look whether a client is still there from whom nothing is read.
LOOK_SECONDS = 0.5

# A client must read so much in each of these periods, or the rest of its answer.
ANSWER_SECONDS = 30.0
ANSWER_BYTES = 8 << 20

# A connection that the server ends while the client may still be sending is read on for so long.
# If it were closed at once, the system would reset it, and the client would lose its answer.
LINGER_SECONDS = 30.0
LINGER_BYTES = 256 << 20

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class HttpProtocol(asyncio.Protocol):
    """Made by uvicorn for each connection, by `uvicorn.Config(http=HttpProtocol)`."""

    transport: asyncio.Transport

    def __init__(
        self,
        config: Any,
        server_state: Any,
        app_state: Any = None,
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.config = config
        self.server_state = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self._deadline = Deadline(self._loop)
        self._reader = RequestReader()
        self._exchange: Exchange | None = None
        self._task: asyncio.Task[None] | None = None
        self._idle = False  # whether the deadline is for the next request to begin
        self._stopping = False  # whether the process ends
        self._drained: asyncio.Future[None] | None = None  # the client has read the answer
        self._unread = 0  # bytes of the answer, when the client was looked at last
        self._full = False  # whether the system takes no more bytes for the client
        self._dropped: int | None = None  # bytes since the connection has been ended
        self._looking: asyncio.TimerHandle | None = None  # while nothing is read

    # --- Called by the event loop and uvicorn -----------------------------------------------------

    def connection_made(self, transport: Any) -> None:  # of uvloop or asyncio.Transport
        self.transport = transport
        transport.set_write_buffer_limits(0)  # so that `_full` means that bytes are left
        ends = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        if not isinstance(ends[0], tuple):  # of a Unix socket, whose clients have no addresses
            ends = None, (ends[1], None)
        secure = transport.get_extra_info("sslcontext") is not None
        self._ends = *ends, "https" if secure else "http"
        self.server_state.connections.add(self)
        self._deadline.set(HEADER_SECONDS, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server_state.connections.discard(self)
        self._deadline.stop()
        if self._looking is not None:
            self._looking.cancel()
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        if self._dropped is None:
            self._reader.feed(data)
            self._advance()
            return
        self._dropped += len(data)
        if self._dropped > LINGER_BYTES:
            self.transport.abort()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def shutdown(self) -> None:
        """End the connection after the request that is being answered, if there is one."""
        self._stopping = True
        if self._exchange is None or self._dropped is not None:
            self.transport.close()
        else:
            self._exchange.last = True

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self._task is None

    # --- Reading ----------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Read the bytes that have arrived: the next request, or the body of the current one."""
        if self.transport.is_closing() or self._dropped is not None:
            return
        try:
            if self._exchange is None:
                self._begin()
            exchange, reader = self._exchange, self._reader
            if exchange is not None and not exchange.arrived:
                exchange.add(reader.body(), reader.complete)
                if reader.complete and self._task is None:
                    self._next()
        except BadRequest as error:
            self._refuse(error)
        else:
            self._regulate()

    def _begin(self) -> None:
        head = self._reader.head()
        if head is None:
            if self._idle and len(self._reader):
                self._idle = False
                self._deadline.set(HEADER_SECONDS, self.transport.abort)
            return
        self._idle = False
        self._deadline.clear()
        more = self.server_state.default_headers
        self._exchange = exchange = Exchange(head, self._write, self._wants_body, more)
        self._task = self._loop.create_task(self._answer(exchange))
        self.server_state.tasks.add(self._task)  # uvicorn waits for them when it ends
        self._task.add_done_callback(self.server_state.tasks.discard)

    def _wants_body(self) -> None:
        """The application waits for the body, or has taken the part that was there."""
        exchange = self._exchange
        if exchange is not None and not (exchange.invited or exchange.answered):
            exchange.invited = True
            if not self._reader.complete:
                self.transport.write(CONTINUE)
        self._regulate()

    def _regulate(self) -> None:
        """Read from the client only while little waits that has been read."""
        if self.transport.is_closing():
            return
        waiting = len(self._reader) + (self._exchange.waiting if self._exchange else 0)
        if waiting > READ_AHEAD and self._looking is None:
            self.transport.pause_reading()
            self._looking = self._loop.call_later(LOOK_SECONDS, self._look_for_client)
        elif waiting <= READ_AHEAD and self._looking is not None:
            self._looking.cancel()
            self._looking = None
            self.transport.resume_reading()

    def _look_for_client(self) -> None:
        """End the connection if the client has: the event loop does not see it while paused."""
        if _has_gone(self.transport):
            self.transport.abort()
        else:
            self._looking = self._loop.call_later(LOOK_SECONDS, self._look_for_client)

    # --- Answering --------------------------------------------------------------------------------

    async def _answer(self, exchange: Exchange) -> None:
        try:
            await self.config.loaded_app(
                exchange.scope(*self._ends), exchange.receive, exchange.send
            )
        except asyncio.CancelledError:  # the client is gone, or the server does not wait longer
            if self._dropped is None:
                self.transport.abort()
            raise
        except Exception:
            log.exception("a request failed")
        finally:
            self._task = None
        if not exchange.answered:
            self.transport.abort()
            return
        self.server_state.total_requests += 1
        if exchange.last:
            self._end(at_once=self._stopping or not exchange.head.keep_alive)
        elif self._reader.complete:
            self._next()
        else:  # the rest of the body is not kept
            self._deadline.set(HEADER_SECONDS, self.transport.abort)
            self._advance()

    async def _write(self, head: bytes, body: bytes) -> None:
        """Write an answer, and wait until the client has read so much that the system has it."""
        if len(body) < READ_AHEAD:
            self.transport.write(head + body)
        else:
            self.transport.writelines((head, body))
        if self._full:
            self._drained = self._loop.create_future()
            self._unread = self.transport.get_write_buffer_size()
            self._deadline.set(ANSWER_SECONDS, self._look_at_answer)
            await self._drained
            self._deadline.clear()

    def _look_at_answer(self) -> None:
        """End the connection if the client reads too slowly."""
        unread = self.transport.get_write_buffer_size()
        if self._unread - unread < ANSWER_BYTES:
            self.transport.abort()
        else:
            self._unread = unread
            self._deadline.set(ANSWER_SECONDS, self._look_at_answer)

    def _next(self) -> None:
        """Be ready for the next request, which may have arrived already."""
        self._exchange = None
        self._idle = True
        self._deadline.set(self.config.timeout_keep_alive, self.transport.abort)
        if len(self._reader):
            self._loop.call_soon(self._advance)

    def _refuse(self, error: BadRequest) -> None:
        """Answer bytes that are not a request, and end the connection."""
        answered = self._exchange is not None and self._exchange.answered
        if self._task is not None:
            self._task.cancel()
        if not answered:
            body = f"Bad request: {error}.\n".encode()
            headers = [*self.server_state.default_headers, (b"content-type", b"text/plain"), CLOSE]
            self.transport.write(answer_head(400, headers, len(body)) + body)
        self._end()

    def _end(self, at_once: bool = False) -> None:
        """Close the connection, so that the client gets all that has been written.

        at_once: the client has asked for that, and sends no more if all of its request has arrived;
        or the process ends.
        """
        if at_once and self._reader.complete and not len(self._reader):
            self.transport.close()
            return
        self._dropped = 0
        self._reader = RequestReader()
        with contextlib.suppress(OSError, RuntimeError):  # the client is gone
            self.transport.write_eof()
        self._deadline.set(LINGER_SECONDS, self.transport.abort)
        self._exchange = None
        self._regulate()


def _has_gone(transport: asyncio.Transport) -> bool:
    socket = transport.get_extra_info("socket")
    if socket is None or socket.fileno() < 0:
        return False
    poll = select.poll()
    poll.register(socket.fileno(), getattr(select, "POLLRDHUP", 0))
    return bool(poll.poll(0))
