"""Logs as lines of JSON on standard error. Texts, keys and query strings are never in them."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

LOGGERS = ("fbg.server", "fbg.runtime", "uvicorn.error")

# Lines of the access log are written together, because each write is a system call.
FLUSH_SECONDS = 0.05


def _timestamp(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(1000 * (seconds % 1)):03d}Z"


class JsonFormatter(logging.Formatter):
    """{"time", "level", "logger", "message"}, and the fields of a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        entry: dict[str, Any] = {
            "time": _timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": os.getpid(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return msgspec.json.encode(entry).decode()


def configure_logs() -> None:
    """Send the logs of the server and uvicorn to standard error; warnings of the library, too."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    for name in (*LOGGERS, "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # not what clients do wrong
    logging.captureWarnings(True)


class AccessLog:
    """A line for each request of one event loop, in the form of the other log lines.

    A line is written at most FLUSH_SECONDS after its request, together with its neighbours, and by
    `flush`. The library logging is not involved: it would take more time than the rest of HTTP.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._requests: list[tuple[float, dict[str, Any]]] = []

    def add(self, fields: dict[str, Any]) -> None:
        """Log a request that has ended now. Called in an event loop."""
        if not self._requests:
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)
        self._requests.append((time.time(), fields))

    def flush(self) -> None:
        """Write the lines that wait."""
        requests, self._requests = self._requests, []
        lines = [
            msgspec.json.encode(
                {
                    "time": _timestamp(seconds),
                    "level": "info",
                    "logger": "fbg.access",
                    "pid": self._pid,
                    "message": "request",
                    **fields,
                }
            ).decode()
            for seconds, fields in requests
        ]
        if lines:
            with contextlib.suppress(OSError, ValueError):  # standard error was closed
                sys.stderr.write("\n".join(lines) + "\n")
                sys.stderr.flush()


@cache
def quiet_libtiff() -> None:
    """Keep what libtiff says about files out of standard error, whose lines are JSON.

    Pillow has loaded the library, and has no switch for this.
    """
    with contextlib.suppress(OSError, AttributeError):
        lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
        for path in {line.split(maxsplit=5)[-1] for line in lines if "libtiff" in line}:
            library = ctypes.CDLL(path)
            for handler in (library.TIFFSetErrorHandler, library.TIFFSetWarningHandler):
                handler.argtypes, handler.restype = [ctypes.c_void_p], ctypes.c_void_p
                handler(None)
