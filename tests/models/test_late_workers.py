"""Workers that share one CPU with another process, and do not come in time: the same bits."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fbg

LOOP = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"
DTYPES = ["float32", "bfloat16", "int8"]


@contextlib.contextmanager
def late_workers():
    """Leave all workers of this process one CPU, which another process keeps busy."""
    allowed = os.sched_getaffinity(0)
    cpu = max(allowed)
    tasks = Path("/proc/self/task").iterdir()
    workers = [int(task.name) for task in tasks if (task / "comm").read_text() == "fbg-worker\n"]
    assert len(workers) >= 2
    neighbour = subprocess.Popen([sys.executable, "-c", LOOP % cpu])
    try:
        for worker in workers:
            os.sched_setaffinity(worker, {cpu})
        yield
    finally:
        neighbour.kill()
        neighbour.wait()
        for worker in workers:
            os.sched_setaffinity(worker, allowed)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_the_same_without_them(directory, dtype):
    allowed = os.sched_getaffinity(0)
    ids = np.random.default_rng(7).integers(0, 99, (3, 40))
    models = [fbg.load(directory, dtype=dtype, num_threads=threads) for threads in (1, 2, 3)]
    wanted, *_ = (model.forward(ids).last_hidden_state for model in models)
    with late_workers():
        for _ in range(5):
            for model in models:
                assert np.array_equal(model.forward(ids).last_hidden_state, wanted)
                assert os.sched_getaffinity(0) == allowed
