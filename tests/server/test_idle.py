"""Models that are loaded at their first request, and unloaded when none comes any more."""

import concurrent.futures
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import fbg
from helpers import tiny_bert
from helpers.serving import running
from helpers.tiny_tasks import write_model
from server.test_lifecycle import fails

MIB = 1 << 20
IDLE = ("--idle-unload", "0.3", "--threads", "2")


class Process:
    """What the system says of a process."""

    def __init__(self, pid):
        self._path = Path(f"/proc/{pid}")

    @property
    def rss(self):
        (kilobytes,) = re.findall(r"^VmRSS:\s+(\d+) kB$", (self._path / "status").read_text(), re.M)
        return int(kilobytes) << 10

    @property
    def files(self):
        return len(os.listdir(self._path / "fd"))

    @property
    def threads(self):
        return len(os.listdir(self._path / "task"))


def embed(server, model="text"):
    return httpx.post(f"{server.url}/embed", json={"inputs": "the dog", "model": model}, timeout=30)


def loaded(server):
    models = httpx.get(f"{server.url}/v1/models").json()["data"]
    return {model["id"]: model["loaded"] for model in models}


def unloaded(server, times):
    """Wait until models have been unloaded so many times."""
    for _ in range(2000):
        if sum(entry["message"] == "unloaded" for entry in server.entries()) >= times:
            return
        time.sleep(0.01)
    raise AssertionError(server.log)


def wait_for(server, **wanted):
    for _ in range(1000):
        if wanted.items() <= loaded(server).items():
            return
        time.sleep(0.01)
    raise AssertionError(f"{loaded(server)}\n{server.log}")


@pytest.fixture
def texts(tmp_path):
    """Two models in directories that a test may change."""
    text = tmp_path / "text"
    text.mkdir()
    tiny_bert.write_checkpoint(text, seed=3, spread=0.25)
    return {"text": text, "rank": write_model(tmp_path / "rank", "pairs")}


@pytest.fixture
def named(texts):
    return [f"{name}={path}" for name, path in texts.items()]


def test_each_model_is_loaded_by_its_requests(texts, named):
    wanted = fbg.load(texts["text"]).encode(["the dog"], normalize_embeddings=True)
    with running(*named, "--idle-unload", "3") as server:
        assert loaded(server) == {"text": False, "rank": False}
        info = httpx.get(f"{server.url}/info").json()
        assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)
        assert loaded(server) == {"text": True, "rank": False}
        metrics = httpx.get(f"{server.url}/metrics").text
        assert 'fbg_model_loaded{model="text"} 1.0' in metrics
        assert 'fbg_model_loaded{model="rank"} 0.0' in metrics
        assert httpx.get(f"{server.url}/health").status_code == 200
        there = httpx.get(f"{server.url}/info").json()
        assert [model.pop("loaded") for model in there["models"]] == [True, False]
        assert [model.pop("loaded") for model in info["models"]] == [False, False]
        assert info == there
        wait_for(server, text=False)
        assert 'fbg_model_loaded{model="text"} 0.0' in httpx.get(f"{server.url}/metrics").text
        assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)
        body = {"query": "a", "texts": ["b"], "truncation_direction": "Left"}
        assert httpx.post(f"{server.url}/rerank", json=body).status_code == 200
        messages = [entry["message"] for entry in server.entries()]
        assert messages.count("found") == 2
        assert messages.count("loaded") == 3 and "unloaded" in messages
        wait_for(server, text=False, rank=False)


def test_facts_are_those_of_the_models_that_are_loaded(directories):
    named = [f"{name}={path}" for name, path in directories.items()]
    found = []
    for given in ((), IDLE):
        with running(*named, *given, "--dtype", "int8") as server:
            found.append(httpx.get(f"{server.url}/info").json())
    for model in found[1]["models"]:
        assert model.pop("loaded") is False
    assert found[0] == found[1]


def test_requests_at_once_share_a_load_and_none_loses_its_model(named):
    with running(*named, "--idle-unload", "0.02", "--threads", "2") as server:
        end = time.monotonic() + 4

        def ask(n):
            count = 0
            with httpx.Client(base_url=server.url, timeout=30) as client:
                while time.monotonic() < end:
                    model = ("text", "rank")[(n + count) % 2]
                    body = {"inputs": ["the dog"] * (n + 1), "model": model}
                    answer = client.post("/embed", json=body)
                    assert answer.status_code == 200, answer.text
                    count += 1
                    time.sleep(0.01 * (count % 8))
            return count

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(ask, range(4))) > 20
        assert [entry["message"] for entry in server.entries()].count("unloaded") > 2


def test_mistakes_are_found_before_the_first_request(tmp_path, texts):
    text = str(texts["text"])
    assert "no such directory" in fails(str(tmp_path / "none"), "--port", "0", *IDLE)
    assert "0 is not in the range x>0" in fails(text, "--idle-unload", "0", status=2)
    fbg.load(text, dtype="int8").save(tmp_path / "int8")
    saved = str(tmp_path / "int8")
    for workers in ("1", "2"):
        given = ("--port", "0", "--dtype", "float32", "--workers", workers)
        assert "dtype must be 'int8'" in fails(saved, *IDLE, *given, status=int(workers))
    (tmp_path / "text" / "config.json").write_text("{")
    assert "config.json" in fails(text, "--port", "0", *IDLE)


