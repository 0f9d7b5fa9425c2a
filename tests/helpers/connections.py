"""A connection to the HTTP protocol of the server, without sockets."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from fbg.server.http.direct import Direct
from fbg.server.http.immediate import Immediate
from fbg.server.http.protocol import protocol_with
from fbg.server.state import State


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.writes = 0
        self.closed = False
        self.reading = True

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def write(self, data: Any) -> None:
        self.written += data
        self.writes += 1

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


@dataclass
class Connection:
    """A connection to a server whose application records what reaches it.

    immediate, direct: what the protocol answers by itself.
    """

    state: State
    immediate: Immediate | None = None
    direct: Direct | None = None
    reached: list[str] = field(default_factory=list)

    async def __aenter__(self) -> Connection:
        config = uvicorn.Config(
            self._app, interface="asgi3", log_config=None, lifespan="off", proxy_headers=False
        )
        config.load()
        kind = protocol_with(self.immediate, self.direct)
        server = ServerState()
        server.default_headers = [(b"date", b"today")]
        self.protocol = kind(config, server, {}, asyncio.get_running_loop())
        self.transport = Transport()
        self.protocol.connection_made(self.transport)
        self.go_on = asyncio.Event()
        return self

    async def __aexit__(self, *error: object) -> None:
        self.protocol.connection_lost(None)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.reached.append(scope["path"])
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"from the application"})

    async def send(self, *parts: bytes) -> bytes:
        """Deliver data; return what has been written when everything has come to rest."""
        self.transport.written = b""
        for part in parts:
            self.protocol.data_received(part)
            for _ in range(5):
                await asyncio.sleep(0)
        return self.transport.written


def post(path: str, body: bytes = b'{"inputs": "a"}', more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
