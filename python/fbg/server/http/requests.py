"""The bytes that a client sends, read as requests of HTTP/1.1 (RFC 9112), one after the other.

Where a request ends must be understood in one way only, by the server and by every proxy before it.
So nothing is guessed: bytes outside of the grammar are refused, and `Upgrade` means nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

MAX_HEAD_BYTES = 64 << 10
MAX_CHUNK_LINE = 256  # the size of a chunk, with extensions, which are ignored

CHUNKED = -1  # the length of a body that says itself where it ends

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_NAME = re.compile(_TOKEN)
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") ([!-~]+) HTTP/1\.([01])")
_AUTHORITY = re.compile(rb"(?i:https?)://[^/?#@]+")
_HOST = re.compile(rb"[!-~]*")
_LENGTH = re.compile(rb"[0-9]{1,18}")
_EXTENSION = rb";" + _TOKEN + rb"(?:=(?:" + _TOKEN + rb'|"[\t !#-\[\]-~]*"))?'
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})(?:" + _EXTENSION + rb")*\r\n")
# Headers that say where a request ends, and about the next one.
_FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding", b"connection", b"expect"})
# Control characters, and ends of lines that are not CR LF.
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r[^\n]|(?<!\r)\n")


class BadRequest(Exception):
    """The request is not HTTP/1.1, or is ambiguous; its text says why."""


class Head(NamedTuple):
    """A request without its body. headers: names in lower case. length: of the body, or CHUNKED.

    keep_alive: whether another request may follow. waits: whether the client sends the body only
    after `100 Continue`.
    """

    method: str
    raw_path: bytes
    path: str
    query: bytes
    version: str
    headers: list[tuple[bytes, bytes]]
    length: int
    keep_alive: bool
    waits: bool


class RequestReader:
    """Reads requests from bytes that arrive in any pieces.

    `head` returns the next request, once its headers are complete; then `body` returns what has
    arrived of its body until `complete`; then `head` returns the request after that. Both raise
    BadRequest, after which nothing that follows can be understood.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0  # bytes of a line or of headers that is not complete
        self._rest = 0  # bytes of the body, or of the chunk, that have not been returned
        self._chunks: _Chunks | None = None
        self._complete = True

    def __len__(self) -> int:
        """How many bytes have arrived that are not part of anything returned."""
        return len(self._bytes)

    @property
    def complete(self) -> bool:
        """Whether all of the last request has been returned."""
        return self._complete

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def head(self) -> Head | None:
        """Return the next request, or None if not all of its headers have arrived."""
        while self._bytes.startswith(b"\r\n"):  # empty lines before a request are ignored
            del self._bytes[:2]
            self._searched = 0
        lines = self._lines(MAX_HEAD_BYTES, "headers")
        if lines is None:
            return None
        head = _parse(lines)
        self._complete = head.length == 0
        self._chunks = _Chunks() if head.length == CHUNKED else None
        self._rest = max(head.length, 0)
        return head

    def body(self) -> bytes:
        """Return the part of the body that has arrived since the last call."""
        if self._chunks is not None:
            return self._chunked(self._chunks)
        part = self._take()
        self._complete = self._rest == 0
        return part

    def _take(self) -> bytes:
        """Return the part of the body, or of the chunk, that has arrived."""
        part = bytes(self._bytes[: self._rest])
        del self._bytes[: len(part)]
        self._rest -= len(part)
        return part

    def _chunked(self, chunks: _Chunks) -> bytes:
        parts = []
        while not chunks.last:
            if self._rest > 0:
                parts.append(self._take())
                chunks.data += len(parts[-1])
                chunks.ended = False
                if self._rest > 0:
                    return b"".join(parts)
            if not chunks.ended:
                if len(self._bytes) < 2:
                    return b"".join(parts)
                if not self._bytes.startswith(b"\r\n"):
                    raise BadRequest("a chunk is longer than it says")
                del self._bytes[:2]
                chunks.ended = True
            line = _CHUNK.match(self._bytes)
            if line is None or line.end() > MAX_CHUNK_LINE:
                if b"\n" in self._bytes or len(self._bytes) > MAX_CHUNK_LINE:
                    raise BadRequest("the size of a chunk is not a hexadecimal number")
                return b"".join(parts)
            chunks.count(line.end() + 2)
            self._rest = int(line[1], 16)
            chunks.last = self._rest == 0
            del self._bytes[: line.end()]
        self._trailers()
        return b"".join(parts)

    def _trailers(self) -> None:
        """Pass over the headers after the last chunk, of which there mostly are none."""
        if self._bytes.startswith(b"\r\n"):
            del self._bytes[:2]
        else:
            lines = self._lines(MAX_HEAD_BYTES, "trailers")
            if lines is None:
                return
            _fields(lines)
        self._complete = True

    def _lines(self, most: int, what: str) -> list[bytes] | None:
        """Return the lines up to an empty one, if that has arrived."""
        found = self._bytes.find(b"\r\n\r\n", max(self._searched - 3, 0), most)
        end = min(len(self._bytes), most) if found < 0 else found + 2
        if _FORBIDDEN.search(self._bytes, max(self._searched - 1, 0), end):
            raise BadRequest(f"there is a character in the {what} that must not be there")
        if found < 0:
            if len(self._bytes) > most:
                raise BadRequest(f"the {what} are longer than {most} bytes")
            self._searched = end
            return None
        lines = bytes(self._bytes[:found]).split(b"\r\n")
        del self._bytes[: found + 4]
        self._searched = 0
        return lines


