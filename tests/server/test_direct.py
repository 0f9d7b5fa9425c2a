"""Requests that arrive as a whole: answered without ASGI, and as ASGI would answer them."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from fbg.server.endpoint import Endpoint, Route
from fbg.server.errors import Dialect
from fbg.server.http import protocol
from fbg.server.http.direct import Direct
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import Call, State
from helpers.connections import Connection, post
from helpers.serving import RunningServer


class Text(msgspec.Struct):
    inputs: str


class Service:
    """A route that answers with what it was given, when it may."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.go_on = asyncio.Event()
        self.cancelled = 0
        route = Route("/embed", self.answer, Text, "embed", Dialect.TEI)
        self.direct = Direct(state, {"/embed": Endpoint(state, route)})

    async def answer(self, call: Call, message: Text) -> list[str]:
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return [message.inputs]

    def connection(self) -> Connection:
        return Connection(self.state, direct=self.direct)


@pytest.fixture
def state() -> Iterator[State]:
    source = ModelSource("m", "nowhere")
    limits = {"max_body": 1000, "access_log": False, "api_keys": ("key",)}
    made = State(Settings((source,), **limits), 1)  # type: ignore[arg-type]
    made.ready = True
    yield made
    made.queue.close()


KEY = "Authorization: Bearer key\r\n"


def ask(text: str, more: str = "") -> bytes:
    return post("/embed", json.dumps({"inputs": text}).encode(), KEY + more)


