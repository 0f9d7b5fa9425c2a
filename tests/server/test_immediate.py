"""What the protocol answers by itself: /health, and requests that are too many."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from fbg.server import protocol
from fbg.server.app import POST_ROUTES
from fbg.server.immediate import Immediate
from fbg.server.protocol import protocol_with
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import State

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False
        self.reading = True

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name in ("peername", "sockname") else default

    def write(self, data: Any) -> None:
        self.written += data

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
    """A connection to a server whose application records what reaches it."""

    state: State
    reached: list[str] = field(default_factory=list)

    async def __aenter__(self) -> "Connection":
        config = uvicorn.Config(
            self._app, interface="asgi3", log_config=None, lifespan="off", proxy_headers=False
        )
        config.load()
        kind = protocol_with(Immediate(self.state, POST_ROUTES))
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


@pytest.fixture
def state() -> Iterator[State]:
    source = ModelSource("m", "nowhere")
    made = State(Settings((source,), max_concurrent_requests=2, access_log=False), 1)
    made.ready = True
    yield made
    made.queue.close()


def fill(state: State) -> None:
    while not state.full:
        state.enter()


def test_requests_that_are_too_many_do_not_reach_the_application(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            fill(state)
            answer = await connection.send(post("/embed", more="X-Request-Id: mine\r\n"))
            assert answer.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
            head, _, body = answer.partition(b"\r\n\r\n")
            assert b"retry-after: 1" in head and b"x-request-id: mine" in head
            assert b"date: today" in head and b"content-length: %d" % len(body) in head
            assert b'"error_type":"Overloaded"' in body
            answer = await connection.send(post("/v1/embeddings"))
            assert b'"code":"rate_limit_exceeded"' in answer
            assert connection.reached == []
            state.leave()
            connection.go_on.set()
            answer = await connection.send(post("/embed"))
            assert b"from the application" in answer
            assert connection.reached == ["/embed"]

    asyncio.run(main())
    assert b'te_request_failure{err="overloaded"} 2.0' in state.metrics.text()
    assert b'te_request_count{method="embed"} 2.0' in state.metrics.text()


def test_the_body_of_a_refused_request_is_passed_over(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            fill(state)
            whole = post("/embed", b"x" * 1000)
            answer = await connection.send(whole[:80], whole[80:500], whole[500:])
            assert answer.count(b"HTTP/1.1 429") == 1
            state.leave()
            connection.go_on.set()
            assert (await connection.send(post("/embed"))).startswith(b"HTTP/1.1 200")
            assert connection.reached == ["/embed"]

    asyncio.run(main())


def test_answers_keep_the_order_of_requests_on_a_connection(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            assert await connection.send(post("/embed")) == b""
            fill(state)
            assert await connection.send(post("/embed_all")) == b""
            connection.go_on.set()
            answer = await connection.send(b"")
            assert answer.count(b"from the application") == 2
            assert connection.reached == ["/embed", "/embed_all"]

    asyncio.run(main())


def test_health_is_answered_at_once_unless_the_server_ends(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            fill(state)
            answer = await connection.send(HEALTH)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert b"content-length: 0\r\n" in answer and answer.endswith(b"\r\n\r\n")
            assert connection.reached == [] and not connection.transport.closed
            state.draining = True
            connection.go_on.set()
            await connection.send(HEALTH)
            assert connection.reached == ["/health"]

    asyncio.run(main())


def test_other_requests_reach_the_application_of_a_full_server(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            fill(state)
            connection.go_on.set()
            for request in (post("/nothing"), b"GET /embed HTTP/1.1\r\nHost: x\r\n\r\n"):
                assert b"from the application" in await connection.send(request)
            assert connection.reached == ["/nothing", "/embed"]

    asyncio.run(main())


def test_a_connection_is_closed_if_its_client_asks_for_that(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            fill(state)
            answer = await connection.send(post("/embed", more="Connection: close\r\n"))
            assert b"429" in answer and b"connection: close" in answer
            assert connection.transport.closed

    asyncio.run(main())


def test_a_pipelined_request_is_not_cut_off_by_the_timer_of_an_earlier_answer(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            await connection.send(HEALTH + post("/embed"))
            assert connection.reached == ["/embed"]
            assert connection.protocol.timeout_keep_alive_task is None
            connection.go_on.set()
            assert b"from the application" in await connection.send(b"")

    asyncio.run(main())


def test_a_body_that_never_arrives_does_not_keep_its_connection(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.05)

    async def main() -> None:
        async with Connection(state) as connection:
            fill(state)
            whole = post("/embed", b"x" * 1000)
            assert b"429" in await connection.send(whole[:100], whole[100:200])
            await asyncio.sleep(0.2)
            assert connection.transport.closed

    asyncio.run(main())


def test_a_client_that_reads_no_answers_is_not_read_either(state: State) -> None:
    async def main() -> None:
        async with Connection(state) as connection:
            connection.protocol.pause_writing()
            await connection.send(HEALTH)
            assert not connection.transport.reading
            connection.protocol.resume_writing()
            assert connection.transport.reading

    asyncio.run(main())


def test_the_last_answer_on_a_connection_says_so(state: State) -> None:
    async def main() -> None:
        for ask in (b"GET /health HTTP/1.0\r\n\r\n", HEALTH[:-2] + b"Connection: close\r\n\r\n"):
            async with Connection(state) as connection:
                answer = await connection.send(ask)
                assert b"\r\nconnection: close\r\n" in answer
                assert connection.transport.closed

    asyncio.run(main())
