"""Requests of each dialect, and the forms of their answers: tests/data/serving_exchanges.json.

    path, request     a POST request with this JSON; "content" stands for a body that is no JSON,
                      "times" adds fields with lists of so many short texts, neither makes it a GET
    server            "locked": one that has a key; "full": one that is overloaded; "starting": one
                      whose models are not loaded yet; without it, one with a model of every kind
    status, headers   of the answer
    response, lines   its JSON, or lines of its text

An answer must have the fields and the JSON types of the one in the file, no more and no fewer; each
element of a list must have those of the first element there. What programs read of
errors is compared as well. Other values are compared in other tests.
"""

import asyncio
import json
import select
import socket
import time
from contextlib import ExitStack, contextmanager, nullcontext

import httpx
import pytest

from fbg.server.app import PAGES, POST_ROUTES, build_app
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import State
from helpers.minilm import DATA
from helpers.serving import running

EXCHANGES = json.loads((DATA / "serving_exchanges.json").read_text(encoding="utf-8"))

# What programs read of an error; the words in it are for people.
READ_BY_PROGRAMS = ("type", "param", "code", "error_type")


def form(value):
    """The JSON type of a value; integers are numbers, and booleans are not."""
    if isinstance(value, bool) or value is None:
        return str(type(value))
    return "number" if isinstance(value, (int, float)) else str(type(value))


def check_form(got, wanted, where):
    assert form(got) == form(wanted), where
    if isinstance(wanted, dict):
        assert got.keys() == wanted.keys(), where
        for key in wanted:
            check_form(got[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert got, where
        for n, item in enumerate(got):
            check_form(item, wanted[0], f"{where}[{n}]")


def check_error(got, wanted):
    nested = (got["error"], wanted["error"]) if isinstance(wanted.get("error"), dict) else ()
    for ours, theirs in [(got, wanted), nested] if nested else [(got, wanted)]:
        for key in READ_BY_PROGRAMS:
            assert ours.get(key) == theirs.get(key), key


class StartingServer(httpx.BaseTransport):
    """The application of a server whose models are not loaded yet."""

    def handle_request(self, request):
        async def answer():
            transport = httpx.ASGITransport(build_app(state))
            async with httpx.AsyncClient(transport=transport) as client:
                content = request.read()
                return await client.request(request.method, str(request.url), content=content)

        state = State(Settings((ModelSource("m", "nowhere"),), access_log=False), 1)
        try:
            got = asyncio.run(answer())
        finally:
            state.batcher.close()
        return httpx.Response(got.status_code, headers=got.headers, content=got.content)


def has_answer(connection):
    return bool(select.select([connection], [], [], 0)[0])


@contextmanager
def place_held(client):
    """Hold the only place of a server by a request whose body does not arrive.

    That request is refused, and sent again, if another one has the place, such as that of the test
    before.
    """
    address = client.base_url.host, client.base_url.port
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.create_connection(address) as held:
            held.sendall(b"POST /embed HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            while not has_answer(held) and time.monotonic() < deadline:
                refused = client.post("/embed", json={"inputs": "a"}).status_code == 429
                if refused and not has_answer(held):
                    yield
                    return
    raise AssertionError("the place in the server could not be held for 20 seconds")


@pytest.fixture(scope="module")
def servers(server, directories):
    """Clients by the kind of server that they ask."""
    with ExitStack() as stack:

        def client(url):
            return stack.enter_context(httpx.Client(base_url=url, timeout=30))

        locked = stack.enter_context(running(str(directories["text"]), FBG_API_KEY="secret"))
        one_place = ("--max-concurrent-requests", "1")
        full = stack.enter_context(running(str(directories["text"]), *one_place))
        starting = httpx.Client(base_url="http://starting", transport=StartingServer())
        yield {
            "open": client(server.url),
            "locked": client(locked.url),
            "full": client(full.url),
            "starting": stack.enter_context(starting),
        }


def ask(client, exchange):
    if "content" in exchange:
        return client.post(exchange["path"], content=exchange["content"])
    if "request" not in exchange:
        return client.get(exchange["path"])
    many = {field: ["a"] * count for field, count in exchange.get("times", {}).items()}
    return client.post(exchange["path"], json=exchange["request"] | many)


@pytest.mark.parametrize("name", EXCHANGES)
def test_answers_have_the_form_that_clients_expect(name, servers):
    exchange = EXCHANGES[name]
    client = servers[exchange.get("server", "open")]
    with place_held(client) if exchange.get("server") == "full" else nullcontext():
        answer = ask(client, exchange)
    assert answer.status_code == exchange["status"], answer.text
    for header in exchange.get("headers", ()):
        assert answer.headers[header] == "cpu" or answer.headers[header].isdigit()
    if "lines" in exchange:
        assert set(exchange["lines"]) <= set(answer.text.splitlines())
        assert bool(exchange["lines"]) == bool(answer.text)
        return
    check_form(answer.json(), exchange["response"], name)
    if exchange["status"] >= 400:
        check_error(answer.json(), exchange["response"])


def test_every_route_has_an_exchange():
    """What models of several vectors answer is compared in test_vectors.py, chunks in
    test_chunks.py, pictures in test_pictures.py, what networks do in test_networks.py, and the
    description of the server in test_openapi.py.
    """
    paths = {exchange["path"] for exchange in EXCHANGES.values() if exchange["status"] == 200}
    routes = {route.path for route in POST_ROUTES} | {page.path for page in PAGES}
    assert "/v1/models/text" in paths
    others = {"/v1/models/{name:path}", "/embed_multi", "/embed_hybrid", "/embed_chunks"}
    others |= {"/openapi.json", "/embed_image", "/classify_image"}
    networks = {f"/v2/models/{{name:path}}{end}" for end in ("", "/ready", "/infer")}
    assert routes - paths == others | networks | {"/v2/health/live", "/v2/health/ready"}


@pytest.mark.parametrize("dialect", ["openai", "tei", "cohere"])
def test_every_dialect_has_an_exchange_for_each_of_its_errors(dialect):
    found = {item["status"] for name, item in EXCHANGES.items() if name.startswith(dialect)}
    wanted = {400, 401, 404, 405, 413, 429, 503}
    # An embedding is what every model can compute, so that OpenAI's route has no such error.
    wanted |= {"openai": set(), "tei": {422, 424}, "cohere": set()}[dialect]
    assert wanted <= found


@pytest.mark.parametrize("name", ["openai embeddings, float", "openai, a model that is not there"])
def test_times_of_tei_are_for_its_clients_only(name, client):
    answer = client.post(EXCHANGES[name]["path"], json=EXCHANGES[name]["request"])
    assert not any(header.startswith("x-compute") for header in answer.headers)