def test_a_whole_request_is_answered_in_one_write_without_the_application(state: State) -> None:
    async def main() -> None:
        service = Service(state)
        async with service.connection() as connection:
            service.go_on.set()
            for text in ("one", "two"):  # on one connection
                answer = await connection.send(ask(text, "X-Request-Id: mine\r\n"))
                head, _, body = answer.partition(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 OK\r\n")
                assert json.loads(body) == [text]
                assert b"content-length: %d" % len(body) in head
                assert b"x-request-id: mine" in head and b"date: today" in head
                assert not connection.transport.closed
            assert connection.transport.writes == 2 and connection.reached == []

    asyncio.run(main())
    assert b'te_request_success{method="embed"} 2.0' in state.metrics.text()


def test_other_requests_reach_the_application(state: State) -> None:
    async def main() -> None:
        async with Service(state).connection() as connection:
            connection.go_on.set()
            whole = ask("one")
            requests = (
                (whole[:-5], whole[-5:]),
                (post("/embed?x=1"),),
                (post("/other"),),
                (b"GET /embed HTTP/1.1\r\nHost: x\r\n\r\n",),
            )
            for parts in requests:
                assert b"from the application" in await connection.send(*parts)
            assert connection.reached == ["/embed", "/embed", "/other", "/embed"]

    asyncio.run(main())


def test_requests_on_a_connection_are_answered_in_their_order(state: State) -> None:
    async def main() -> None:
        service = Service(state)
        async with service.connection() as connection:
            connection.go_on.set()
            assert await connection.send(ask("one") + ask("two") + post("/other")) == b""
            service.go_on.set()
            answer = await connection.send(b"") + await connection.send(ask("four"))
            assert re.findall(rb'\["one"\]|from the app|\["four"\]', answer) == [
                b'["one"]',
                b"from the app",
                b"from the app",
                b'["four"]',
            ]
            assert connection.reached == ["/embed", "/other"]

    asyncio.run(main())


def test_a_client_that_goes_away_cancels_its_request(state: State) -> None:
    async def main() -> None:
        service = Service(state)
        async with service.connection() as connection:
            await connection.send(ask("one"))
            connection.protocol.connection_lost(ConnectionResetError())
            for _ in range(5):
                await asyncio.sleep(0)
            assert service.cancelled == 1
            assert connection.transport.written == b""

    asyncio.run(main())
    state.enter()  # the request holds no place
    assert not state.full


@pytest.mark.parametrize("why", ["asked", "old", "draining", "too large"])
def test_the_last_answer_on_a_connection_says_so_once(why: str, state: State) -> None:
    request = {
        "asked": ask("one", "Connection: close\r\n"),
        "old": ask("one").replace(b"HTTP/1.1", b"HTTP/1.0"),
        "draining": ask("one"),
        "too large": ask("1" * 2000, "Connection: close\r\n"),
    }[why]

    async def main() -> None:
        service = Service(state)
        async with service.connection() as connection:
            service.go_on.set()
            state.draining = why == "draining"
            answer = await connection.send(request)
            status = b"413" if why == "too large" else b"200"
            assert answer.startswith(b"HTTP/1.1 " + status)
            assert answer.count(b"connection: close\r\n") == 1
            assert connection.transport.closed

    asyncio.run(main())


def test_what_fails_in_a_request_is_answered(
    state: State, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        service = Service(state)
        async with service.connection() as connection:
            answer = await connection.send(post("/embed"))
            assert answer.startswith(b"HTTP/1.1 401 ") and b"www-authenticate" in answer
            service.state.metrics.success = None  # type: ignore[assignment, method-assign]
            service.go_on.set()
            answer = await connection.send(ask("one"))
            assert answer.startswith(b"HTTP/1.1 424 ")
            assert b"the request failed" in answer and b"NoneType" not in answer

    asyncio.run(main())
    assert "a request failed" in caplog.text


@pytest.mark.parametrize("idle", [True, False])
def test_connections_end_if_the_next_request_does_not_come(
    idle: bool, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 30.0 if idle else 0.1)

    async def main() -> None:
        service = Service(state)
        service.go_on.set()
        async with service.connection() as connection:
            kept: Any = connection.protocol
            kept.timeout_keep_alive = 0.1 if idle else 30.0
            for _ in range(4):
                await connection.send(ask("one"))
                await asyncio.sleep(0.04)
            assert not connection.transport.closed
            if not idle:
                await connection.send(b"POST /embed HT")
            await asyncio.sleep(0.3)
            assert connection.transport.closed

    asyncio.run(main())


# --- Both ways have the same answers --------------------------------------------------------------

BODIES: list[Any] = [
    b'{"inputs": "the dog"}',
    b'{"inputs": ["the dog", "a fox"], "normalize": false}',
    b'{"inputs": ""}',
    b'{"inputs": 5}',
    b"{",
    b'{"inputs": "a", "model": "other"}',
    b'{"input": "the dog", "encoding_format": "base64"}',
    b'{"query": "a", "texts": ["b", "c"]}',
    b'{"query": "a", "documents": ["b"], "top_n": 0}',
]


def answer_of(server: RunningServer, *parts: bytes) -> tuple[bytes, set[bytes], bytes]:
    """Return status line, names of headers and body."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        received = b""
        for n, part in enumerate(parts):
            if n:  # the server reads the first part by itself: it asks for the rest
                while b"100 Continue\r\n\r\n" not in received:
                    received += connection.recv(4096)
                received = b""
            connection.sendall(part)
        while data := connection.recv(65536):
            received += data
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    return lines[0], {line.split(b":")[0] for line in lines[1:]}, body


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("path", ["/embed", "/v1/embeddings", "/rerank", "/v2/rerank"])
def test_a_request_in_parts_has_the_same_answer(
    path: str, body: bytes, server: RunningServer
) -> None:
    whole = post(path, body, "Connection: close\r\nExpect: 100-continue\r\n")
    end = whole.index(b"\r\n\r\n") + 4
    at_once = answer_of(server, whole)
    in_parts = answer_of(server, whole[:end], whole[end:])
    ids = rb'"id":"\w+"'
    assert [re.sub(ids, b"", part) for part in (at_once[0], at_once[2])] == [
        re.sub(ids, b"", part) for part in (in_parts[0], in_parts[2])
    ]
    assert at_once[1] == in_parts[1]
