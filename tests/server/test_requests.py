"""Bytes to requests: what is read, and what is refused because it could be read in two ways."""

from itertools import pairwise
from random import Random

import pytest

from fbg.server.http.requests import MAX_HEAD_BYTES, BadRequest, RequestReader

HEAD = "POST /embed?a=%20 HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
SECOND = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


def read(data: bytes, cuts: list[int] | None = None) -> list[tuple[str, str, bytes]]:
    """Return method, path and body of all requests in data that arrives in parts."""
    reader, requests, body = RequestReader(), list[tuple[str, str, bytes]](), b""
    head = None
    edges = [0, *sorted(cuts or []), len(data)]
    for begin, end in pairwise(edges):
        reader.feed(data[begin:end])
        while True:
            head = head or reader.head()
            if head is None:
                break
            body += b"" if reader.complete else reader.body()
            if not reader.complete:
                break
            requests.append((head.method, head.path, body))
            head, body = None, b""
    return requests


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (HEAD + "Content-Length: 5\r\n\r\nhello", b"hello"),
        (HEAD + "content-length:5\t \r\nx: \xe9\ty\r\n\r\nhello", b"hello"),
        (HEAD + "\r\n", b""),
        ("\r\n\r\n" + HEAD + "\r\n", b""),
        (CHUNKED + '3\r\nhel\r\n02;a;b=c;d="e f"\r\nlo\r\n0\r\n\r\n', b"hello"),
        (CHUNKED + "5\r\nhello\r\n000\r\nX: y\r\nZ:\r\n\r\n", b"hello"),
        (HEAD + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello", b"hello"),
        (HEAD + f"Content-Length: {len(SECOND)}\r\n\r\n" + SECOND.decode(), SECOND),
    ],
)
def test_requests_are_read_however_they_are_cut(data: str, body: bytes) -> None:
    rng, sent = Random(3), data.encode("latin-1") + SECOND
    wanted = [("POST", "/embed", body), ("GET", "/health", b"")]
    assert read(sent) == wanted
    assert read(sent, list(range(1, len(sent)))) == wanted
    for _ in range(20):
        assert read(sent, [rng.randrange(len(sent)) for _ in range(3)]) == wanted


@pytest.mark.parametrize(
    "head",
    [
        "GET /\r\n",
        "GET / HTTP/2.0\r\nHost: x\r\n",
        "GET  / HTTP/1.1\r\nHost: x\r\n",
        "GET x HTTP/1.1\r\nHost: x\r\n",
        "GET /#a HTTP/1.1\r\nHost: x\r\n",
        "CONNECT / HTTP/1.1\r\nHost: x\r\n",
        "GET / HTTP/1.1\r\n",
        HEAD + "Host: y\r\n",
        HEAD + " folded\r\n",
        HEAD + "X : y\r\n",
        HEAD + "X\r\n",
        HEAD + "X: \0\r\n",
        HEAD + "X: a\nContent-Length: 5\r\n",
        HEAD + "X: a\rContent-Length: 5\r\n",
        HEAD + "Content-Length: +5\r\n",
        HEAD + "Content-Length: 5, 5\r\n",
        HEAD + "Content-Length: 5 5\r\n",
        HEAD + "Content-Length:\r\n",
        HEAD + "Content-Length: 5\r\nContent-Length: 5\r\n",
        HEAD + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        HEAD + "Transfer-Encoding: gzip, chunked\r\n",
        HEAD + "Transfer-Encoding: identity\r\n",
        HEAD + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        HEAD.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n",
    ],
)
def test_heads_that_are_not_clear_are_refused(head: str) -> None:
    with pytest.raises(BadRequest):
        read((head + "\r\nhello").encode("latin-1"))


@pytest.mark.parametrize(
    "chunks",
    ["x", "+1\r\n", "0x1\r\na\r\n", "1\r\nab", "1 \r\na\r\n", "1;\r\na\r\n", "1\na\n", "\r\n",
     "1;a=" + "b" * 300, "0\r\nX\r\n\r\n", "0\r\n" + "X: y\r\n" * 20_000, "f" * 16 + "\r\n"],
)  # fmt: skip
def test_chunks_that_are_not_clear_are_refused(chunks: str) -> None:
    with pytest.raises(BadRequest):
        read((CHUNKED + chunks + "\n").encode())


def test_what_cannot_be_a_request_is_refused_before_its_end() -> None:
    for data in (b"GET / HTTP/1.1\n", b"\x16\x03\x01", b"a" * (MAX_HEAD_BYTES + 1)):
        with pytest.raises(BadRequest):
            read(data)


def test_bodies_in_tiny_chunks_are_refused_when_they_are_large() -> None:
    assert read((CHUNKED + "1\r\na\r\n" * 5000 + "0\r\n\r\n").encode())[0][2] == b"a" * 5000
    with pytest.raises(BadRequest, match="too small"):
        read((CHUNKED + "1\r\na\r\n" * 50_000).encode())


def test_targets_are_paths() -> None:
    for target, path in (("http://y:1/a%20b?c", "/a b"), ("http://y", "/"), ("*", "*")):
        assert read(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode()) == [("GET", path, b"")]
