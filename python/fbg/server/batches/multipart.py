"""Bodies of multipart/form-data (RFC 7578), read part by part as they arrive."""

from __future__ import annotations

import re
from typing import BinaryIO

from fbg.server.errors import Fault, RequestError

MAX_HEADERS = 4096  # bytes of the headers of a part, and of a value
MAX_PARTS = 16
TYPE = re.compile(r'multipart/form-data;.*?boundary="?([0-9A-Za-z\'()+_,./:=? -]{1,70})"?', re.I)
NAME = re.compile(rb'(?i)content-disposition: *form-data;[^\r\n]*?\bname="([^"\r\n]*)"')
FILENAME = re.compile(rb'(?i)\bfilename="((?:\\.|[^"\\\r\n])*)"')


class FormReader:
    """Reads a form with one file. fields: the other values, by name. filename: of the file.

    content_type: the header. file: where the bytes of the file go. most: how many there may be.
    `feed` raises RequestError.
    """

    def __init__(self, content_type: str, file: BinaryIO, most: int) -> None:
        found = TYPE.match(content_type)
        if found is None:
            raise _malformed("the body must be multipart/form-data with a boundary")
        self._mark = b"\r\n--" + found[1].rstrip().encode()
        self._bytes = bytearray(b"\r\n")
        self._inside = False  # whether the bytes belong to a part, and not to what is around it
        self._file, self._most = file, most
        self._name: str | None = None
        self._parts = 0
        self.fields: dict[str, bytes] = {}
        self.filename: str | None = None
        self.size = 0
        self.complete = False

    def feed(self, data: bytes) -> None:
        """Take bytes of the body; what follows the form is not kept."""
        if self.complete:
            return
        self._bytes += data
        while not self.complete:
            if self._inside:
                at = self._bytes.find(self._mark)
                end = max(len(self._bytes) - len(self._mark) + 1, 0) if at < 0 else at
                self._keep(bytes(self._bytes[:end]))
                del self._bytes[:end]
                if at < 0:
                    return
                self._inside = False
            if not self._begin():
                return

    def _begin(self) -> bool:
        """Read a mark and the headers after it; return whether they have arrived."""
        buffer, mark = self._bytes, self._mark
        if len(buffer) < len(mark) + 2:
            return False
        if not buffer.startswith(mark):
            raise _malformed("the body does not begin with its boundary")
        if buffer[len(mark) : len(mark) + 2] == b"--":
            self.complete = True
            return True
        end = buffer.find(b"\r\n\r\n", len(mark))
        if (len(buffer) if end < 0 else end) > len(mark) + MAX_HEADERS:
            raise _malformed("the headers of a part are too long")
        if end < 0:
            return False
        headers = bytes(buffer[len(mark) : end])
        del buffer[: end + 4]
        self._inside = True
        self._parts += 1
        name = NAME.search(headers)
        if name is None or self._parts > MAX_PARTS:
            raise _malformed("a part has no name, or there are too many")
        self._name = name[1].decode("utf-8", "replace")
        if self._name in self.fields or (self._name == "file" and self.filename is not None):
            raise _malformed(f"`{self._name:.80}` is there twice")
        if self._name == "file":
            filename = FILENAME.search(headers)
            given = b"" if filename is None else filename[1]
            self.filename = given.decode("utf-8", "replace")[:255] or "file.jsonl"
        else:
            self.fields[self._name] = b""
        return True

    def _keep(self, data: bytes) -> None:
        if self._name == "file":
            self.size += len(data)
            if self.size > self._most:
                message = f"the file must have at most {self._most} bytes"
                raise RequestError(Fault.TOO_LARGE, message, "file")
            self._file.write(data)
        elif self._name is not None:
            self.fields[self._name] += data
            if len(self.fields[self._name]) > MAX_HEADERS:
                raise _malformed(f"`{self._name:.80}` is too long")


def _malformed(message: str) -> RequestError:
    return RequestError(Fault.MALFORMED, message)
