"""Errors as answers: status codes, and the body that each dialect's clients expect.

    TEI      {"error": message, "error_type": "Validation"}
    OpenAI   {"error": {"message", "type", "param", "code"}}
    Cohere   {"message": message}

A message says what a client did wrong. What goes wrong inside is logged, and answered in words that
name no path, no module and no line.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

__all__ = ["Dialect", "Fault", "RequestError", "error_body"]


class Dialect(enum.Enum):
    """Whose clients a route is for."""

    TEI = "tei"
    OPENAI = "openai"
    COHERE = "cohere"


@dataclass(frozen=True)
class Kind:
    """An error: its status code, by dialect where they differ, and what TEI and OpenAI call it."""

    status: int
    tei: str
    openai: str
    code: str | None = None
    other_status: int | None = None  # of the dialects that are not TEI


class Fault(enum.Enum):
    """What can be wrong with a request, or with the server."""

    MALFORMED = Kind(400, "Validation", "invalid_request_error")
    EMPTY = Kind(400, "Empty", "invalid_request_error")
    UNAUTHORIZED = Kind(401, "Unauthorized", "invalid_request_error", "invalid_api_key")
    UNKNOWN_MODEL = Kind(404, "Validation", "invalid_request_error", "model_not_found")
    UNKNOWN_PATH = Kind(404, "Validation", "invalid_request_error", "unknown_url")
    METHOD = Kind(405, "Validation", "invalid_request_error", "method_not_supported")
    SLOW = Kind(408, "Validation", "invalid_request_error", "timeout")
    TOO_LARGE = Kind(413, "Validation", "invalid_request_error", "request_too_large")
    VALIDATION = Kind(422, "Validation", "invalid_request_error", None, 400)
    UNABLE = Kind(424, "Backend", "invalid_request_error", "model_not_able", 400)
    BACKEND = Kind(424, "Backend", "server_error", None, 500)
    OVERLOADED = Kind(429, "Overloaded", "rate_limit_error", "rate_limit_exceeded")
    UNHEALTHY = Kind(503, "Unhealthy", "server_error", "unavailable")


class RequestError(Exception):
    """Ends a request with an error. param: the field that is wrong, which OpenAI's body names."""

    def __init__(self, fault: Fault, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.param = param

    def status(self, dialect: Dialect) -> int:
        kind: Kind = self.fault.value
        if dialect is not Dialect.TEI and kind.other_status is not None:
            return kind.other_status
        return kind.status


def error_body(dialect: Dialect, error: RequestError) -> dict[str, Any]:
    """Return the JSON object that tells a client of this dialect what is wrong."""
    kind: Kind = error.fault.value
    if dialect is Dialect.TEI:
        return {"error": error.message, "error_type": kind.tei}
    if dialect is Dialect.COHERE:
        return {"message": error.message}
    return {
        "error": {
            "message": error.message,
            "type": kind.openai,
            "param": error.param,
            "code": kind.code,
        }
    }
