"""A server whose queue has failed: it says so, and its process ends."""

import asyncio

import httpx
import pytest

import fbg
from fbg.runtime.batcher import PriorityClass
from fbg.server.app import build_app
from fbg.server.process import Server
from helpers import tiny_bert
from helpers.serving import ready_state


@pytest.fixture
def state(tmp_path):
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path, seed=3, spread=0.25))
    with ready_state({"m": model}) as made:
        yield made


async def test_requests_are_answered_health_turns_bad_and_the_process_ends(state, monkeypatch):
    def broken(*arguments):
        raise IndexError("a mistake in the queue")

    monkeypatch.setattr(PriorityClass, "take", broken)
    server = Server(state, None)

    transport = httpx.ASGITransport(build_app(state))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.get("/health")).status_code == 200
        assert not await server.on_tick(1)
        for _ in range(2):
            asked = client.post("/embed", json={"inputs": "a"})
            answer = await asyncio.wait_for(asked, 20)
            assert answer.status_code == 503
            assert answer.json()["error"] == "the server has failed"
        assert (await client.get("/health")).status_code == 503
        assert await server.on_tick(2)
        assert server.failed