def test_a_load_that_fails_is_answered_503_and_tried_again(texts, named):
    weights = texts["text"] / "model.safetensors"
    with running(*named, *IDLE) as server:
        before = weights.read_bytes()
        weights.unlink()
        for _ in range(2):
            answer = embed(server)
            assert answer.status_code == 503 and answer.json()["error_type"] == "Unhealthy"
            assert "the model 'text' could not be loaded" in answer.json()["error"]
            assert str(weights) not in answer.text
        openai = httpx.post(f"{server.url}/v1/embeddings", json={"input": "a"})
        assert openai.status_code == 503 and openai.json()["error"]["code"] == "unavailable"
        assert embed(server, "rank").status_code == 200
        assert httpx.get(f"{server.url}/health").status_code == 200
        weights.write_bytes(before)
        assert embed(server).status_code == 200
        failures = [e for e in server.entries() if e["message"].startswith("load of text failed")]
        assert len(failures) == 3 and failures[0]["level"] == "error"


def test_sighup_finds_models_anew_and_loads_those_that_were_loaded(texts, named):
    with running(*named, "--idle-unload", "60") as server:
        embed(server)
        tiny_bert.write_checkpoint(texts["text"], seed=4, spread=0.25)
        wanted = fbg.load(texts["text"]).encode(["the dog"], normalize_embeddings=True)
        server.signal(signal.SIGHUP)
        for _ in range(400):
            if "reload: ready" in server.log:
                break
            time.sleep(0.02)
        assert loaded(server) == {"text": True, "rank": False}
        assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)
        unloaded(server, 1)  # the one before
        assert 'fbg_model_loaded{model="text"} 1.0' in httpx.get(f"{server.url}/metrics").text
        (texts["text"] / "config.json").write_text("{")
        server.signal(signal.SIGHUP)
        for _ in range(400):
            if "reload failed" in server.log:
                break
            time.sleep(0.02)
        assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_answers_requests_that_wait_for_a_model(named, workers):
    with running(*named, "--idle-unload", "60", "--workers", workers) as server:
        connected = threading.Barrier(7)

        def ask(n):
            with httpx.Client(base_url=server.url, timeout=60) as client:
                assert client.get("/health").status_code == 200
                connected.wait(60)
                body = {"inputs": "the dog", "model": ("text", "rank")[n % 2]}
                return client.post("/embed", json=body).status_code

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            waiting = [pool.submit(ask, n) for n in range(6)]
            connected.wait(60)
            server.signal(signal.SIGTERM)
            assert [answer.result(60) for answer in waiting] == [200] * 6
        assert server.stop() == 0


def test_workers_load_and_unload_each_by_itself(named):
    with running(*named, *IDLE, "--workers", "2") as server:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: embed(server).json(), range(40)))
        assert all(answer == answers[0] for answer in answers)
        for _ in range(500):
            if 'fbg_model_loaded{model="text"} 0.0' in httpx.get(f"{server.url}/metrics").text:
                break
            time.sleep(0.02)
        done = [(e["pid"], e["message"]) for e in server.entries() if "loaded" in e["message"]]
        assert done and all(pid != server.process.pid for pid, _ in done)
        assert sum(m == "loaded" for _, m in done) == sum(m == "unloaded" for _, m in done)


def test_networks_are_unloaded_too(tmp_path):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        "double",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    )
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "net.onnx")
    body = {"inputs": [{"name": "x", "shape": [2], "datatype": "FP32", "data": [1, 2]}]}
    with running(f"net={tmp_path / 'net.onnx'}", *IDLE) as server:
        for _ in range(2):
            assert loaded(server) == {"net": False}
            described = httpx.get(f"{server.url}/v2/models/net").json()
            assert [output["name"] for output in described["outputs"]] == ["y"]
            answer = httpx.post(f"{server.url}/v2/models/net/infer", json=body)
            assert answer.json()["outputs"][0]["data"] == [2, 4]
            assert loaded(server) == {"net": True}
            wait_for(server, net=False)


@pytest.fixture
def large(tmp_path):
    """A model of 37 MiB in float32."""
    directory = tmp_path / "large"
    directory.mkdir()
    geometry = tiny_bert.Geometry(256, 4, 4, 1024, vocab_size=24_000)
    tiny_bert.write_checkpoint(directory, geometry, seed=3)
    yield directory
    shutil.rmtree(directory)


def test_the_system_gets_the_memory_of_models_back(large):
    with running(f"text={large}", "--idle-unload", "0.2", "--threads", "2") as server:
        process = Process(server.process.pid)
        fresh = process.rss
        seen = []
        for n in range(4):
            assert embed(server).status_code == 200
            there = process.rss
            unloaded(server, n + 1)
            seen.append((there, process.rss))
        # The first request loads libraries, too, which stay.
        base = seen[0][1]
        assert base - fresh < 40 * MIB, (fresh, seen)
        for there, gone in seen[1:]:
            assert there - gone > 25 * MIB, (fresh, seen)
            assert abs(gone - base) < 8 * MIB, (fresh, seen)


def test_a_hundred_loads_leave_nothing_behind(texts):
    with running(f"text={texts['text']}", "--idle-unload", "0.01", "--threads", "2") as server:
        process, seen = Process(server.process.pid), []
        for n in range(100):
            assert embed(server).status_code == 200
            unloaded(server, n + 1)
            if n >= 20:
                seen.append((process.rss, process.files, process.threads))
        rss, files, threads = (list(each) for each in zip(*seen, strict=True))
        assert max(rss) - rss[0] < 6 * MIB, rss
        assert max(files) <= files[0] + 2 and max(threads) <= threads[0] + 2, (files, threads)
