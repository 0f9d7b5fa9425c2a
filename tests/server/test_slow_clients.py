"""Clients that begin a request and do not go on with it."""

import asyncio
import json

import pytest

from fbg.server.app import build_app
from helpers.serving import ready_state

ERRORS = {
    "/embed": lambda body: body["error_type"] == "Validation",
    "/v1/embeddings": lambda body: body["error"]["code"] == "timeout",
    "/v2/rerank": lambda body: body.keys() == {"message"},
}


@pytest.fixture
def state():
    with ready_state(body_seconds=0.1, max_concurrent_requests=1) as made:
        yield made


async def ask(state, path, part):
    """Send a part of a body and then nothing; return what the application sends."""
    scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
    messages = [{"type": "http.request", "body": part, "more_body": True}]
    sent = []

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    await asyncio.wait_for(build_app(state)(scope, receive, send), 10)
    return sent


@pytest.mark.parametrize("path", ERRORS)
@pytest.mark.parametrize("part", [b"", b'{"inputs": "a'])
def test_a_body_that_does_not_arrive_in_time_is_refused(path, part, state):
    start, *parts = asyncio.run(ask(state, path, part))
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]  # the rest of the body is not read
    assert ERRORS[path](json.loads(b"".join(part["body"] for part in parts)))
    assert not state.requests  # the request holds no place
