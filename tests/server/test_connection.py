"""Connections without sockets: order of requests, ends of connections, deadlines."""

import asyncio
import re
import socket
import struct

import pytest

from fbg.server import connection as connections
from fbg.server import guard
from fbg.server.guard import Guard
from helpers.connections import Connection, Recorder, post
from helpers.serving import ready_state

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def state():
    with ready_state() as made:
        yield made


class Answering(Recorder):
    """An application that answers at once."""

    def __init__(self):
        super().__init__()
        self.go_on.set()


async def refusing(scope, receive, send):
    """An application that answers without reading the body."""
    headers = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": b"no"})


def answers(written):
    return re.findall(rb"HTTP/1.1 (\d+)", written)


async def test_upgrades_are_ignored_and_the_body_belongs_to_its_request(state):
    hidden = post("/hidden")
    for upgrade in ("Upgrade: h2c\r\n", "Connection: Upgrade\r\nUpgrade: websocket\r\n"):
        app, sent = Answering(), post("/embed", hidden, upgrade)
        head = len(sent) - len(hidden)
        async with Connection(Guard(app, state)) as connection:
            written = await connection.send(sent[:head], sent[head:] + HEALTH)
            assert answers(written) == [b"200", b"200"]
        assert app.reached == ["/embed", "/health"] and app.bodies == [hidden, b""]


async def test_a_request_begins_when_the_answer_before_it_has_been_read(state):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        assert await connection.send(post("/one") + post("/two") + HEALTH) == b""
        assert app.reached == ["/one"]
        connection.transport.slow = True
        app.go_on.set()
        await connection.send(b"")
        assert app.reached == ["/one"]
        connection.transport.written = b""
        await connection.read()
        assert answers(connection.transport.written) == [b"200", b"200"]
        assert app.reached == ["/one", "/two", "/health"]


async def test_a_client_that_goes_away_cancels_its_request_and_those_behind_it(state):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        await connection.send(post("/one") + post("/two"))
    assert app.reached == ["/one"] and app.cancelled == 1


async def test_little_is_read_ahead_and_a_client_that_goes_away_is_seen(state):
    app, loop = Recorder(), asyncio.get_running_loop()
    async with Connection(Guard(app, state)) as helper:
        made = helper.protocol

        def connection():
            return connections.Connection(made.config, made.server_state, {})

        listening = await loop.create_server(connection, "127.0.0.1", 0)
        _, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        writer.write(b"".join(post(f"/{n}", b"x" * 100_000) for n in range(50)))
        for _ in range(100):
            await asyncio.sleep(0.02)
            if app.bodies:
                break
        (reading,) = made.server_state.connections - {made}
        assert isinstance(reading, connections.Connection)
        assert len(reading.conn.trailing_data[0]) < 1 << 20
        reset = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        writer.transport.abort()
        for _ in range(200):
            await asyncio.sleep(0.02)
            reading.look(loop.time())
            if app.cancelled:
                break
        assert app.cancelled == 1 and app.reached == ["/0"]
        listening.close()


@pytest.mark.alone
async def test_a_client_that_does_not_read_its_answer_is_cut_off(state, monkeypatch):
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(guard, "PIECE", 1000)
    app = Answering()
    app.answer = b"x" * 100_000
    async with Connection(Guard(app, state)) as connection:
        connection.transport.slow = True
        await connection.send(HEALTH)
        for _ in range(4):  # reads fast enough
            assert 0 < connection.transport.unread < 2000
            connection.transport.read(connection.transport.unread)
            await asyncio.sleep(0.07)
        assert not connection.transport.closed
        connection.transport.read(10)
        await asyncio.sleep(0.25)
        assert connection.transport.closed


@pytest.mark.parametrize("size", [100, 1_000_000])
async def test_the_rest_of_a_refused_body_is_passed_over(size, state):
    async with Connection(Guard(refusing, state)) as connection:
        whole = post("/embed", b"x" * size)
        parts = [whole[n : n + size // 5] for n in range(0, len(whole), size // 5)]
        assert answers(await connection.send(*parts)) == [b"429"]
        assert connection.transport.reading and not connection.transport.ended
        assert answers(await connection.send(HEALTH)) == [b"429"]


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.1)
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.1)
    yield


@pytest.mark.parametrize("sent", [b"", b"GET /hea", HEALTH + b"GET /", post("/", b"x" * 99)[:-1]])
async def test_what_does_not_arrive_in_time_ends_the_connection(sent, state, short):
    async with Connection(Guard(refusing, state), keep_alive_seconds=0.1) as connection:
        await connection.send(sent)
        assert not connection.transport.closed
        await asyncio.sleep(0.35)
        assert connection.transport.closed


