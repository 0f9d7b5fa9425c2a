"""The library that makes calls fail (injection.cc), as Python sees it.

`run_with_faults` starts a Python process that has it preloaded. In that process, `Faults` arms it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ALLOCATIONS", "FILES", "SHORT_WRITES", "Faults", "library", "report", "run_with_faults"]

ALLOCATIONS, FILES, SHORT_WRITES = 1, 2, 3
TESTS = Path(__file__).parents[1]
SOURCE = Path(__file__).with_name("injection.cc")
PATH = "FBG_FAULTS_LIBRARY"
MEMORY = "/dev/shm"  # files there are written at once, and fsync waits for no disk


class Faults:
    """The library in this process, which was started by `run_with_faults`."""

    def __init__(self, watched="_fbg."):
        self._library = ctypes.CDLL(os.environ[PATH])
        self._library.faults_arm.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int)
        self._library.faults_disarm.restype = ctypes.c_int64
        self._library.faults_exempt.argtypes = (ctypes.c_int64,)
        if not self._library.faults_watch(watched.encode()):
            raise RuntimeError(f"no library is loaded whose name has {watched!r}")
        self.calls = 0

    @contextmanager
    def failing(self, kind, number, error=0):
        """Let call `number` of the block fail, counted from 1; 0 fails none.

        Afterwards `calls` is how many there were.
        """
        self._library.faults_arm(kind, number, error)
        try:
            yield
        finally:
            self.calls = self._library.faults_disarm()

    @contextmanager
    def exempting(self, size=-1):
        """Let the places at which the block allocates never fail, in the block and afterwards.

        size: only those that allocate just as many bytes.
        """
        self._library.faults_exempt(size)
        try:
            yield
        finally:
            self._library.faults_exempt(0)


def library(folder):
    """Compile the library into a folder, unless it is there."""
    path = folder / "libfaults.so"
    if not path.exists():
        compiler = os.environ.get("CXX", "g++")
        options = ["-std=c++20", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([compiler, *options, "-o", str(path), str(SOURCE)], check=True)
    return path


def run_with_faults(module, *arguments, timeout=600):
    """Run a module of tests/ in a process of its own; return what it prints, or raise with it."""
    with tempfile.TemporaryDirectory(prefix="fbg-faults-") as folder:
        compiled = str(library(Path(folder)))
        # NumPy's products take one thread: others would turn while they wait, on every tiny product
        # of every child, which then needs many times as long.
        changed = {
            "LD_PRELOAD": compiled,
            PATH: compiled,
            "PYTHONPATH": str(TESTS),
            "OPENBLAS_NUM_THREADS": "1",
            "TMPDIR": MEMORY if os.access(MEMORY, os.W_OK) else folder,
        }
        result = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=os.environ | changed,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    if result.returncode != 0:
        told = f"{result.stdout[-4000:]}\n{result.stderr[-4000:]}"
        raise AssertionError(f"{module} failed ({result.returncode}):\n{told}")
    return result.stdout


def report(sweeps):
    """Print what was found at the points of each use; return the exit status."""
    total, wrong = 0, 0
    for name, points, problems in sweeps:
        total, wrong = total + points, wrong + len(problems)
        print(f"{name}: {points} points, {len(problems)} problems", flush=True)
        for problem in problems[:8]:
            print(f"  {problem}", flush=True)
    print(f"{total} points of failure, {wrong} problems")
    return 1 if wrong else 0
