"""What a client sends to the server: requests with changed bodies and headers, or other bytes.

They are given to the protocol of the server in this process, which answers them by models of its
own. Whatever comes, the answer is no error of the server, tells nothing of its inside, and the next
good request is answered.
"""

from __future__ import annotations

import asyncio
import json
import logging
from functools import cache

import h11

from fbg.server.app import build_app
from fbg.server.models.served import load_models, serve_models
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import State
from fuzz.files import file_in
from fuzz.mutations import change_bytes, change_json
from fuzz.target import target
from helpers import tiny_bert
from helpers.connections import Connection, post
from helpers.tiny_tasks import SERVED_KINDS, write_model

BODIES = {
    "/embed": {"inputs": ["the dog", "fox"], "normalize": True, "truncate": True},
    "/v1/embeddings": {"input": "the dog", "model": "text", "encoding_format": "base64"},
    "/predict": {"inputs": [["the dog", "fox"]], "raw_scores": False},
    "/rerank": {"query": "the dog", "texts": ["fox", "cat"], "return_text": True},
    "/similarity": {"inputs": {"source_sentence": "a", "sentences": ["b", "c"]}},
    "/tokenize": {"inputs": ["the dog"], "add_special_tokens": True},
    "/decode": {"ids": [[2, 5, 3]], "skip_special_tokens": True},
    "/ner": {"inputs": "the dog", "parameters": {"aggregation_strategy": "simple"}},
    "/answer": {"inputs": {"question": "who?", "context": "the dog"}, "parameters": {"top_k": 1}},
    "/fill_mask": {"inputs": "the <mask>", "parameters": {"targets": ["dog"]}},
    "/zero_shot": {"inputs": "the dog", "parameters": {"candidate_labels": ["a", "b"]}},
    "/v2/rerank": {"query": "the dog", "documents": ["fox", "cat"], "top_n": 1},
    "/": {"inputs": "the dog"},
    "/embed_all": {"inputs": "the dog"},
    "/embed_multi": {"inputs": "the dog", "kind": "query"},
    "/embed_hybrid": {"inputs": "the dog"},
    "/embed_sparse": {"inputs": "the dog"},
    "/embed_image": {"inputs": ["UDUgMiAyIDI1NSBhYmNk"], "normalize": True},
    "/embed_chunks": {"inputs": "the dog. A fox", "spans": [[0, 8], [9, 14]], "normalize": True},
}
GOOD = post("/embed", b'{"inputs": "still here"}')
SECRETS = (b"Traceback", b".py", b"/tmp")


class _Server(Connection):
    """A connection whose requests reach the real application."""

    async def answer(self, data):
        """Deliver data; return what is written when the answer is there or none will come."""
        await self.send(data)
        patience = 100
        while not (self.transport.written or self.transport.closed) and patience > 0:
            await asyncio.sleep(0.001)
            if self.protocol.is_idle or self.protocol.conn.their_state is h11.SEND_BODY:
                patience -= 1
        return self.transport.written


class _Failures(logging.Handler):
    """Collects what the server logs of exceptions that it did not expect."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.seen = []

    def emit(self, record):
        if record.exc_info and record.exc_info[1] is not None:
            self.seen.append(record.exc_info[1])


FAILURES = _Failures()


@cache
def _state():
    for name in ("fbg.server", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [FAILURES], False
    text = tiny_bert.write_checkpoint(file_in("http_text", "x").parent)
    sources = [ModelSource("text", str(text))]
    for name, kind in SERVED_KINDS.items():
        directory = write_model(file_in(f"http_{name}", "x").parent, kind)
        sources.append(ModelSource(name, str(directory)))
    state = State(Settings(tuple(sources), max_body=20_000, access_log=False), 1)
    state.models = serve_models(load_models(state.settings), state.batcher, lambda _n, _m: None)
    state.ready = True
    return state


@cache
def _application():
    return build_app(_state())


@cache
def _loop():
    return asyncio.new_event_loop()


def _seeds():
    return [post(path, json.dumps(body).encode()) for path, body in BODIES.items()]


def _mutate(data, rng):
    """Mostly change the JSON of a request, whose length then fits; else its bytes."""
    head, _, body = data.partition(b"\r\n\r\n")
    words = head.split(b" ")
    if rng.random() < 0.25 or len(words) < 2:
        return change_bytes(data, rng)
    try:
        changed = json.dumps(change_json(json.loads(body), rng)).encode()
    except (ValueError, RecursionError):
        changed = change_bytes(body, rng)
    path = rng.choice(tuple(BODIES)) if rng.random() < 0.1 else words[1].decode("latin-1")
    return post(path.encode("ascii", "replace").decode(), changed)


async def _exchange(data):
    async with _Server(_application()) as connection:
        answer = await connection.answer(data)
    async with _Server(_application()) as connection:
        good = await connection.answer(GOOD)
    if FAILURES.seen:
        raise FAILURES.seen.pop()
    assert good.startswith(b"HTTP/1.1 200"), f"a good request gets {good[:100]!r}"
    if answer:
        assert answer[9:12].isdigit(), answer[:100]
        assert not any(secret in answer for secret in SECRETS if secret not in data), answer


def _run(data):
    _loop().run_until_complete(asyncio.wait_for(_exchange(data), 30))


KIND = target("http", _seeds, _mutate, _run, (), 60)
