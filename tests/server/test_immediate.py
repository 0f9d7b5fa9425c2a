"""What the protocol answers by itself: /health, and requests that are too many."""

import asyncio
from collections.abc import Iterator

import pytest

from fbg.server.app import POST_ROUTES
from fbg.server.http import protocol
from fbg.server.http.immediate import Immediate
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import State
from helpers.connections import Connection, post

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


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
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
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
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
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
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
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
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
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
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
            fill(state)
            connection.go_on.set()
            for request in (post("/nothing"), b"GET /embed HTTP/1.1\r\nHost: x\r\n\r\n"):
                assert b"from the application" in await connection.send(request)
            assert connection.reached == ["/nothing", "/embed"]

    asyncio.run(main())


def test_a_connection_is_closed_if_its_client_asks_for_that(state: State) -> None:
    async def main() -> None:
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
            fill(state)
            answer = await connection.send(post("/embed", more="Connection: close\r\n"))
            assert b"429" in answer and b"connection: close" in answer
            assert connection.transport.closed

    asyncio.run(main())


def test_a_pipelined_request_is_not_cut_off_by_the_timer_of_an_earlier_answer(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.05)

    async def main() -> None:
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
            connection.protocol.timeout_keep_alive = 0.05
            await connection.send(HEALTH + post("/embed"))
            assert connection.reached == ["/embed"]
            await asyncio.sleep(0.15)
            assert not connection.transport.closed
            connection.go_on.set()
            assert b"from the application" in await connection.send(b"")

    asyncio.run(main())


def test_a_body_that_never_arrives_does_not_keep_its_connection(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.05)

    async def main() -> None:
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
            fill(state)
            whole = post("/embed", b"x" * 1000)
            assert b"429" in await connection.send(whole[:100], whole[100:200])
            await asyncio.sleep(0.2)
            assert connection.transport.closed

    asyncio.run(main())


def test_a_client_that_reads_no_answers_is_not_read_either(state: State) -> None:
    async def main() -> None:
        async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
            connection.protocol.pause_writing()
            await connection.send(HEALTH)
            assert not connection.transport.reading
            connection.protocol.resume_writing()
            assert connection.transport.reading

    asyncio.run(main())


def test_the_last_answer_on_a_connection_says_so(state: State) -> None:
    async def main() -> None:
        for ask in (b"GET /health HTTP/1.0\r\n\r\n", HEALTH[:-2] + b"Connection: close\r\n\r\n"):
            async with Connection(state, Immediate(state, POST_ROUTES)) as connection:
                answer = await connection.send(ask)
                assert b"\r\nconnection: close\r\n" in answer
                assert connection.transport.closed

    asyncio.run(main())
