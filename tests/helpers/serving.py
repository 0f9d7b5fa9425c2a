"""A server in a process of its own, on a free port of the loopback interface."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import httpx

from fbg.server.app import build_app
from fbg.server.models.served import serve_models
from fbg.server.settings import ModelSource, Settings
from fbg.server.state import State


class RunningServer:
    """`fbg serve` with some arguments. url: where it answers. log: what it has logged so far."""

    def __init__(self, arguments, env, python=sys.executable, directory=None):
        descriptor, name = tempfile.mkstemp(suffix=".log")
        self._log = Path(name)
        command = [python, "-m", "fbg", "serve", *arguments, "--port", "0"]
        with open(descriptor, "wb") as stderr:
            self.process = subprocess.Popen(
                command, stderr=stderr, env=os.environ | env, cwd=directory
            )
        self.url = f"http://127.0.0.1:{self._port()}"

    @property
    def log(self):
        return self._log.read_text(encoding="utf-8")

    def entries(self):
        lines = [line for line in self.log.splitlines() if line.startswith("{")]
        return [json.loads(line) for line in lines]

    def _port(self):
        """The port, which is logged before the models are loaded."""
        for _ in range(600):
            for entry in self.entries():
                if "port" in entry:
                    return int(entry["port"])
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"the server did not log its port: {self.log}")

    def wait_ready(self):
        for _ in range(1200):
            if httpx.get(f"{self.url}/health").status_code == 200:
                return
            assert self.process.poll() is None, self.log
            time.sleep(0.05)
        raise AssertionError(f"the server does not get ready: {self.log}")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """End it by SIGTERM; return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
            self._log.unlink(missing_ok=True)


@contextmanager
def running(*arguments, ready=True, python=sys.executable, directory=None, **env):
    server = RunningServer(list(arguments), env, python, directory)
    try:
        if ready:
            server.wait_ready()
        yield server
    finally:
        server.stop()


@contextmanager
def ready_state(models=None, **settings):
    """The state of a server in this process, whose models are there already."""
    source = ModelSource("m", "nowhere")
    state = State(Settings((source,), access_log=False, **settings), 1)
    state.models.replace(serve_models(dict(models or {}), state.batcher, state.metrics.batch))
    state.ready = True
    try:
        yield state
    finally:
        state.batcher.close()
        for served in state.models:
            served.runs.close()


def ask(models, path, body, **limits):
    """Ask an application in this process, whose event loop runs in this thread."""

    async def answer():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.post(f"http://test{path}", json=body)

    with ready_state(models, **limits) as state:
        app = build_app(state)
        return asyncio.run(answer())
