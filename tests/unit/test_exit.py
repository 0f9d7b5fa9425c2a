"""The interpreter may end while daemon threads are inside calls of fbg: it ends without a word.

Until Python 3.13, a thread that wants the interpreter's lock back by then is ended by
pthread_exit(), whose unwinding ends the process with "terminate called" at the first C++ function
that is noexcept.
"""

import os
import subprocess
import sys

import pytest

from helpers import tiny_bert

RUNS = 5

SCRIPT = """
import sys, threading, time
import numpy as np
import fbg

w = np.full((256, 512), 0.5, np.float32)
x = np.ones((64, 256), np.float32)
packed = fbg.PackedB(w)
filters = fbg.PackedConv(np.ones((32, 16, 3, 3), np.float32), padding=1)
images = np.ones((1, 32, 32, 16), np.float32)
prepared = fbg.prepare(packed, fbg.Dequantize(), rows=64)
{load}
ids = np.full((4, 32), 5)
called = threading.Semaphore(0)

def call():
    {call}

def loop():
    call()
    called.release()
    while True:
        call()

for _ in range(4):
    threading.Thread(target=loop, daemon=True).start()
for _ in range(4):
    called.acquire()
time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), tiny_bert.AWKWARD)


@pytest.mark.parametrize(
    "call",
    [
        "fbg.linear(x, packed)",
        "fbg.linear(x, packed, num_threads=1)",
        "fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.Dequantize())",
        "prepared(x)",
        "fbg.conv(images, filters)",
        "fbg.PackedConv(np.ones((32, 16, 3, 3), np.float32))",
        "fbg.PackedB(w)",
        "fbg.PackedB(w, dtype='bfloat16')",
        "packed.unpack()",
        "model.forward(ids)",
        "model.encode(['the quick brown fox'] * 3)",
        "model.encode(['the quick brown fox'] * 16, batch_size=1)",  # a thread for each batch
    ],
)
def test_the_interpreter_ends_while_daemon_threads_call(call, directory):
    load = "model = fbg.load(sys.argv[1])" if call.startswith("model.") else ""
    code = SCRIPT.format(call=call, load=load)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(directory)],
            env=os.environ | {"FBG_NUM_THREADS": "2"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(RUNS)
    ]
    ends = [(run.communicate(timeout=120)[1], run.returncode) for run in runs]
    assert ends == [("", 0)] * RUNS
