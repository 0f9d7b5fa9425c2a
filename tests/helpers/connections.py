"""A connection to the server, without sockets."""

from __future__ import annotations

import asyncio

import uvicorn
from uvicorn.server import ServerState

from fbg.server.connection import Connection as Protocol


class Transport(asyncio.Transport):
    """Keeps what is written, all of which the client reads at once, unless it is `slow`.

    ended: no more will be written. closed: nothing will be read, either.
    """

    def __init__(self, protocol):
        super().__init__()
        self.written = b""
        self.writes = 0
        self.slow = False
        self.unread = 0
        self.ended = False
        self.closed = False
        self.reading = True
        self._protocol = protocol

    def get_extra_info(self, name, default=None):
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def write(self, data):
        assert not self.ended
        self.written += data
        self.writes += 1
        if self.slow:
            self.unread += len(data)
            self._protocol.pause_writing()

    def read(self, size):
        """The client reads so many bytes."""
        self.unread -= size
        if self.unread == 0:
            self._protocol.resume_writing()

    def get_write_buffer_size(self):
        return self.unread

    def set_write_buffer_limits(self, high=None, low=None):
        assert (high, low) == (1, 0)

    def set_protocol(self, protocol):
        raise AssertionError("an upgrade")

    def is_closing(self):
        return self.closed

    def write_eof(self):
        self.ended = True

    def close(self):
        self.ended = self.closed = True

    abort = close

    def pause_reading(self):
        self.reading = False

    def resume_reading(self):
        self.reading = True


class Connection:
    """A connection to a server with this application."""

    def __init__(self, app, keep_alive_seconds=5):
        self._app = app
        self._keep_alive_seconds = keep_alive_seconds

    async def __aenter__(self):
        config = uvicorn.Config(
            self._app,
            http=Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=self._keep_alive_seconds,
        )
        server = ServerState()
        server.default_headers = [(b"date", b"today")]
        self.protocol = Protocol(config, server, {})
        self.transport = Transport(self.protocol)
        self.protocol.connection_made(self.transport)
        self._looking = asyncio.create_task(self._look())
        return self

    async def __aexit__(self, *error):
        self._looking.cancel()
        self.protocol.connection_lost(None)
        await self.rest()

    async def _look(self):
        """Look at the connection as the server does."""
        while True:
            await asyncio.sleep(0.01)
            self.protocol.look(asyncio.get_running_loop().time())

    async def rest(self):
        """Let everything come to rest."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def read(self):
        """The client reads all that it gets."""
        self.transport.slow = False
        self.transport.read(self.transport.unread)
        await self.rest()

    async def send(self, *parts):
        """Deliver data; return what has been written when everything has come to rest."""
        self.transport.written = b""
        for part in parts:
            if part:
                self.protocol.data_received(part)
            await self.rest()
        return self.transport.written


class Recorder:
    """An application that answers when it may. reached: the paths and bodies that came.

    cancelled: how many requests were.
    """

    def __init__(self):
        self.reached = []
        self.bodies = []
        self.cancelled = 0
        self.go_on = asyncio.Event()
        self.answer = b"from the application"
        self.headers = []

    async def __call__(self, scope, receive, send):
        self.reached.append(scope["path"])
        body = b""
        try:
            while True:
                message = await receive()
                body += message["body"]
                if not message["more_body"]:
                    break
            self.bodies.append(body)
            await self.go_on.wait()
            await send({"type": "http.response.start", "status": 200, "headers": self.headers})
            await send({"type": "http.response.body", "body": self.answer})
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def post(path, body=b'{"inputs": "a"}', more=""):
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
