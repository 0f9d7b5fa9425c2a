"""A reader of a page: what the page tells to install is there, and nothing else.

The blocks of a page run in an interpreter of the reader's own, in their order, as in a session.
"""

import json
import os
import re
import shlex
import subprocess
from contextlib import ExitStack
from pathlib import Path
from threading import Timer

from packaging.requirements import Requirement

from helpers.linked_environment import LinkedEnvironment
from helpers.serving import running

SESSION = Path(__file__).with_name("readers_session.py")
MOST_SECONDS = 120
# These packages would report their use to their makers; Ray warns unless told what it does.
QUIET = {"ANONYMIZED_TELEMETRY": "False", "HAYSTACK_TELEMETRY_ENABLED": "False"}
QUIET |= {"RAY_USAGE_STATS_ENABLED": "0", "DAFT_ANALYTICS_ENABLED": "0", "DO_NOT_TRACK": "true"}
QUIET |= {"RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
QUIET |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # which listens on the loopback interface only
QUIET |= {"RAY_prestart_worker_first_driver": "0"}  # a process for each CPU, which few blocks need


def installed_by(text):
    """What the commands `pip install` in a text install; a dot is fbg."""
    for arguments in re.findall(r"pip install ([^`#\n]+)", text):
        for word in shlex.split(arguments):
            if not word.startswith("-") and not word.endswith((".tar.gz", ".whl")):
                yield Requirement(re.sub(r"^\.", "fbg", word))


class Reader:
    """Someone in `directory` who follows a page; a context, whose end closes what was started."""

    def __init__(self, directory):
        self._directory = directory
        self._environments = 0
        self._log = directory / "reader.log"
        self._open = ExitStack()
        self._start_afresh()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self._open.close()

    def read(self, text):
        """Take notice of what a text tells to install, and of a new environment to do it in."""
        _, new, after = text.rpartition("-m venv ")
        if new:
            self._start_afresh()
        self._told += installed_by(after if new else text)

    def python(self, code, page, line):
        """Run a block of Python; line: of the page, of its first line."""
        if self._server is not None:
            code = code.replace(":8080", self._port())
        self._run({"code": code, "page": page, "line": line})

    def fbg(self, words):
        """Run a command of fbg. A server answers until there is another one, or the page ends."""
        if words[1] != "serve":
            self._run({"words": words})
            return
        self._stop_server()
        python = str(self._ready().python)
        server = running(*words[2:], python=python, directory=self._directory)
        self._server = self._servers.enter_context(server)

    def curl(self, words):
        """Run curl, which asks the server."""
        assert self._server is not None, "nothing serves"
        words = [word.replace(":8080", self._port()) for word in words]
        subprocess.run(["curl", "--fail-with-body", "--silent", *words[1:]], check=True)

    def echo(self, words):
        """Make a file of one line."""
        *said, arrow, name = words[1:]
        assert arrow == ">", words
        (self._directory / name).write_text(f"{' '.join(said)}\n")

    def _start_afresh(self):
        self._open.close()
        self._told = []
        self._environment = None
        self._process = None
        self._server = None
        self._servers = self._open.enter_context(ExitStack())

    def _port(self):
        assert self._server is not None
        return f":{self._server.url.rpartition(':')[2]}"

    def _stop_server(self):
        self._servers.close()
        self._server = None

    def _ready(self):
        """The environment, with what has been told so far."""
        if self._environment is None:
            self._environments += 1
            name = f"environment-{self._environments}"
            self._environment = LinkedEnvironment(self._directory / name)
        while self._told:
            self._environment.install(self._told.pop(0))
        return self._environment

    def _session(self):
        python = self._ready().python
        if self._process is None:
            variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | QUIET
            variables["PATH"] = f"{python.parent}{os.pathsep}{variables['PATH']}"
            self._process = subprocess.Popen(
                [str(python), "-I", str(SESSION)],
                cwd=self._directory,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._open.enter_context(self._log.open("w")),
                text=True,
            )
            self._open.callback(self._end, self._process)
        return self._process

    @staticmethod
    def _end(process):
        process.communicate(timeout=MOST_SECONDS)  # the end of its input ends it

    def _run(self, block):
        process = self._session()
        assert process.stdin is not None and process.stdout is not None
        watch = Timer(MOST_SECONDS, process.kill)
        watch.start()
        try:
            process.stdin.write(f"{json.dumps(block)}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        finally:
            watch.cancel()
        problem = json.loads(answer) if answer else "the interpreter ended"
        if problem is not None:
            raise AssertionError(f"{problem}\n{self._log.read_text()[-4000:]}")
