"""Dockerfile and compose.yaml: what they copy exists, and what the image runs does so here.

Without a container engine, the commands of the image run on this machine, on the loopback interface
and at a free port.
"""

import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from fbg.server.process import GOODBYE_SECONDS, LAST_SECONDS
from fbg.server.settings import ModelSource, Settings
from helpers import tiny_bert
from helpers.serving import running

ROOT = Path(__file__).parents[2]
INSTRUCTIONS = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "EXPOSE", "HEALTHCHECK"}
INSTRUCTIONS |= {"STOPSIGNAL", "ENTRYPOINT"}

# What a build reads, as pyproject.toml and CMakeLists.txt name it.
BUILT_FROM = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "packaging/licenses")
BUILT_FROM += ("cmake", "include", "src", "python/fbg/server/routes/page.html")


def instructions():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [line.split(None, 1) for line in lines]
    return [(name, " ".join(rest.split())) for name, rest in pairs]


def the(name):
    (found,) = (rest for each, rest in instructions() if each == name)
    return found


def service():
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["services"]["fbg"]


def test_every_source_of_a_copy_exists():
    stages = {}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    made = set()  # paths that a stage made
    for name, rest in instructions():
        assert name in INSTRUCTIONS
        words = shlex.split(rest)
        if name == "FROM":
            assert re.fullmatch(r"python:3\.\d+-slim-\w+", words[0])
            stages[words[2] if len(words) > 1 else "last"] = made = set()
        elif name == "RUN":
            made |= {word for word in words if word.startswith("/opt/")}
        elif name == "COPY" and words[0].startswith("--from="):
            assert words[1] in stages[words[0].removeprefix("--from=")]
        elif name == "COPY":
            assert words == [".", "."]
    for path in BUILT_FROM:
        assert (ROOT / path).exists()
        parts = Path(path).parts
        assert not any(fnmatch(parts[0], pattern.strip("/")) for pattern in ignored)


def test_the_build_installs_an_extra_that_there_is():
    (command,) = (rest for name, rest in instructions() if name == "RUN" and "pip install" in rest)
    (extra,) = re.findall(r"'\.\[(\w+)\]'", command)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(rf"^{extra} = \[", text, re.MULTILINE)
    base = {rest.split()[0] for name, rest in instructions() if name == "FROM"}
    assert len(base) == 1  # an environment works with the interpreter that made it


@pytest.mark.parametrize("key", ["", "secret"])
def test_the_image_serves_says_so_and_stops(key, tmp_path):
    entry, compose = json.loads(the("ENTRYPOINT")), service()
    assert entry[:2] == ["fbg", "serve"]
    assert entry[2:] == ["--host", "0.0.0.0", "--port", the("EXPOSE")]
    assert compose["environment"] == {"FBG_API_KEY": "${FBG_API_KEY:-}"}
    model = tiny_bert.write_checkpoint(tmp_path / "m", seed=3, spread=0.25)
    source = ModelSource.parse(compose["command"][0])
    (target,) = (volume.split(":")[1] for volume in compose["volumes"])
    assert source.path.startswith(f"{target}/")
    arguments = [f"{source.name}={model}", *compose["command"][1:]]
    # There is no place to write to, as with `read_only`.
    env = {"FBG_API_KEY": key, "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    with running(*arguments, **env) as server:
        port = server.url.rpartition(":")[2]
        check = the("HEALTHCHECK").partition(" CMD ")[2]
        program, option, code = json.loads(check)
        assert (program, option) == ("python", "-c") and code.count(f":{the('EXPOSE')}/") == 1
        command = [sys.executable, "-c", code.replace(f":{the('EXPOSE')}/", f":{port}/")]
        assert subprocess.run(command, timeout=60).returncode == 0
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        asked = urllib.request.Request(f"{server.url}/embed", b'{"inputs": "a"}', headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert len(json.load(answer)) == 1
        server.signal(signal.Signals[the("STOPSIGNAL")])
        assert server.process.wait(60) == 0
        assert subprocess.run(command, timeout=60, stderr=subprocess.DEVNULL).returncode != 0


def test_a_container_has_the_time_to_drain():
    longest = Settings((ModelSource("m", "m"),)).drain_seconds + GOODBYE_SECONDS + LAST_SECONDS
    assert float(service()["stop_grace_period"].removesuffix("s")) > longest + 5


def test_the_user_of_the_image_has_no_privileges():
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert f" {the('USER')}" in next(rest for _, rest in instructions() if "useradd" in rest)
    assert the("USER") not in ("root", "0")
