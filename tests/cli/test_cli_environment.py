"""A bad environment variable ends `fbg` with one line, whether it is read at import or later."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fbg
from helpers import tiny_bert

SCRIPT = Path(sys.executable).with_name("fbg")
COMMANDS = [[sys.executable, "-m", "fbg"], [str(SCRIPT)]]


def run(*command, **env):
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True)


@pytest.mark.parametrize("program", COMMANDS, ids=["module", "script"])
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("FBG_NUM_THREADS", "-1", "FBG_NUM_THREADS: must be an integer in [1, 1024], got '-1'"),
        ("FBG_NUM_THREADS", "two", "FBG_NUM_THREADS: must be an integer in [1, 1024], got 'two'"),
        ("FBG_MAX_ISA", "foo", "FBG_MAX_ISA: unknown ISA 'foo'; supported: generic"),
    ],
)
def test_a_variable_that_is_read_at_import(program, variable, value, message):
    result = run(*program, "info", **{variable: value})
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stderr.count("\n") == 1


def test_other_programs_get_an_exception():
    result = run(sys.executable, "-c", "import fbg", FBG_MAX_ISA="foo")
    assert result.returncode == 1
    assert "ValueError: FBG_MAX_ISA: unknown ISA 'foo'" in result.stderr


@pytest.mark.skipif(fbg.isa.active() == "generic", reason="this machine generates no kernels")
def test_a_directory_for_kernels_that_cannot_be_made(tmp_path):
    model = tiny_bert.write_checkpoint(tmp_path / "model", tiny_bert.AWKWARD)
    command = (*COMMANDS[0], "encode", str(model), "--text", "a", "--output", str(tmp_path / "a"))
    result = run(*command, FBG_DUMP_KERNELS="/proc/x")
    assert result.returncode == 1
    message = result.stderr.splitlines()[-1]  # what is before it is the progress bar
    assert message.startswith("Error: FBG_DUMP_KERNELS: cannot write /proc/x/")
    assert "Traceback" not in result.stderr
