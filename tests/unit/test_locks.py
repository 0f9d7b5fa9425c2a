"""A forked child goes on with everything that other threads of its parent were using."""

from __future__ import annotations

import ast
import copy
import pickle
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import fbg
from fbg.locks import Lock, cached_property
from fbg.runtime.batcher import Batcher
from helpers.forks import run_in_child
from helpers.onnx_models import make_net
from helpers.recording_engine import RecordingCaller, RecordingEngine, request, submit
from helpers.tiny_bert import AWKWARD, write_checkpoint

PACKAGE = Path(fbg.__file__).parent

# What waits for another thread. Executors and SimpleQueue are not among them: they belong to calls
# and event loops that a forked child does not have.
LOCKING = {
    *("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event", "Barrier"),
    *("Queue", "cached_property"),
}
MODULES = ("threading", "queue", "functools", "multiprocessing")


@pytest.fixture
def held():
    """Lets another thread hold locks until the test ends."""
    done, threads = threading.Event(), []

    def hold(lock):
        begun = threading.Event()

        def work():
            with lock:
                begun.set()
                done.wait()

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        begun.wait()

    yield hold
    done.set()
    for thread in threads:
        thread.join()


def test_a_lock_excludes_others_until_a_fork(held):
    lock = Lock()
    held(lock)
    assert not lock.acquire(blocking=False)
    assert not lock.acquire(timeout=0.01)

    def child():
        assert lock.acquire(blocking=False)
        assert not lock.acquire(blocking=False)
        lock.release()

    assert run_in_child(child) == 0
    assert not lock.acquire(blocking=False), "the parent's is as before"


def test_copies_and_pickles_of_a_lock_are_free(held):
    lock = Lock()
    held(lock)
    for other in (copy.copy(lock), copy.deepcopy(lock), pickle.loads(pickle.dumps(lock))):
        assert other.acquire(blocking=False)


def test_a_cached_property_is_computed_once_and_holds_no_lock():
    computed = []

    class Caller:
        @cached_property
        def value(self):
            """It."""
            computed.append(self)
            return len(computed)

    owner = Caller()
    assert (owner.value, owner.value, Caller().value) == (1, 1, 2)
    assert Caller.value.__doc__ == "It."


def convolution(_):
    packed = fbg.PackedConv(np.ones((4, 4, 1, 1), np.float32), dtype="float32")
    x = np.ones((1, 2, 2, 4), np.float32)
    return packed, lambda: fbg.conv(x, packed, num_threads=1)


def network(_):
    x = np.ones((1, 4), np.float32)
    net = make_net([helper.make_node("Relu", ["x"], ["y"])], {"x": x}, ["y"])
    return net, lambda: net(x)


def model(path):
    write_checkpoint(path / "model", AWKWARD)
    loaded = fbg.load(path / "model")
    loaded.encode("the cat")
    return loaded, lambda: (loaded.encode("the cat"), loaded.encode("the cat", prompt="a "))


def locks_of(value, seen):
    """Yield every lock that is reached from an object of the package."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Lock):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from locks_of(item, seen)
    elif type(value).__module__.startswith("fbg."):
        yield from locks_of(getattr(value, "__dict__", {}), seen)


@pytest.mark.parametrize("make", [convolution, network, model])
def test_a_child_computes_with_what_threads_had_locked(make, held, tmp_path):
    owner, use = make(tmp_path)
    use()
    locks = list(locks_of(owner, set()))
    assert locks
    for lock in locks:
        held(lock)
    assert run_in_child(use) == 0


def test_convolutions_that_are_prepared_while_a_process_forks_are_prepared_in_the_child():
    w = np.ones((64, 64, 3, 3), np.float32)
    x = np.ones((1, 4, 4, 64), np.float32)
    packed = [fbg.PackedConv(w, dtype="float32")]
    stop = threading.Event()

    def prepare():
        while not stop.is_set():
            packed[0] = fbg.PackedConv(w, dtype="float32")
            fbg.conv(x, packed[0], num_threads=1)

    threads = [threading.Thread(target=prepare) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            assert run_in_child(lambda: fbg.conv(x, packed[0], num_threads=1)) == 0
            time.sleep(0.001)
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("started", [False, True])
def test_a_batcher_is_closed_in_a_forked_child(started):
    batcher, caller, engine = Batcher(num_threads=1), RecordingCaller(), RecordingEngine()
    try:
        if started:
            submit(batcher, request(engine, [1]), caller)
            caller.wait(1)

        def child():
            with pytest.raises(fbg.errors.ClosedError):
                submit(batcher, request(engine, [1]), caller)
            batcher.close()

        assert run_in_child(child) == 0
    finally:
        batcher.close()


def test_the_package_has_no_other_locks():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path == PACKAGE / "locks.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                names = [node.attr] if node.value.id in MODULES else []
            elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
                names = [alias.name for alias in node.names]
            found += [f"{path.relative_to(PACKAGE)}: {name}" for name in names if name in LOCKING]
    assert found == []