class _Chunks:
    """Where a chunked body stands. ended: whether the line end after the last chunk has been read.
    last: whether the chunk of size 0 has come."""

    def __init__(self) -> None:
        self.ended = True
        self.last = False
        self.data = 0
        self._others = 0

    def count(self, others: int) -> None:
        """Count bytes that are not data: chunks of a byte each would take long to read."""
        self._others += others
        if self._others > MAX_HEAD_BYTES + self.data:
            raise BadRequest("the chunks of the body are too small")


def _parse(lines: list[bytes]) -> Head:
    line = _REQUEST_LINE.fullmatch(lines[0])
    if line is None:
        raise BadRequest("the request line is not that of HTTP/1.1")
    method, target, version = line[1], line[2], line[3]
    headers = _fields(lines[1:])
    framing: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        if name in _FRAMING:
            framing.setdefault(name, []).append(value)
    _require_host(framing.get(b"host", []), version)
    length = _length(framing, version)
    keep_alive = version == b"1" and b"close" not in _words(framing, b"connection")
    waits = version == b"1" and length != 0 and b"100-continue" in _words(framing, b"expect")
    raw_path, query = _target(method, target)
    return Head(
        method.decode(),
        raw_path,
        unquote(raw_path.decode()),
        query,
        f"1.{version.decode()}",
        headers,
        length,
        keep_alive,
        waits,
    )


def _target(method: bytes, target: bytes) -> tuple[bytes, bytes]:
    """Return path and query of a target such as /path?query, http://host/path, or *."""
    authority = _AUTHORITY.match(target)
    if authority is not None:
        rest = target[authority.end() :]
        target = rest if rest.startswith(b"/") else b"/" + rest
    path, _, query = target.partition(b"?")
    if method == b"CONNECT" or b"#" in target or (path[:1] != b"/" and target != b"*"):
        raise BadRequest("the target of the request must be a path")
    return path, query


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return names and values of headers."""
    fields = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            raise BadRequest("a header is not `name: value` in one line")
        fields.append((name.lower(), value.strip(b" \t")))
    return fields


def _require_host(hosts: list[bytes], version: bytes) -> None:
    if len(hosts) > 1 or (not hosts and version == b"1") or not all(map(_HOST.fullmatch, hosts)):
        raise BadRequest("there must be one header `Host`")


def _length(framing: dict[bytes, list[bytes]], version: bytes) -> int:
    """Return the length of the body, or CHUNKED."""
    lengths, codings = framing.get(b"content-length"), framing.get(b"transfer-encoding")
    if codings is not None:
        if lengths or version == b"0" or [coding.lower() for coding in codings] != [b"chunked"]:
            raise BadRequest("`Transfer-Encoding` must be `chunked`, without `Content-Length`")
        return CHUNKED
    if lengths is None:
        return 0
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise BadRequest("`Content-Length` must be one number")
    return int(lengths[0])


def _words(framing: dict[bytes, list[bytes]], name: bytes) -> list[bytes]:
    """Return the words of a header that holds a list, in lower case."""
    values = framing.get(name, ())
    return [word.strip() for value in values for word in value.lower().split(b",")]
