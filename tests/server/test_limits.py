"""What requests and their answers may cost: places, bytes and time, until the client has both."""

import asyncio
import http.client
import json
import re
import socket
import threading

import msgspec
import pytest

from fbg.server import answers
from fbg.server.endpoint import Endpoint, Route
from fbg.server.guard import Guard
from fbg.server.routes import tei
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import Call, State
from helpers.connections import Connection, post
from helpers.serving import ready_state

KEY = "Authorization: Bearer key\r\n"


class Wanted(msgspec.Struct):
    """A body that says how many items the answer has."""

    items: int
    text: str = ""


async def give(call, message):
    return ["1234567"] * message.items  # 10 bytes each


@pytest.fixture
def state():
    limits = {"max_body": 50_000, "max_answer": 100_000, "max_held": 148_000}
    with ready_state(max_concurrent_requests=3, api_keys=("key",), **limits) as made:
        yield made
    made.encoders.shutdown()
    assert made.requests == 0 and made.held == 0


def served(state):
    return Guard(Endpoint(state, Route("/give", give, Wanted, "embed")), state)


def ask(items, text=""):
    return post("/give", json.dumps({"items": items, "text": text}).encode(), KEY)


async def answer(connection, request):
    """Return the answer, which may be made in a thread."""
    written = await connection.send(request)
    for _ in range(200):
        if connection.transport.written:
            break
        await asyncio.sleep(0.01)
    return written or connection.transport.written


async def test_a_request_has_its_place_until_the_client_has_read_the_answer(state):
    app, slow = served(state), list[Connection]()
    for _ in range(3):
        connection = await Connection(app).__aenter__()
        connection.transport.slow = True
        assert b" 200 " in await answer(connection, ask(10))
        slow.append(connection)
    async with Connection(app) as other:
        assert b" 429 " in await other.send(ask(10))
        await slow[0].read()
        assert b" 200 " in await other.send(ask(10))
    for connection in slow:
        await connection.__aexit__()
    assert state.requests == 0


async def test_bytes_of_answers_count_until_they_have_been_read(state):
    async with Connection(served(state)) as slow, Connection(served(state)) as other:
        slow.transport.slow = True
        assert b" 200 " in await answer(slow, ask(9000))
        assert state.held > 90_000
        refused = await answer(other, ask(9000))
        assert b" 429 " in refused and b"together are too large" in refused
        await slow.read()
        assert b" 200 " in await answer(other, ask(9000))


async def test_bytes_of_bodies_count_while_they_arrive(state):
    async with Connection(served(state)) as slow, Connection(served(state)) as other:
        await slow.send(ask(1, "x" * 49_000)[:-1])
        assert state.held > 49_000
        assert b" 429 " in await answer(other, ask(9990))
        assert b" 200 " in await slow.send(b"}")


async def test_a_client_that_goes_away_gives_all_back(state):
    async with Connection(served(state)) as slow:
        slow.transport.slow = True
        await answer(slow, ask(9000))
    assert state.requests == 0 and state.held == 0


async def test_an_answer_that_is_too_large_is_a_named_error(state):
    async with Connection(served(state)) as connection:
        refused = await answer(connection, ask(10_001))
        assert b" 422 " in refused and b"must have at most 100000 bytes" in refused


def test_what_fails_in_a_request_is_answered(state, caplog):
    async def main():
        async with Connection(served(state)) as connection:
            refused = await connection.send(post("/give"))
            assert refused.startswith(b"HTTP/1.1 401 ") and b"www-authenticate" in refused
            state.metrics.success = None
            failed = await connection.send(ask(1))
            assert failed.startswith(b"HTTP/1.1 424 ")
            assert b"the request failed" in failed and b"NoneType" not in failed

    asyncio.run(main())
    assert "a request failed" in caplog.text


def test_values_are_encoded_alike_in_parts_and_as_a_whole():
    values = [
        [],
        {},
        [[]],
        {"data": [{"a": [1.5] * 3000}, {"b": None}], "n": 1},
        [["x" * 200_000], {"a": "b"}, [], [[1]] * 3000],
        [{"label": "x", "score": 0.5}] * 9000,
    ]
    for value in values:
        assert b"".join(answers.json_parts(value)) == msgspec.json.encode(value)


