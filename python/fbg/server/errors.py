"""Errors as answers: status codes, and the body that each dialect's clients expect.

    TEI      {"error": message, "error_type": "Validation"}
    OpenAI   {"error": {"message", "type", "param", "code"}}
    Cohere   {"message": message}

A message describes an error of a client. An internal error is logged, and answered in words that
name no path, no module and no line.
"""

from __future__ import annotations

import enum
from typing import Any


class Dialect(enum.Enum):
    """Whose clients a route is for."""

    TEI = "tei"
    OPENAI = "openai"
    COHERE = "cohere"


def dialect_of(path: str) -> Dialect:
    """Return the dialect of a path that has no route with a body; its prefix says which."""
    return Dialect.OPENAI if path.startswith("/v1/") else Dialect.TEI


class Fault(enum.Enum):
    """Errors of a request, or of the server: its status code, what TEI and OpenAI
    call it, OpenAI's code, and the status code of the dialects that are not TEI where it differs.
    """

    MALFORMED = (400, "Validation", "invalid_request_error")
    EMPTY = (400, "Empty", "invalid_request_error")
    UNAUTHORIZED = (401, "Unauthorized", "invalid_request_error", "invalid_api_key")
    UNKNOWN_MODEL = (404, "Validation", "invalid_request_error", "model_not_found")
    UNKNOWN_PATH = (404, "Validation", "invalid_request_error", "unknown_url")
    METHOD = (405, "Validation", "invalid_request_error", "method_not_supported")
    SLOW = (408, "Validation", "invalid_request_error", "timeout")
    TOO_LARGE = (413, "Validation", "invalid_request_error", "request_too_large")
    VALIDATION = (422, "Validation", "invalid_request_error", None, 400)
    UNABLE = (424, "Backend", "invalid_request_error", "model_not_able", 400)
    BACKEND = (424, "Backend", "server_error", None, 500)
    OVERLOADED = (429, "Overloaded", "rate_limit_error", "rate_limit_exceeded")
    UNHEALTHY = (503, "Unhealthy", "server_error", "unavailable")

    def __init__(
        self,
        status: int,
        tei: str,
        openai: str,
        code: str | None = None,
        other_status: int | None = None,
    ) -> None:
        self.status, self.tei, self.openai, self.code = status, tei, openai, code
        self.other_status = status if other_status is None else other_status


class RequestError(Exception):
    """Ends a request with an error. param: the field that is wrong, which OpenAI's body names."""

    def __init__(self, fault: Fault, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.param = param

    def status(self, dialect: Dialect) -> int:
        return self.fault.status if dialect is Dialect.TEI else self.fault.other_status


def error_body(dialect: Dialect, error: RequestError) -> dict[str, Any]:
    """Return the JSON object that describes the error in this dialect."""
    fault = error.fault
    if dialect is Dialect.TEI:
        return {"error": error.message, "error_type": fault.tei}
    if dialect is Dialect.COHERE:
        return {"message": error.message}
    return {
        "error": {
            "message": error.message,
            "type": fault.openai,
            "param": error.param,
            "code": fault.code,
        }
    }
