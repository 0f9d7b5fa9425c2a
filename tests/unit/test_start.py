"""Starting stays quick: what `import fbg` and the help of `fbg` and its commands import."""

import subprocess
import sys
from pathlib import Path

import pytest

import fbg

pytest.importorskip("click")
from fbg.cli import COMMANDS

PRINT = "\nprint('loaded', *sys.modules)"
RUN = """import sys
sys.argv = ["fbg", *{arguments!r}]
from fbg.__main__ import main
try:
    main()
except SystemExit as end:
    assert end.code == 0
"""

KERNELS = {"_fbg", "arrays", "conv", "cpp", "environment", "errors", "files", "isa", "locks"}
KERNELS |= {"matmul", "quantization", "reading", "saved_file", "threads", "tuning", "again"}
PROGRAM = KERNELS | {"__main__", "cli"}
MODELS = PROGRAM | {"checkpoints", "compression", "model", "networks", "progress", "reports"}
MODELS |= {"graph", "runtime", "tables", "tasks", "text"}
NETWORKS = MODELS | {"importers"}
OF_NETWORKS = {"bench", "compare", "info", "profile", "quantize", "report"}

# What takes as long to import as all kernels do, and only running a model may need.
HEAVY = {"asyncio", "secrets", "multiprocessing", "ssl", "http", "sqlite3", "unittest"}


def loaded(code):
    """The modules that a new interpreter has after this code."""
    command = [sys.executable, "-c", f"import sys\n{code}{PRINT}"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split()[1:])


BEFORE = loaded("import numpy")


def check(code, packages, others):
    """At most these parts of fbg, and these packages of others, beside those of NumPy."""
    new = loaded(code) - BEFORE
    assert {name.split(".")[1] for name in new if name.startswith("fbg.")} <= packages
    tops = {name.partition(".")[0] for name in new}
    assert tops - {"fbg", "numpy", "__main__"} - sys.stdlib_module_names <= others
    assert not new & HEAVY


def test_what_comes_first_imports_nothing():
    """So that Ctrl-C finds it done, however early it comes."""
    first = Path(fbg.__file__).with_name("environment.py")
    code = f"before = {{*sys.modules}}\nexec(open({str(first)!r}).read(), {{'__name__': 'first'}})"
    command = [
        sys.executable,
        "-S",
        "-c",
        f"import os, sys\n{code}\nprint({{*sys.modules}} - before)",
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"


def test_import_of_fbg():
    check("import fbg", KERNELS, set())


def test_help():
    check(RUN.format(arguments=["--help"]), PROGRAM, {"click"})


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of(command):
    parts = NETWORKS if command in OF_NETWORKS else MODELS
    if command == "serve":  # whose options have the defaults of the settings of the server
        parts = parts | {"server"}
    check(RUN.format(arguments=[command, "--help"]), parts, {"click"})
