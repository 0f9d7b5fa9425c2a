"""Logs as lines of JSON on standard error. Texts, keys and query strings are never in them."""

from __future__ import annotations

import logging
import os
import time
from typing import Any

import msgspec

__all__ = ["configure_logs"]

LOGGERS = ("fbg.server", "fbg.access", "uvicorn.error")


class JsonFormatter(logging.Formatter):
    """{"time", "level", "logger", "message"}, and the fields of a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        entry: dict[str, Any] = {
            "time": f"{whole}.{int(record.msecs):03d}Z",
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
    """Send what the server and uvicorn log to standard error; warnings of the library, too."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    for name in (*LOGGERS, "py.warnings"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    logging.captureWarnings(True)