@pytest.mark.alone
async def test_connections_may_be_idle_for_a_while_after_each_request(state, short):
    async with Connection(Guard(Answering(), state), keep_alive_seconds=0.1) as connection:
        for _ in range(4):
            await connection.send(HEALTH)
            await asyncio.sleep(0.06)
        assert not connection.transport.closed
        await asyncio.sleep(0.2)
        assert connection.transport.closed


@pytest.mark.alone
async def test_a_request_that_is_worked_on_has_no_deadline_of_the_connection(state, short):
    app = Recorder()
    async with Connection(Guard(app, state), keep_alive_seconds=0.1) as connection:
        await connection.send(post("/embed") + post("/embed"))
        await asyncio.sleep(0.25)
        assert not connection.transport.closed
        app.go_on.set()
        assert len(answers(await connection.send(b""))) == 2


@pytest.mark.parametrize("why", ["asked", "old", "asked, and more comes", "answer"])
async def test_the_last_answer_on_a_connection_says_so_once(why, state, short):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        asked = HEALTH[:-2] + b"Connection: close\r\n\r\n"
        more = {"old": HEALTH.replace(b"1.1", b"1.0"), "answer": HEALTH}
        await connection.send(more.get(why, asked) + (HEALTH if "more" in why else b""))
        if why == "answer":
            app.headers = [(b"connection", b"close")]
        app.go_on.set()
        written = await connection.send(b"")
        assert answers(written) == [b"200"]
        assert written.lower().count(b"connection: close\r\n") == 1
        # A client that may be sending is not reset before it has read its answer.
        assert connection.transport.ended
        assert connection.transport.closed == ("more" not in why)
        assert await connection.send(HEALTH) == b""
        await asyncio.sleep(0.25)
        assert connection.transport.closed and app.reached == ["/health"]


async def test_a_stop_ends_a_connection_with_the_answer(state):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        await connection.send(HEALTH)
        connection.protocol.shutdown()
        assert not connection.transport.ended
        app.go_on.set()
        assert answers(await connection.send(b"")) == [b"200"]
        assert connection.transport.closed
    async with Connection(Guard(app, state)) as connection:
        connection.protocol.shutdown()
        assert connection.transport.closed


async def test_what_is_no_request_is_refused_after_the_answers_before_it(state):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        assert await connection.send(HEALTH + b"nothing\r\n\r\n" + HEALTH) == b""
        app.go_on.set()
        written = await connection.send(b"")
        assert answers(written) == [b"200", b"400"] and b"connection: close" in written.lower()
        assert connection.transport.ended and not connection.transport.closed
        assert app.reached == ["/health"]


TWO_LENGTHS = post("/embed", b"1\r\na\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n")


@pytest.mark.parametrize("request_", [TWO_LENGTHS, TWO_LENGTHS.replace(b"Host", b"Ghost")])
async def test_requests_that_are_not_clear_are_refused(request_, state):
    app = Answering()
    async with Connection(Guard(app, state)) as connection:
        assert answers(await connection.send(request_ + HEALTH)) == [b"400"]
    assert app.reached == []


CHUNKED = b"POST /embed HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("body", [b"1\r\na\r\nx\r\n", b"1\r\na\r\n" * 10_000, b"1\r\naa\r\n"])
async def test_a_body_that_is_no_body_ends_its_request(body, state):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        assert answers(await connection.send(CHUNKED + b"1\r\na\r\n", body)) == [b"400"]
        assert app.cancelled == 1 and app.bodies == []
    async with Connection(Guard(refusing, state)) as connection:  # it has its answer already
        assert answers(await connection.send(CHUNKED + b"1\r\na\r\n", body)) == [b"429"]
        assert connection.transport.closed


async def test_a_body_may_come_in_small_chunks(state):
    app = Answering()
    async with Connection(Guard(app, state)) as connection:
        sent = CHUNKED + b"1\r\na\r\n" * 4000 + b"0\r\n\r\n"
        assert answers(await connection.send(sent, HEALTH)) == [b"200", b"200"]
    assert app.bodies == [b"a" * 4000, b""]


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_may_come_byte_by_byte(chunked, state):
    app, body = Answering(), b"a" * 5000
    sent = CHUNKED + b"1388\r\n" + body + b"\r\n0\r\n\r\n" if chunked else post("/embed", body)
    async with Connection(Guard(app, state)) as connection:
        for n in range(len(sent)):
            connection.protocol.data_received(sent[n : n + 1])
        assert answers(await connection.send(HEALTH)) == [b"200", b"200"]
    assert app.bodies == [body, b""]


def large_head(size, lines):
    """The head of a request with so many bytes and lines."""
    head = b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"a:b\r\n" * (lines - 3) + b"c:"
    return head + b"d" * (size - len(head) - 4) + b"\r\n\r\n"


