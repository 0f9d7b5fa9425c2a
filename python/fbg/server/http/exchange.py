"""One request and its answer, as an ASGI application sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from starlette.types import Message, Scope

from fbg.server.http.requests import Head
from fbg.server.replies import CLOSE, Headers

ASGI = {"version": "3.0", "spec_version": "2.3"}
_STATUS_LINES = {
    status.value: b"HTTP/1.1 %d %s\r\n" % (status.value, status.phrase.encode())
    for status in HTTPStatus
}

Write = Callable[[bytes, bytes], Awaitable[None]]


class Exchange:
    """A request that an application answers.

    write: sends the head and the body of the answer, and returns when the client has read them.
    wants_body: called when the application waits for more of the body. more: headers that every
    answer has. waiting: bytes of the body that the application has not taken. arrived: whether all
    of it has come. last: no other request may follow. answered: the application has handed over its
    answer, and reads no more. invited: the client does not wait for `100 Continue`, or has got it.
    """

    def __init__(
        self, head: Head, write: Write, wants_body: Callable[[], None], more: Headers
    ) -> None:
        self.head = head
        self.waiting = 0
        self.last = not head.keep_alive
        self.answered = False
        self.invited = not head.waits
        self._write = write
        self._wants_body = wants_body
        self._more = more
        self._parts: list[bytes] = []
        self.arrived = head.length == 0
        self._taken = False
        self._wake: asyncio.Future[None] | None = None
        self._start: Message = {}
        self._answer: list[bytes] = []
        self._begun = False  # whether the head of the answer has been sent

    def scope(self, client: Any, server: Any, scheme: str) -> Scope:
        """Return the ASGI scope of the request."""
        head = self.head
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": head.version,
            "server": server,
            "client": client,
            "scheme": scheme,
            "method": head.method,
            "root_path": "",
            "path": head.path,
            "raw_path": head.raw_path,
            "query_string": head.query,
            "headers": head.headers,
        }

    def add(self, part: bytes, complete: bool) -> None:
        """Take a part of the body that has arrived. complete: whether it is the last."""
        self.arrived = complete
        if self.answered:
            return
        self._parts.append(part)
        self.waiting += len(part)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def receive(self) -> Message:
        """Return the next part of the body; after the last, wait for ever.

        An application is not told that its client went away: its task is cancelled.
        """
        while self._taken or not (self.arrived or self.waiting):
            self._wake = asyncio.get_running_loop().create_future()
            if not self._taken:
                self._wants_body()
            await self._wake
        body = b"".join(self._parts)
        self._parts.clear()
        self.waiting = 0
        self._taken = self.arrived
        self._wants_body()
        return {"type": "http.request", "body": body, "more_body": not self._taken}

    async def send(self, message: Message) -> None:
        """Take a part of the answer; the last one returns when the client has read all of it.

        Parts are sent as they come if the headers say how long the answer is, else all at once.
        """
        if message["type"] == "http.response.start":
            self._start = message
            return
        more = message.get("more_body", False)
        self._answer.append(message.get("body", b""))
        if more and not any(name == b"content-length" for name, _ in self._start["headers"]):
            return
        if not more:
            self.answered = True
            self._parts.clear()
            self.waiting = 0
        body = b"".join(self._answer) if len(self._answer) > 1 else self._answer[0]
        self._answer.clear()
        head = b"" if self._begun else self._head(len(body))
        self._begun = True
        await self._write(head, b"" if self.head.method == "HEAD" else body)

    def _head(self, length: int) -> bytes:
        """Return the head of the answer, and decide whether another request may follow."""
        if not (self.invited or self.arrived):
            self.last = True  # whether the body still comes, only the client knows
        headers: list[tuple[bytes, bytes]] = [*self._more, *self._start["headers"]]
        if CLOSE in headers:
            self.last = True
        elif self.last:
            headers.append(CLOSE)
        return answer_head(self._start["status"], headers, length)


def answer_head(status: int, headers: Headers, length: int) -> bytes:
    """Return the head of an answer. length: that of its body, unless the headers say it."""
    lines = [_STATUS_LINES[status]]
    for name, value in headers:
        lines += name, b": ", value, b"\r\n"
        if name.lower() == b"content-length":
            length = -1
    if length >= 0:
        lines.append(b"content-length: %d\r\n" % length)
    lines.append(b"\r\n")
    return b"".join(lines)
