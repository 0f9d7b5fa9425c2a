"""Bytes that a client may send: where requests end, against h11 and llhttp (in httptools).

A stream has requests that follow HTTP/1.1 or break one of its rules, and is cut anywhere. The
requests that the server answers must be the first ones that the other parsers see, with the same
bodies; what follows may be refused, but nothing may be answered that they do not see. A stream in
which every request is well formed is answered as a whole.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from random import Random
from typing import Any

import h11
import httptools

from helpers.connections import Connection
from helpers.random_cases import Different, Kind

Request = tuple[bytes, bytes, bytes]  # method, number, body

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")
TARGETS = ("/", "/embed", "/a/b?c=d&e", "/%2e%2e/x", "http://x/embed", "HTTP://x:80", "*")
ODD_TARGETS = ("embed", "", "/a b", "/\x00", "/a#b", "//x", "x:80", "/\xff", "http:/x", "/\x7f")
HEADERS = (
    "Accept: */*",
    "X-Empty:",
    "Connection: keep-alive",
    "Connection: Upgrade",
    "Connection: upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "Upgrade: websocket",
    "Expect: 100-continue",
    "TE: trailers",
    "Trailer: X",
    "X-Tab:\ta\tb\t",
    "X-Latin: \xe9",
    "Content-Type: application/json",
)
ODD_HEADERS = (
    "Host: y",
    "Connection: close",
    " folded: x",
    "\tfolded",
    "No-Colon",
    "Space : x",
    ": empty",
    "N\x00l: x",
    "X: a\x00b",
    "X: a\rb",
    "X: a\nContent-Length: 3",
    "X: a\rTransfer-Encoding: chunked",
    "X\x0b: a",
    "X: a\x0b",
    "X: \x7f",
    "Content\xa0Length: 3",
    "Content-Length : 3",
    "Content_Length: 3",
    "Transfer-Encoding : chunked",
    "Transfer\tEncoding: chunked",
)
ODD_LENGTHS = (
    "+{n}", "-{n}", "0{n}", "0x{n:x}", "{n} {n}", "{n}, {n}", "{n},{m}", "{n};", "{n}.0", "1_0",
    "", " ", "{n}\r\nContent-Length: {n}", "{n}\r\nContent-Length: {m}", "{n}\r\n {m}",
    "\u0661", "99999999999999999999", "{n}\t", "\t{n}", "\x0b{n}", "{n}e0",
)  # fmt: skip
ODD_CODINGS = (
    "chunked, identity", "identity", "gzip, chunked", "chunked, chunked", "xchunked", "chunkedx",
    "\x0bchunked", "chunked\x0b", '"chunked"', "chunked;q=1", ",chunked", "chunked,", "",
    "chunked\r\nTransfer-Encoding: identity", "identity\r\nTransfer-Encoding: chunked",
    "chun ked", "\r\n chunked", "chunked\r\nContent-Length: 3",
)  # fmt: skip
CODINGS = ("chunked", "Chunked", "CHUNKED ", "\tchunked")
VERSIONS = ("HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0")
ODD_VERSIONS = (
    "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/11", "HTTP/1", "", "X/1.1",
)  # fmt: skip
SIZES = ("{n:x}", "{n:X}", "000{n:x}", "{n:x};a=b", '{n:x};a="b"', "{n:x};a;b=c")
ODD_SIZES = (
    "+{n:x}", "-{n:x}", "0x{n:x}", " {n:x}", "{n:x} ", "{n:x}\t", "{n:x};\x00", "{n:x}\n", "",
    "{n:x};a\rb", "{n:x};a\nb", "g", "{n:x},", "1{n:x}", "{n:x}_", "ffffffffffffffff{n:x}",
    "{n:x};", "{n:x} ;a",
)  # fmt: skip


@dataclass
class Stream:
    """Bytes of requests. sent: those requests, as far as each follows the rules. odd: not all do.
    blank: there are empty lines before one."""

    data: bytes
    sent: list[Request]
    odd: bool
    blank: bool


class _Writer:
    """Draws a stream; a fault is drawn at each place where one is possible, mostly none."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.odds = rng.choice((0.0, 0.02, 0.1, 0.3))
        self.odd = self.blank = False

    def either(self, good: tuple[str, ...], odd: tuple[str, ...]) -> str:
        if self.rng.random() < self.odds:
            self.odd = True
            return self.rng.choice(odd)
        return self.rng.choice(good)

    def end(self) -> str:
        return self.either(("\r\n",), ("\n", "\r", "\r\r\n", " \r\n", "\n\r\n"))

    def stream(self) -> Stream:
        data, sent = b"", list[Request]()
        for n in range(self.rng.randint(1, 4)):
            text, request = self.request(str(n))
            data += text
            if not self.odd:
                sent.append(request)
            if self.rng.random() < 0.1:
                data += b"\r\n" * self.rng.randint(1, 2)
                self.blank = True
        return Stream(data, sent, self.odd, self.blank)

    def request(self, number: str) -> tuple[bytes, Request]:
        rng = self.rng
        method = self.either(METHODS, ("G ET", "CONNECT", "P\x00ST", "PO(T", ""))
        target = self.either(TARGETS, ODD_TARGETS)
        version = self.either(VERSIONS, ODD_VERSIONS)
        if version == "HTTP/1.0":  # its connection ends with the answer
            self.odd = True
        space = self.either((" ",), ("  ", "\t", " \x0b"))
        headers = [f"X-N: {number}"]
        if not self._fault():
            headers.append("Host: x")
        for _ in range(rng.randint(0, 3)):
            headers.append(self.either(HEADERS, ODD_HEADERS))
        body, framing, wire = self.body(version)
        headers += framing
        rng.shuffle(headers)
        lines = [f"{method}{space}{target} {version}", *headers]
        head = "".join(line + self.end() for line in lines) + self.end()
        return head.encode("latin-1", "replace") + wire, (method.encode(), number.encode(), body)

    def _fault(self) -> bool:
        fault = self.rng.random() < self.odds
        self.odd |= fault
        return fault

    def body(self, version: str) -> tuple[bytes, list[str], bytes]:
        """Return a body, the headers that announce it, and what is sent."""
        rng = self.rng
        body = rng.choice((b"", b"x", b'{"a": 1}', b"\r\n\r\n", b"0\r\n\r\n", self.hidden()))
        kind = rng.choice(("none", "length", "length", "chunked", "chunked"))
        if self._fault():
            kind = rng.choice(("both", "neither"))
        if kind == "none":
            return b"", [], b""
        if kind == "neither":
            self.blank |= body.startswith(b"\r\n")
            return b"", [], body
        if kind == "length":
            length = self.either(("{n}",), ODD_LENGTHS).format(n=len(body), m=len(body) + 3)
            return body, [f"Content-Length: {length}"], body
        if version == "HTTP/1.0":
            self.odd = True
        framing = [f"Transfer-Encoding: {self.either(CODINGS, ODD_CODINGS)}"]
        if kind == "both":
            framing.append(f"Content-Length: {rng.choice((0, 3, len(body)))}")
        wire = self.chunks(body)
        return body, framing, rng.choice((wire, body)) if kind == "both" else wire

    def hidden(self) -> bytes:
        """A body that is a request, which must never be answered."""
        return b"POST /embed HTTP/1.1\r\nHost: x\r\nX-N: hidden\r\nContent-Length: 2\r\n\r\n{}"

    def chunks(self, body: bytes) -> bytes:
        wire, rest = b"", body
        while rest:
            n = self.rng.randint(1, len(rest))
            part, rest = rest[:n], rest[n:]
            size = self.either(SIZES, ODD_SIZES).format(n=n)
            wire += (size + self.end()).encode("latin-1") + part + self.end().encode()
        wire += (
            self.either(("0", "00", "0;x"), ("", "-0", "0 ", "0x0")).encode() + self.end().encode()
        )
        if self.rng.random() < 0.2:
            wire += (self.either(("X-T: y",), ODD_HEADERS) + self.end()).encode("latin-1")
        return wire + self.end().encode()