@pytest.mark.parametrize("step", [1 << 20, 1000])
@pytest.mark.parametrize(
    ("size", "lines", "wanted"),
    [
        (connections.MAX_HEAD_BYTES, 3, b"200"),
        (connections.MAX_HEAD_BYTES + 1, 3, b"400"),
        (4000, connections.MOST_LINES, b"200"),
        (4000, connections.MOST_LINES + 1, b"400"),
        (200_000, 40_000, b"400"),
    ],
)
@pytest.mark.parametrize("before", [b"", HEALTH])
async def test_a_head_is_limited_however_it_arrives(before, size, lines, wanted, step, state):
    app, sent = Answering(), before + large_head(size, lines)
    async with Connection(Guard(app, state)) as connection:
        parts = [sent[n : n + step] for n in range(0, len(sent), step)]
        assert answers(await connection.send(*parts)) == [b"200"] * bool(before) + [wanted]
        assert connection.transport.ended == (wanted == b"400")


@pytest.mark.parametrize("step", [1, 1000])
@pytest.mark.parametrize("empty", [b"\r\n", b"\r\n\r\n", b"\n"])
async def test_empty_lines_before_a_request_are_passed_over(empty, step, state):
    app, sent = Answering(), empty + post("/one") + empty + HEALTH + empty
    async with Connection(Guard(app, state)) as connection:
        parts = [sent[n : n + step] for n in range(0, len(sent), step)]
        assert answers(await connection.send(*parts)) == [b"200", b"200"]
        assert answers(await connection.send(HEALTH)) == [b"200"]
    assert app.reached == ["/one", "/health", "/health"]


@pytest.mark.parametrize("more", [b"\r\n", HEALTH, b"\0"])
async def test_what_follows_the_last_request_does_not_end_it(more, state):
    app, last = Recorder(), HEALTH[:-2] + b"Connection: close\r\n\r\n"
    async with Connection(Guard(app, state)) as connection:
        assert await connection.send(last, more, more) == b""
        assert app.cancelled == 0 and not connection.transport.reading
        app.go_on.set()
        assert answers(await connection.send(b"")) == [b"200"]
        assert connection.transport.ended and not connection.transport.closed  # lingers
    assert app.reached == ["/health"]


async def test_a_connection_is_idle_after_its_request_was_refused(state):
    """So that it does not hold up the end of the server."""
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        await connection.send(CHUNKED)
        assert not connection.protocol.is_idle
        assert answers(await connection.send(b"x\r\n")) == [b"400"]
        assert not connection.transport.closed and connection.protocol.is_idle


@pytest.mark.parametrize("slow", [False, True])
async def test_the_time_for_a_head_begins_after_the_answer_before_it(
    slow, state, short, monkeypatch
):
    """However long that took to compute or to read."""
    monkeypatch.setattr(Connection, "_look", Connection.rest)  # only this test looks
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        connection.transport.slow = slow
        now, protocol = asyncio.get_running_loop().time, connection.protocol
        if slow:
            app.go_on.set()
        await connection.send(HEALTH, HEALTH[:5])
        await asyncio.sleep(0.15)
        protocol.look(now())
        app.go_on.set()
        await connection.read() if slow else await connection.rest()
        await connection.send(HEALTH[5:9])
        protocol.look(now())
        assert not connection.transport.closed
        assert answers(await connection.send(HEALTH[9:])) == [b"200"]


async def test_clients_are_told_to_go_on_if_they_wait(state):
    for app, wanted in ((Answering(), [b"100"]), (refusing, [b"429"])):
        async with Connection(Guard(app, state)) as connection:
            whole = post("/embed", b"hello", "Expect: 100-continue\r\n")
            assert answers(await connection.send(whole[:-5])) == wanted
            # Whether the body of a refused request still comes, the server cannot know.
            assert connection.transport.ended == (app is refusing)
            wanted = [] if app is refusing else [b"200"]
            assert answers(await connection.send(b"hello")) == wanted
            assert answers(await connection.send(whole)) == ([b"100", b"200"] if wanted else [])


async def test_answers_to_head_have_no_body(state):
    app = Answering()
    app.headers = [(b"content-length", b"20")]
    async with Connection(Guard(app, state)) as connection:
        written = await connection.send(HEALTH.replace(b"GET", b"HEAD"))
        assert b"content-length: 20\r\n" in written.lower() and written.endswith(b"\r\n\r\n")


async def test_the_server_may_end_while_a_request_is_worked_on(state):
    app = Recorder()
    async with Connection(Guard(app, state)) as connection:
        await connection.send(HEALTH)
        connection.protocol.shutdown()
        (task,) = connection.protocol.server_state.tasks
        task.cancel()
        assert answers(await connection.send(b"")) == [b"503"]
        assert connection.transport.closed and app.cancelled == 1
