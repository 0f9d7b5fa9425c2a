"""How `fbg` ends when somebody interrupts it, stops reading, or the disk is full."""

import os
import shlex
import signal
import subprocess
import sys

import pytest

from fbg.cli import main
from helpers import tiny_bert
from helpers.commands import invoke

SHORT = {
    "version": ["--version"],
    "help": ["--help"],
    "help of a command": ["encode", "--help"],
    "info": ["info"],
    "json": ["info", "--json"],
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"))


def run(arguments, stdout):
    command = [sys.executable, "-m", "fbg", *arguments]
    result = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True)
    return result.returncode, result.stderr


def run_unread(arguments):
    """What a program does whose output nobody reads, as that of `fbg … | true`."""
    read, write = os.pipe()
    os.close(read)
    try:
        return run(arguments, write)
    finally:
        os.close(write)


@pytest.mark.parametrize("name", SHORT)
def test_it_is_silent_when_nobody_reads(name):
    assert run_unread(SHORT[name]) == (141, "")


def test_tasks_are_silent_when_nobody_reads(model):
    texts = [part for i in range(40) for part in ("--text", f"the quick {i}")]
    assert run_unread(["encode", str(model), *texts]) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
@pytest.mark.parametrize("name", SHORT)
def test_a_full_disk_is_an_error_in_one_line(name):
    with open("/dev/full", "wb") as full:
        code, error = run(SHORT[name], full.fileno())
    assert code == 1
    assert error == "Error: [Errno 28] No space left on device\n"


PRINTING = {
    **SHORT,
    "info of a model": ["info", "MODEL"],
    "encode": ["encode", "MODEL", "--text", "a"],
    "search": ["search", "MODEL", "--query", "a", "--input", "TEXTS"],
    "profile": ["profile", "MODEL", "--tokens", "8"],
}


ENDINGS = [*((name, ">&-") for name in PRINTING), ("encode", ">/dev/full")]


@pytest.mark.parametrize(("name", "ending"), ENDINGS)
def test_output_that_cannot_be_kept_is_an_error(name, ending, model, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("a\nb\n")
    places = {"MODEL": str(model), "TEXTS": str(texts)}
    command = [sys.executable, "-m", "fbg", *(places.get(part, part) for part in PRINTING[name])]
    assert subprocess.run(command, capture_output=True).stdout
    shell = ["sh", "-c", f"{shlex.join(command)} {ending}"]
    result = subprocess.run(shell, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 1 and "Traceback" not in result.stderr


def test_output_that_nobody_wants_may_be_closed(model, tmp_path):
    """With --output, nothing is printed."""
    output = tmp_path / "rows.npy"
    command = f"{sys.executable} -m fbg encode {model} --text a --output {output} >&-"
    assert subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE).returncode == 0
    assert output.exists()


def test_closed_input_is_named(model):
    command = f"{sys.executable} -m fbg encode {model} --input - <&-"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, "Error: standard input is closed\n")


@pytest.mark.parametrize("name", ["--version", *main.commands])
def test_an_interruption_is_130_wherever_it_comes(name, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    command = main.commands.get(name)
    if command is None:
        monkeypatch.setattr("click.echo", interrupt)
        monkeypatch.setattr("click.core.echo", interrupt)
        monkeypatch.setattr("click.decorators.echo", interrupt)
    else:
        monkeypatch.setattr(command.load(), "make_context", interrupt)
    result = invoke(name)
    assert result.exit_code == 130
    assert "Abort" not in result.output


# Sends Ctrl-C when a module is about to be imported, or when the interpreter ends.
INTERRUPTING = """
import atexit, os, signal, sys
where = os.environ["INTERRUPT_AT"]
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
class Finder:
    def find_spec(self, name, path, target=None):
        if name == where:
            interrupt()
atexit.register(lambda: where == "the end" and interrupt())
sys.meta_path.insert(0, Finder())
"""
# What pip writes for an entry point.
SCRIPT = """import sys
from fbg.__main__ import main
sys.exit(main())
"""
MOMENTS = ["numpy", "numpy.linalg", "fbg._fbg", "fbg.conv", "fbg.threads"]
MOMENTS += ["fbg.cli", "click", "click.core", "fbg.cli.info", "the end"]


def interrupted_at(moment, start, folder, *, ignore=False):
    """What `fbg info` returns and says if Ctrl-C comes at a moment."""
    (folder / "sitecustomize.py").write_text(INTERRUPTING)
    paths = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "INTERRUPT_AT": moment, "PYTHONPATH": paths}
    result = subprocess.run(
        [sys.executable, *start, "info"],
        env=environment,
        capture_output=True,
        text=True,
        # As a shell starts it, however these tests were started.
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_IGN if ignore else signal.SIG_DFL
        ),
    )
    return result.returncode, result.stderr


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("way", ["script", "module"])
def test_ctrl_c_is_130_from_the_first_moment(way, moment, tmp_path):
    script = tmp_path / "fbg"
    script.write_text(SCRIPT)
    start = [str(script)] if way == "script" else ["-X", "utf8", "-m", "fbg"]
    assert interrupted_at(moment, start, tmp_path) == (130, "")


def test_a_program_that_is_told_to_ignore_ctrl_c_does(tmp_path):
    assert interrupted_at("numpy", ["-m", "fbg"], tmp_path, ignore=True) == (0, "")


def test_ctrl_c_remains_an_exception_in_other_programs(tmp_path):
    other = ["-c", "import fbg"]
    code, error = interrupted_at("numpy", other, tmp_path)
    assert code != 130 and error.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize("missing", ["msgspec", "prometheus_client", "starlette", "uvicorn"])
def test_a_server_that_lacks_a_package_says_what_to_install(missing, model, monkeypatch):
    serve = main.commands["serve"].load()
    found = lambda name: None if name == missing else object()  # noqa: E731
    monkeypatch.setattr(sys.modules[serve.callback.__module__], "find_spec", found)
    result = invoke("serve", model)
    assert result.exit_code == 1
    wanted = f"fbg serve needs {missing}; install it with: pip install 'fbg[server]'"
    assert wanted in result.output
