"""Requests that fail, and those whose client goes away, leave nothing behind: neither a cycle of
an error and its traceback, which only the garbage collector frees, nor memory of the process."""

import asyncio
import gc
import json
import os
import socket
import time
import types
from pathlib import Path

import httpx
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fbg.server.app import build_app
from fbg.server.state import Call
from helpers.pictures import encoded, text_of
from helpers.serving import ready_state, running

LONG = "a " * 3000
NOISE = np.random.default_rng(0).integers(0, 255, (300, 300, 3), dtype=np.uint8)
TRUNCATED = text_of(encoded(NOISE)[:-3000])
PAIR = {"question": "b", "context": LONG}
# For each route, a request that fails after its body has been read, as far inside as may be.
FAILING = {
    "texts that are too long": ("/embed", {"inputs": LONG, "truncate": False, "model": "text"}),
    "texts of OpenAI": ("/v1/embeddings", {"input": [LONG, ""]}),
    "states of tokens": ("/embed_all", {"inputs": LONG, "truncate": False, "model": "text"}),
    "classes": ("/predict", {"inputs": LONG, "truncate": False}),
    "similarity": (
        "/similarity",
        {
            "inputs": {"source_sentence": LONG, "sentences": [LONG]},
            "parameters": {"truncate": False},
        },
    ),
    "ranks": ("/rerank", {"query": LONG, "texts": ["b"], "truncate": False}),
    "ranks of Cohere": ("/v2/rerank", {"query": "a", "documents": [LONG], "top_n": 0}),
    "vectors of tokens": ("/embed_multi", {"inputs": LONG, "truncate": False}),
    "weights of tokens": ("/embed_sparse", {"inputs": LONG, "truncate": False}),
    "chunks": ("/embed_chunks", {"inputs": LONG, "spans": [[0, 10**6]], "model": "text"}),
    "tokens": ("/decode", {"ids": [[10**8] * 3000]}),
    "entities": ("/ner", {"inputs": LONG, "parameters": {"stride": 600}}),
    "answers": ("/answer", {"inputs": PAIR, "parameters": {"doc_stride": 600}}),
    "masks": ("/fill_mask", {"inputs": LONG}),
    "labels": (
        "/zero_shot",
        {"inputs": LONG, "parameters": {"candidate_labels": ["a"], "hypothesis_template": "x"}},
    ),
    "a picture cut short": ("/embed_image", {"inputs": TRUNCATED, "model": "clip"}),
    "a class of a picture": (
        "/classify_image",
        {"inputs": TRUNCATED, "parameters": {"candidate_labels": ["a"]}, "model": "clip"},
    ),
    "a tensor of no network": ("/v2/models/none/infer", {"inputs": [], "id": LONG}),
    "no JSON": ("/embed", b'{"inputs": "' + b"\xff" * 9000 + b'"}'),
    "an unknown key": ("/embed", {"inputs": LONG, "other": 1}),
}


def content(body):
    return body if isinstance(body, bytes) else json.dumps(body).encode()


@pytest.mark.parametrize("what", FAILING)
def test_errors_keep_nothing_of_their_request(what, models):
    path, body = FAILING[what]

    async def main():
        transport = httpx.ASGITransport(build_app(state))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            for turn in range(2):  # the first one makes what stays
                if turn:
                    gc.collect()
                    gc.set_debug(gc.DEBUG_SAVEALL)
                answer = await client.post(path, content=content(body))
                assert 400 <= answer.status_code < 500, answer.text
        gc.collect()
        kept = [each for each in gc.garbage if isinstance(each, (types.FrameType, BaseException))]
        gc.garbage.clear()
        return kept

    with ready_state(models) as state:
        gc.disable()
        try:
            kept = asyncio.run(main())
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()
    names = [each.f_code.co_qualname for each in kept if isinstance(each, types.FrameType)]
    assert not [name for name in names if "httpx" not in name], names


def test_a_request_that_has_ended_keeps_no_body(models):
    """Whatever still refers to the call, such as a frame that waits to be collected."""
    with ready_state(models) as state:
        call = Call(state)
        call.message, call.binary, call.headers = {"inputs": LONG}, memoryview(b"1"), [(b"a", b"b")]
        call.end()
    assert (call.message, call.binary, call.headers) == (None, None, ())


@pytest.fixture(scope="module")
def slow(tmp_path_factory, directories):
    """A server with models, and a network that takes seconds for each hundred of rounds."""
    folder = tmp_path_factory.mktemp("slow")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    onnx.save(
        helper.make_model(
            helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y]),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=8,
        ),
        folder / "relu.onnx",
    )
    named = [f"{name}={path}" for name, path in directories.items()]
    with running(*named, str(folder / "relu.onnx"), "--threads", "2", "--no-access-log") as server:
        yield server


def settled(server):
    """The memory of the process in MB."""
    time.sleep(0.1)
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGESIZE") / 1e6


@pytest.mark.parametrize("what", FAILING)
def test_memory_does_not_grow_with_requests_that_fail(what, slow):
    """Threads still take memory in the first rounds; what leaks grows in all of them."""
    path, body = FAILING[what]
    if isinstance(body, dict):
        body = json.loads(json.dumps(body).replace(LONG, "a " * 40_000))
    data, grown = content(body), list[float]()
    with httpx.Client(base_url=slow.url, timeout=60) as client:
        for _ in range(4):
            before = settled(slow)
            for _ in range(10):
                assert client.post(path, content=data).status_code >= 400
            grown.append(settled(slow) - before)
            if grown[-1] < 1:
                break
    assert min(grown) < 5, grown


def test_requests_of_clients_that_are_gone_are_not_kept(slow):
    """They would wait for the thread of networks, each with its body and what it was decoded to."""
    host, port = slow.url.removeprefix("http://").split(":")
    body = b'{"inputs":[{"name":"x","datatype":"FP32","shape":[1],"data":['
    body += b"[]," * 600_000 + b"1]}]}"
    head = f"POST /v2/models/relu/infer HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    before = settled(slow)
    for _ in range(40):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(head.encode() + body)
        httpx.get(f"{slow.url}/health", timeout=30)
    assert settled(slow) - before < 100
