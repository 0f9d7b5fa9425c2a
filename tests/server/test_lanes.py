"""Servers with lanes: the same bits, several batches at once, on CPUs that they are bound to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

import fbg
from helpers.commands import check_mistakes
from helpers.serving import RunningServer, ready_state, running
from server.test_lifecycle import fails

TEXTS = ["the dog", "a dog and a cat", "the cat sat on the mat", "hello"]
CPUS = sorted(os.sched_getaffinity(0))
several = pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")


def answers(server):
    """The vectors of the texts, which are requested at the same time."""
    found = [None] * len(TEXTS)

    def ask(n):
        body = {"inputs": [TEXTS[n]] * (40 if n % 2 else 1)}
        answer = httpx.post(f"{server.url}/embed", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        found[n] = np.array(answer.json(), np.float32)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(len(TEXTS))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [each for each in found if each is not None]


def wanted(directory):
    model = fbg.load(directory, dtype="int8")
    rows = model.encode(TEXTS, normalize_embeddings=True)
    return [np.repeat(rows[n : n + 1], 40 if n % 2 else 1, 0) for n in range(len(TEXTS))]


def check_answers(server, directory):
    for got, expected in zip(answers(server), wanted(directory), strict=True):
        assert np.array_equal(got, expected)


def masks(pid):
    """The affinity masks of the threads of a process."""
    found = []
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        found += re.findall(r"^Cpus_allowed_list:\s+(\S+)$", status.read_text(), re.M)
    return found


def children(pid):
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


@several
@pytest.mark.parametrize("pin", [False, True])
def test_lanes_answer_the_same_bits(directories, pin):
    options = ["--dtype", "int8", "--threads", "2", "--lanes", "2", *["--pin"] * pin]
    with running(str(directories["text"]), *options) as server:
        check_answers(server, directories["text"])
        bound = [mask for mask in masks(server.process.pid) if mask.isdecimal()]
        # In each lane, a thread for interactive requests and one for bulk requests.
        each = [str(cpu) for cpu in CPUS for _ in range(2)]
        assert sorted(bound) == (sorted(each) if pin and len(CPUS) == 2 else bound)
        assert bool(bound) == (pin and len(CPUS) == 2)


@several
def test_networks_run_in_every_lane():
    with ready_state(num_threads=2, lanes=2) as state:
        meeting = threading.Barrier(2, timeout=20)
        for future in [state.networks.submit(meeting.wait) for _ in range(2)]:
            future.result()


def test_the_fastest_lanes_are_measured_and_logged(directories):
    options = ["--dtype", "int8", "--lanes", "auto", "--pin", "--threads", "2"]
    with running(str(directories["text"]), *options) as server:
        (chosen,) = (each for each in server.entries() if each["message"] == "lanes")
        assert chosen["lanes"] in (1, 2)
        assert list(chosen["batches_per_s"]) == ["1", "2"]
        assert min(chosen["batches_per_s"].values()) > 0
        check_answers(server, directories["text"])
        server.signal(signal.SIGHUP)
        check_answers(server, directories["text"])


@several
def test_workers_have_lanes_on_cpus_of_their_own(directories):
    options = ["--dtype", "int8", "--workers", "2", "--lanes", "1", "--pin"]
    with running(str(directories["text"]), *options) as server:
        check_answers(server, directories["text"])
        places = [set(masks(pid)) for pid in children(server.process.pid)]
        assert len(places) == 2 and not places[0] & places[1]
        if len(CPUS) == 2:
            assert sorted(map(sorted, places)) == [[str(cpu)] for cpu in CPUS]


def test_a_worker_for_each_numa_node(directories):
    with running(str(directories["text"]), "--dtype", "int8", "--workers", "numa") as server:
        check_answers(server, directories["text"])


ON_TWO_NODES = """if True:
    import os, sys
    from fbg.server import workers
    from fbg.server.settings import ModelSource, Settings

    nodes = [frozenset([cpu]) for cpu in sorted(os.sched_getaffinity(0))[:2]]
    settings = Settings(
        (ModelSource("m", sys.argv[1]),), "int8", port=0, workers=2, places=tuple(nodes)
    )
    sys.exit(workers.serve(settings))
"""


class OnTwoNodes(RunningServer):
    """A server with a worker on each of two nodes, which have a CPU each."""

    def __init__(self, directory, log):
        self._log = log
        command = [sys.executable, "-c", ON_TWO_NODES, str(directory)]
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(command, stderr=stderr)
        self.url = f"http://127.0.0.1:{self._port()}"


@several
def test_workers_on_nodes_load_and_stay_there(directories, tmp_path):
    server = OnTwoNodes(directories["text"], tmp_path / "log")
    try:
        server.wait_ready()
        check_answers(server, directories["text"])
        workers = children(server.process.pid)
        for _ in range(600):  # one of them was ready first
            loaded = [each["pid"] for each in server.entries() if each["message"] == "loaded"]
            if len(loaded) == 2:
                break
            time.sleep(0.05)
        assert sorted(loaded) == sorted(workers)
        assert sorted(set(masks(workers[0]) + masks(workers[1]))) == list(map(str, CPUS[:2]))
        assert all(len(set(masks(pid))) == 1 for pid in workers)
    finally:
        assert server.stop() == 0


def test_workers_on_nodes_that_cannot_load_end_the_server(tmp_path):
    command = [sys.executable, "-c", ON_TWO_NODES, str(tmp_path / "none")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "load failed" in ended.stderr and "Traceback" not in ended.stderr


def test_wrong_options(directories):
    most = len(CPUS)
    check_mistakes(
        [
            (["--lanes", "0"], 2, "0 is not in the range x>=1"),
            (["--lanes", "-1"], 2, "-1 is not in the range x>=1"),
            (["--lanes", "x"], 2, "'x' is not a valid integer, nor 'auto'"),
            (["--lanes", most + 1, "--threads", most + 1], 2, f"lanes must be at most {most}, "),
            (["--lanes", 2, "--threads", 1], 2, "lanes must be at most 1, "),
            (["--lanes", most, "--workers", most + 1], 2, "lanes must be at most 1, ")
            if most > 1
            else (["--pin"], 2, "pin must come with lanes"),
            (["--pin"], 2, "pin must come with lanes"),
            (["--lanes", "auto", "--idle-unload", 3], 2, "must be a number with idle_unload"),
            (["--workers", "0"], 2, "0 is not in the range 1<=x<=256"),
            (["--workers", "node"], 2, "'node' is not a valid integer, nor 'numa'"),
        ],
        "serve",
        directories["text"],
    )


def test_a_model_that_cannot_load_ends_a_server_with_lanes(tmp_path):
    assert "no such directory" in fails(str(tmp_path / "none"), "--port", "0", "--lanes", "auto")
