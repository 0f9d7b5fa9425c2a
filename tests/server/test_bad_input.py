"""Wrong requests: the documented code and body, nothing of the inside, and the server goes on."""

import contextlib
import json
import socket
import time

import httpx
import pytest

GOOD = {"inputs": "still here"}


@pytest.fixture(autouse=True)
def still_serving(client):
    yield
    assert client.post("/embed", json=GOOD).status_code == 200


def check(answer, status, kind=None):
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"error", "error_type"}
    if kind is not None:
        assert body["error_type"] == kind
    for secret in ("Traceback", "/tmp", ".py", "fbg.", "line "):
        assert secret not in answer.text
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        (b"", 400, "Validation"),
        (b"{", 400, "Validation"),
        (b"null", 422, "Validation"),
        (b"[]", 422, "Validation"),
        (b'"text"', 422, "Validation"),
        (b"{}", 422, "Validation"),
        (b'{"inputs": NaN}', 400, "Validation"),
        (b'{"inputs": [NaN, 1e999]}', 400, "Validation"),
        (b'{"inputs": null}', 422, "Validation"),
        (b'{"inputs": 5}', 422, "Validation"),
        (b'{"inputs": {}}', 422, "Validation"),
        (b'{"inputs": [1.5]}', 422, "Validation"),
        (b'{"inputs": ["a", 1]}', 422, "Validation"),
        (b'{"inputs": ["a", ["b"]]}', 422, "Validation"),
        (b'{"inputs": [[1], 2]}', 422, "Validation"),
        (b'{"inputs": [99999999999999999999999]}', 422, "Validation"),
        (b'{"inputs": "a", "normalize": "yes"}', 422, "Validation"),
        (b'{"inputs": "a", "dimensions": -1}', 422, "Validation"),
        (b'{"inputs": "a", "prompt_name": "no such prompt"}', 422, "Validation"),
        (b'{"inputs": "a", "truncation_direction": "Up"}', 422, "Validation"),
        (b'{"inputs": "a", "model": "other"}', 404, "Validation"),
        (b'{"inputs": ""}', 400, "Empty"),
        (b'{"inputs": []}', 400, "Empty"),
        (b'{"inputs": ["a", ""]}', 400, "Empty"),
        (b'{"inputs": [[]]}', 400, "Empty"),
        (b'{"inputs": "\xff\xfe"}', 400, "Validation"),
        (b'{"inputs": "\\ud800"}', 400, "Validation"),
        (b'{"inputs": ' + b"[" * 40_000, 422, "Validation"),
        (b'{"options": ' + b"[" * 40_000 + b"]" * 40_000 + b', "inputs": "a"}', 400, "Validation"),
    ],
)
def test_bodies(body, status, kind, client):
    check(client.post("/embed", content=body), status, kind)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/predict", {"inputs": [["a", "b", "c"]]}, 422),
        ("/predict", {"inputs": [[]]}, 422),
        ("/predict", {"inputs": "a", "model": "text"}, 424),
        ("/rerank", {"query": "a"}, 422),
        ("/rerank", {"query": "a", "texts": []}, 400),
        ("/similarity", {"inputs": {"source_sentence": "a", "sentences": []}}, 400),
        ("/decode", {"ids": [-1]}, 422),
        ("/decode", {"ids": [10**12]}, 422),
        ("/decode", {"ids": [[1], 2]}, 422),
        ("/ner", {"inputs": "a", "parameters": {"aggregation_strategy": "other"}}, 422),
        ("/ner", {"inputs": "a", "parameters": {"stride": -5}}, 422),
        ("/answer", {"inputs": {"question": "", "context": "b"}}, 400),
        ("/answer", {"inputs": {"question": "a", "context": "b"}, "parameters": {"top_k": 0}}, 422),
        ("/fill_mask", {"inputs": "no mask"}, 422),
        ("/fill_mask", {"inputs": "[MASK]", "parameters": {"targets": ["no such token"]}}, 422),
        ("/", {"inputs": {"source_sentence": 5}}, 422),
    ],
)
def test_fields_of_other_routes(path, body, status, client):
    check(client.post(path, json=body), status)


def test_unknown_paths_and_methods(client):
    check(client.get("/nothing"), 404)
    check(client.get("/embed"), 405)
    for path, allowed in (("/embed", "POST"), ("/", "GET, HEAD, POST"), ("/info", "GET, HEAD")):
        answer = client.delete(path)
        check(answer, 405)
        assert answer.headers["allow"] == allowed
    assert client.post("/v1/models/text").headers["allow"] in ("GET, HEAD", "HEAD, GET")
    assert client.get("/v1/nothing").json()["error"]["code"] == "unknown_url"
    assert client.get("/%2e%2e/%2e%2e/etc/passwd").status_code == 404


def test_too_many_texts_are_refused_whole(client):
    many = client.post("/embed", json={"inputs": ["a"] * 501})
    check(many, 422)
    assert many.json()["error"] == "batch size 501 > maximum allowed batch size 500"
    # More than the body may hold: not even read.
    check(client.post("/embed", json={"inputs": ["a"] * 100_000}), 413)


def test_large_bodies_are_refused_whether_their_length_is_said_or_not(client):
    body = json.dumps({"inputs": "a" * 200_000}).encode()
    check(client.post("/embed", content=body), 413)

    def parts():
        for begin in range(0, len(body), 4096):
            yield body[begin : begin + 4096]

    # The connection may be closed while the rest of the body is on its way.
    with contextlib.suppress(httpx.WriteError, httpx.ReadError):
        check(client.post("/embed", content=parts()), 413)


def exchange(server, data, *, then="read"):
    """Send bytes; return what comes back until the server closes the connection."""
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        connection.sendall(data)
        if then == "close":
            return b""
        if then == "half-close":
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def test_what_is_not_http_is_refused(server):
    assert exchange(server, b"\x16\x03\x01 hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert exchange(server, b"POST /embed HTTP/1.1\r\ncontent-length: x\r\n\r\n").startswith(
        b"HTTP/1.1 400 "
    )


@pytest.mark.parametrize("kind", ["many", "long", "url"])
def test_endless_headers_are_refused(kind, server):
    head = b"GET /health HTTP/1.1\r\n"
    flood = {
        "many": head + b"".join(b"x-%d: y\r\n" % n for n in range(20_000)),
        "long": head + b"x: " + b"y" * 200_000,
        "url": b"GET /" + b"y" * 200_000,
    }[kind]
    # The connection may be closed while the rest is on its way.
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        assert exchange(server, flood).startswith(b"HTTP/1.1 400 ")


def test_a_body_in_another_encoding_is_told_so(client):
    answer = client.post("/embed", content='{"inputs": "café"}'.encode("latin-1"))
    check(answer, 400, "Validation")
    assert "the body is not UTF-8: " in answer.json()["error"]


def test_clients_that_go_away_leave_nothing_behind(server, client):
    body = json.dumps({"inputs": ["the dog and the fox " * 20] * 200}).encode()
    head = b"POST /embed HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
    for _ in range(20):
        exchange(server, head + body, then="close")
        exchange(server, head + body[:100], then="close")
        exchange(server, head[:20], then="half-close")
    for _ in range(200):
        metrics = client.get("/metrics").text
        if "te_queue_size 0.0" in metrics:
            return
        time.sleep(0.05)
    raise AssertionError("work of clients that are gone is still in the queue")
