"""Starting, stopping under load, loading again, workers, keys, logs."""

import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import httpx
import numpy as np
import pytest

import fbg
from fbg.server.metrics import FLUSH_SECONDS
from fbg.server.workers import SHORTEST_LIFE
from helpers import tiny_bert
from helpers.serving import running

SECRET = "correct horse"
SUCCESSES = re.compile(r'^te_request_success\{method="embed"\} (\S+)$', re.MULTILINE)


def embed(server, **options):
    return httpx.post(f"{server.url}/embed", json={"inputs": "the dog"}, **options)


def successes(server):
    """The requests for embeddings that succeeded, of all workers."""
    counts = SUCCESSES.findall(httpx.get(f"{server.url}/metrics").text)
    return sum(map(float, counts))


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_answers_every_request_that_was_accepted(workers, directories):
    with running(str(directories["text"]), "--dtype", "int8", "--workers", str(workers)) as server:
        ended = []
        answered = []

        def ask(n):
            with httpx.Client(base_url=server.url, timeout=30) as client:
                while True:
                    answer = client.post("/embed", json={"inputs": ["the dog"] * 100})
                    assert answer.status_code == 200
                    assert len(answer.json()) == 100
                    answered.append(n)
                    if answer.headers.get("connection") == "close":
                        ended.append(n)
                        return

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            futures = [pool.submit(ask, n) for n in range(8)]
            while len(answered) < 30:
                time.sleep(0.01)
            server.signal(signal.SIGTERM)
            for future in futures:
                future.result(60)
        assert len(ended) == 8
        assert server.stop() == 0
        with pytest.raises(httpx.ConnectError):
            embed(server)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interruption_drains_and_says_so(directories, workers):
    with running(str(directories["text"]), "--workers", workers) as server:
        server.signal(signal.SIGINT)
        assert server.process.wait(30) == 130