# --- Requests that ask for much -------------------------------------------------------------------

MUCH = {
    "guesses with long texts": (
        "/fill_mask",
        {"inputs": "[MASK] a " * 500, "parameters": {"top_k": 1000}},
    ),
    "windows of a text": (
        "/ner",
        {"inputs": "a " * 3000, "parameters": {"stride": 61}},
    ),
    "windows of a context": (
        "/answer",
        {
            "inputs": {"question": "a", "context": "a " * 3000},
            "parameters": {"max_seq_len": 62, "doc_stride": 57},
        },
    ),
    "answers to compare": (
        "/answer",
        {"inputs": {"question": "a", "context": "a " * 400}, "parameters": {"top_k": 10**6}},
    ),
}


@pytest.mark.parametrize("what", MUCH)
def test_requests_for_too_much_are_refused(what, client):
    path, body = MUCH[what]
    refused = client.post(path, json=body)
    assert refused.status_code == 422, refused.text[:200]
    assert "at most" in refused.json()["error"]


def test_many_tokens_are_answered_in_parts(client):
    """All of them are there, although they are encoded some at a time."""
    tokens = client.post("/tokenize", json={"inputs": ["the dog " * 600] * 3}).json()
    assert len({len(some) for some in tokens}) == 1 and len(tokens[0]) > 1200
    assert tokens[0] == tokens[2]
    texts = client.post("/decode", json={"ids": [[5, 3] * 600] * 3}).json()
    assert texts == client.post("/decode", json={"ids": [[5, 3] * 600]}).json() * 3


@pytest.mark.parametrize("path", ["/tokenize", "/decode"])
def test_tokens_are_encoded_in_threads(path, monkeypatch):
    source = ModelSource("m", "nowhere")
    state, threads = State(Settings((source,), access_log=False), 1), set[threading.Thread]()

    def parts():
        threads.add(threading.current_thread())
        yield [b"1"]

    monkeypatch.setattr(tei, "_tokens", lambda *_: parts())
    monkeypatch.setattr(tei, "_decoded", lambda *_: parts())
    message = {
        "/tokenize": tei.Tokenization(inputs="a"),
        "/decode": tei.Decoding(ids=[1]),
    }[path]

    async def choose(*_):
        return _Named()

    monkeypatch.setattr(Call, "choose", choose)
    route = next(route for route in tei.ROUTES if route.path == path)

    async def main():
        call = Call(state)
        return await answers.json_of(call, await route.answer(call, message))

    assert b"1" in asyncio.run(main())
    assert threads and threading.current_thread() not in threads
    state.batcher.close()
    state.encoders.shutdown()


class _Named:
    """A model without tokens."""

    class model:
        prompts = {}  # noqa: RUF012


# --- Over sockets ---------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [200_000, 5_000_000])
def test_clients_that_send_too_much_get_their_answer(size, server):
    for _ in range(5):
        host = server.url.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=20)
        connection.request("POST", "/embed", b'{"inputs":"' + b"a" * size + b'"}')
        assert connection.getresponse().status == 413
        connection.close()


BODIES = [
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


def answer_of(server, *parts):
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
        received = received.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    return lines[0], {line.split(b":")[0] for line in lines[1:]}, body


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("path", ["/embed", "/v1/embeddings", "/rerank", "/v2/rerank"])
def test_a_request_in_parts_has_the_same_answer(path, body, server):
    whole = post(path, body, "Connection: close\r\nExpect: 100-continue\r\n")
    end = whole.index(b"\r\n\r\n") + 4
    at_once = answer_of(server, whole)
    in_parts = answer_of(server, whole[:end], whole[end:])
    ids = rb'"id":"\w+"'
    assert [re.sub(ids, b"", part) for part in (at_once[0], at_once[2])] == [
        re.sub(ids, b"", part) for part in (in_parts[0], in_parts[2])
    ]
    assert at_once[1] == in_parts[1]