class _App:
    """Answers every request. seen: the requests whose bodies have come."""

    def __init__(self) -> None:
        self.seen: list[Request] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        number = dict(scope["headers"]).get(b"x-n", b"")
        self.seen.append((scope["method"].encode(), number, body))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


async def _served(parts: list[bytes]) -> tuple[list[Request], bytes]:
    """Return the requests that the application gets, and what is written."""
    app, written = _App(), b""
    async with Connection(app) as connection:
        for part in parts:
            if not connection.transport.closed:
                written += await connection.send(part)
        for _ in range(5):
            written += await connection.send(b"")
    return app.seen, written


def _by_h11(data: bytes) -> list[Request]:
    connection, seen = h11.Connection(h11.SERVER), list[Request]()
    try:
        connection.receive_data(data)
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                number = dict(event.headers).get(b"x-n", b"")
                method, body = event.method, b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                if method == b"CONNECT":  # after which there are no requests
                    return seen
                seen.append((method, number, body))
                answer = h11.Response(status_code=200, headers=[("content-length", "0")])
                connection.send(answer)
                connection.send(h11.EndOfMessage())
                if connection.our_state is not h11.DONE:
                    return seen
                connection.start_next_cycle()
            else:
                return seen
    except h11.RemoteProtocolError:
        return seen


class _Llhttp:
    """The callbacks of httptools."""

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self._number = self._body = b""
        self.parser = httptools.HttpRequestParser(self)

    def on_message_begin(self) -> None:
        self._number = self._body = b""

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"x-n":
            self._number = value.strip()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self.seen.append((self.parser.get_method(), self._number, self._body))


def _by_llhttp(data: bytes) -> list[Request] | None:
    """Return the requests; None if httptools, which drops bodies then, takes one as an upgrade."""
    reader = _Llhttp()
    try:
        reader.parser.feed_data(data)
    except httptools.HttpParserUpgrade:
        return None
    except httptools.HttpParserError:
        pass
    return reader.seen


def _with_methods_of_llhttp(seen: list[Request]) -> list[Request]:
    return list(takewhile(lambda request: request[0].decode() in METHODS, seen))


def _parts(data: bytes, rng: Random) -> list[bytes]:
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((0, 0, 1, 3, 10))))
    return [data[i:j] for i, j in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def _run(rng: Random) -> str:
    stream = _Writer(rng).stream()
    parts = _parts(stream.data, rng)
    seen, written = _loop().run_until_complete(_served(parts))
    refused = b"HTTP/1.1 400 " in written

    def different(why: str) -> Different:
        return Different(f"{why}: {parts} gives {seen}, {written[-200:]!r}")

    if written.count(b"HTTP/1.1 200 ") != len(seen):
        raise different("requests and answers differ in number")
    others = {"llhttp": _by_llhttp(stream.data)}
    if not stream.blank:  # h11 refuses empty lines, which RFC 9112 lets servers ignore
        others["h11"] = _by_h11(stream.data)
    for name, theirs in others.items():
        known = seen if name == "h11" else _with_methods_of_llhttp(seen)
        if theirs is not None and known != theirs[: len(known)]:
            raise different(f"{name} sees {theirs}")
    if not stream.odd and (refused or seen != stream.sent):
        raise different(f"{stream.sent} was sent")
    if len(seen) == len(stream.sent) and not refused:
        return "answered"
    return "refused" if refused else "answered in part"


KIND = Kind("differential.http", _run, cases=1500, needs="h11")