BEGINNING = """if True:
    import os, sys, threading, time
    from fbg.server import workers
    from fbg.server.settings import ModelSource, Settings

    class Supervisor(workers._Supervisor):
        def _work(self, place):
            time.sleep(60)

    threading.Timer(0.5, os.kill, (os.getpid(), int(sys.argv[2]))).start()
    settings = Settings(models=(ModelSource("m", sys.argv[1]),), workers=2)
    sys.exit(Supervisor(settings, None, None).run())
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_workers_that_have_not_begun_end_in_good_order(number, code, directories, tmp_path):
    command = [sys.executable, "-c", BEGINNING, str(directories["text"]), str(int(number))]
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert subprocess.run(command, env=environment, timeout=60).returncode == code


def test_health_says_when_the_models_have_run(directories):
    with running(str(directories["text"]), ready=False) as server:
        assert server.entries()[0]["message"].startswith("loading; ")
        first = httpx.get(f"{server.url}/health")
        assert first.status_code in (200, 503)
        if first.status_code == 503:
            assert first.json()["error_type"] == "Unhealthy"
        server.wait_ready()
        assert embed(server).status_code == 200
        (listening,) = (each for each in server.entries() if each["message"] == "listening")
        assert server.url.endswith(f":{listening['port']}") and listening["models"] == ["text"]
        (loaded,) = (each for each in server.entries() if each["message"] == "loaded")
        assert (loaded["model"], loaded["family"], loaded["dtype"]) == ("text", "bert", "float32")
        assert (loaded["prompts"], loaded["default_prompt"]) == ({"query": "find: "}, None)


def test_sighup_loads_again_while_requests_go_on(tmp_path):
    directory = tmp_path / "m"
    directory.mkdir()
    tiny_bert.write_checkpoint(directory, seed=3, spread=0.25)
    with running(str(directory)) as server:
        before = np.array(embed(server).json(), np.float32)
        tiny_bert.write_checkpoint(directory, seed=4, spread=0.25)
        wanted = fbg.load(directory).encode(["the dog"], normalize_embeddings=True)
        server.signal(signal.SIGHUP)
        for _ in range(400):
            got = np.array(embed(server).json(), np.float32)
            if np.array_equal(got, wanted):
                break
            assert np.array_equal(got, before)
            time.sleep(0.02)
        else:
            raise AssertionError(server.log)
        # What cannot be loaded leaves the models that are there.
        (directory / "config.json").write_text("{")
        server.signal(signal.SIGHUP)
        for _ in range(400):
            if "reload failed" in server.log:
                break
            time.sleep(0.02)
        assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)


def test_workers_share_requests_and_metrics_and_are_replaced(directories):
    model = fbg.load(directories["text"], dtype="int8")
    wanted = model.encode(["the dog"], normalize_embeddings=True)
    with running(str(directories["text"]), "--dtype", "int8", "--workers", "2") as server:
        for _ in range(40):
            assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)
        # Any worker may answer /metrics; the others write what they counted a little later.
        for _ in range(200):
            if successes(server) == 40:
                break
            time.sleep(FLUSH_SECONDS)
        time.sleep(2 * FLUSH_SECONDS)
        assert successes(server) == 40
        workers = {e["pid"] for e in server.entries() if e["message"] == "request"}
        assert workers and server.process.pid not in workers


def test_a_replaced_worker_has_the_models_of_the_last_reload(tmp_path):
    directory = tmp_path / "m"
    directory.mkdir()
    tiny_bert.write_checkpoint(directory, seed=3, spread=0.25)
    with running(str(directory), "--workers", "2") as server:
        started = time.monotonic()
        tiny_bert.write_checkpoint(directory, seed=4, spread=0.25)
        wanted = fbg.load(directory).encode(["the dog"], normalize_embeddings=True)
        server.signal(signal.SIGHUP)
        for _ in range(400):
            reloads = [
                e
                for e in server.entries()
                if e["message"] == "loaded" and e["pid"] != server.process.pid
            ]
            if len(reloads) >= 2:
                break
            time.sleep(0.02)
        time.sleep(max(0, started + SHORTEST_LIFE + 0.5 - time.monotonic()))
        os.kill(reloads[0]["pid"], signal.SIGKILL)
        for _ in range(400):
            answered = {e["pid"] for e in server.entries() if e["message"] == "request"}
            if len(answered - {entry["pid"] for entry in reloads}) == 1:
                break
            with contextlib.suppress(httpx.TransportError):
                assert np.array_equal(np.array(embed(server).json(), np.float32), wanted)
        else:
            raise AssertionError(server.log)


def test_keys_open_what_they_should(directories, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("one\ntwo\n")
    arguments = [str(directories["text"]), "--api-key-file", str(keys)]
    with running(*arguments, FBG_API_KEY=SECRET) as server:
        for key in ("one", "two", SECRET):
            headers = {"authorization": f"Bearer {key}"}
            assert embed(server, headers=headers).status_code == 200
        for header in ("Bearer", "Bearer three", "Bearer onetwo", "Basic one", "one", "Bearer ö"):
            refused = embed(server, headers={"authorization": header.encode()})
            assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
        assert embed(server).json() == {
            "error": "the API key is missing or wrong",
            "error_type": "Unauthorized",
        }
        answer = httpx.post(f"{server.url}/v1/embeddings", json={"input": "a"})
        assert answer.status_code == 401 and answer.json()["error"]["code"] == "invalid_api_key"
        for path in ("/health", "/metrics", "/"):
            assert httpx.get(server.url + path).status_code == 200
        assert httpx.get(f"{server.url}/info").status_code == 401
        assert SECRET not in server.log and "two" not in server.log


def test_logs_hold_request_ids_and_no_texts(directories):
    with running(str(directories["text"])) as server:
        secret = "an utterly private text"
        headers = {"x-request-id": "abc-1"}
        url = f"{server.url}/embed?inputs=queryprivate"
        answer = httpx.post(url, json={"inputs": secret}, headers=headers)
        assert answer.headers["x-request-id"] == "abc-1"
        strange = httpx.get(f"{server.url}/health", headers={"x-request-id": "a b\t{}"})
        assert len(strange.headers["x-request-id"]) == 16
        httpx.post(f"{server.url}/embed", json={"inputs": secret, "prompt_name": "private"})
        wanted = {"request_id": "abc-1", "path": "/embed", "status": 200}
        for _ in range(100):  # lines are written a moment after their requests
            requests = [e for e in server.entries() if e["message"] == "request"]
            if requests and requests[-1]["status"] == 422:
                break
            time.sleep(0.02)
        assert wanted.items() <= requests[-3].items()
        assert requests[-2]["path"] == "/health" and requests[-1]["status"] == 422
        assert "private" not in server.log


def test_cors_is_off_unless_asked_for(directories):
    origin = {"origin": "https://page.example"}
    with running(str(directories["text"])) as server:
        assert "access-control-allow-origin" not in embed(server, headers=origin).headers
    with running(str(directories["text"]), "--cors-origin", "https://page.example") as server:
        answer = embed(server, headers=origin)
        assert answer.headers["access-control-allow-origin"] == "https://page.example"
        other = embed(server, headers={"origin": "https://other.example"})
        assert "access-control-allow-origin" not in other.headers


def fails(*arguments, status=1):
    command = [sys.executable, "-m", "fbg", "serve", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == status and "Traceback" not in result.stderr
    return result.stderr


def test_mistakes_end_the_program_with_one_line(directories, server, tmp_path):
    text = str(directories["text"])
    assert "every model must have a NAME of its own" in fails(text, text, status=2)
    assert "MODEL must be MODEL or NAME=MODEL" in fails(f"={text}", status=2)
    port = server.url.rpartition(":")[2]
    assert f"cannot listen at 127.0.0.1:{port}" in fails(text, "--port", port)
    assert "no such directory" in fails(str(tmp_path / "none"), "--port", "0")
    assert "no such directory" in fails(str(tmp_path / "none"), "--port", "0", "--workers", "2")
    broken = shutil.copytree(text, tmp_path / "broken")
    (broken / "config.json").write_text("{")
    assert "config.json" in fails(str(broken), "--port", "0")
