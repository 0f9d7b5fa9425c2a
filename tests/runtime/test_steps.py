"""Requests in the calling thread: which sequences share a batch, who gets what, how runs end."""

import contextlib
import gc
import os
import signal
import threading
import time
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.runtime import steps
from fbg.runtime.engine import MAX_BATCH_TOKENS
from fbg.runtime.steps import compute
from helpers import tiny_bert
from helpers.recording_engine import RecordingEngine, request


def run(engine, sequences, batch_size=32, threads=1):
    """Return what each sequence received, and what `advance` was told."""
    counts = []
    asked = request(engine, *sequences, batch_size=batch_size)
    return compute(asked, threads, counts.append), counts


lengths = st.lists(st.integers(0, 700), max_size=40)


@given(lengths, st.integers(1, 9), st.integers(1, 3))
def test_batches_are_full_of_real_tokens_and_everyone_gets_their_own(lengths, batch_size, threads):
    engine = RecordingEngine()
    sequences = [np.full(length, n, np.int32) for n, length in enumerate(lengths)]
    received, counts = run(engine, sequences, batch_size, threads)
    for ids, rows in zip(sequences, received, strict=True):
        assert rows[:, 0].tolist() == ids.tolist()
    assert sum(counts) == len(lengths)
    batches = sorted(engine.lengths, key=lambda batch: (-batch[0], -batch[-1]))
    in_order = [length for batch in batches for length in batch]
    assert in_order == sorted(filter(None, lengths), reverse=True)
    for batch in batches:
        assert len(batch) <= batch_size
        assert len(batch) == 1 or sum(batch) <= MAX_BATCH_TOKENS


def test_a_sequence_without_tokens_gets_zeros_or_no_rows():
    assert run(RecordingEngine(per_token=False), [[]])[0][0].tolist() == [[0]]
    assert run(RecordingEngine(), [[]])[0][0].shape == (0, 1)
    assert run(RecordingEngine(), []) == ([], [])


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_one_batch_ends_the_run(threads):
    engine, counts = RecordingEngine(), list[int]()
    asked = request(engine, *[[99] * 5 if n == 5 else [1] * 5 for n in range(400)], batch_size=1)
    with pytest.raises(ValueError, match="test: no such token"):
        compute(asked, threads, counts.append)
    if threads == 1:
        assert counts == [1] * 5 and len(engine.batches) == 6
    assert set(counts) <= {0, 1, 2} and sum(counts) < len(engine.batches) < 400


def test_of_several_errors_that_of_the_first_batch_is_raised():
    """Whichever comes first: here the thread that computes the first batch is the slower one."""
    failed = threading.Event()

    class Failing(RecordingEngine):
        def compute(self, ids, *rest):
            name = int(ids[0][0])
            if name == 1:
                assert failed.wait(20)
            if name == 2:
                failed.set()
            raise KeyError(name)

    asked = request(Failing(), *[[n + 1] * (100 - n) for n in range(40)], batch_size=1)
    with pytest.raises(KeyError) as error:
        compute(asked, 2)
    assert error.value.args == (1,)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("where", ["engine", "keep"])
def test_nothing_of_a_request_that_failed_waits_for_the_garbage_collector(where, threads):
    def keep(number, rows):
        raise KeyError(number)

    gc.disable()
    try:
        given = [[98 if where == "engine" else 1]] * 50
        asked = request(RecordingEngine(), *given, keep=keep, batch_size=1)
        kept = weakref.ref(asked.ids[0])
        with contextlib.suppress(RuntimeError, KeyError):
            compute(asked, threads)
        del asked
        assert kept() is None
    finally:
        gc.enable()


def test_threads_compute_whole_batches_where_there_are_many():
    def teams(batch_size, threads):
        engine = RecordingEngine()
        run(engine, [[1] * 4] * 24, batch_size, threads)
        return engine.teams

    assert teams(batch_size=1, threads=1) == [1] * 24
    assert teams(batch_size=4, threads=2) == [2] * 6
    assert set(teams(batch_size=3, threads=2)) == {1}


def test_long_sequences_are_computed_one_at_a_time_by_all_threads():
    """Then memory is that for the longest; half of its tokens may be in batches of their own."""
    engine, long = RecordingEngine(), 8 * MAX_BATCH_TOKENS
    lengths = [long, long // 2, long // 4 + 1, *[long // 4] * 5, *[5] * 600]
    run(engine, [[1] * length for length in lengths], batch_size=20, threads=2)
    assert [len(batch[0]) for batch in engine.batches[:3]] == lengths[:3]
    assert engine.teams[:3] == [2, 2, 2]
    assert set(engine.teams[3:]) == {1}


def test_without_threads_the_caller_computes_everything(monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    engine = RecordingEngine()
    received, counts = run(engine, [[n] for n in range(20)], batch_size=1, threads=2)
    assert [rows.tolist() for rows in received] == [[[n]] for n in range(20)]
    assert counts == [1] * 20


@pytest.fixture
def interruptible():
    """Jobs of a shell in the background ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", [1, 3])
def test_an_interruption_ends_the_run_and_keeps_what_was_computed(threads):
    """Also what other threads compute at that moment, which end then."""
    kept, running = dict[int, np.ndarray](), list[threading.Thread]()

    def keep(number, rows):
        kept[number] = rows
        return rows

    class Interrupted(RecordingEngine):
        def compute(self, ids, *rest):
            here = threading.current_thread()
            if here is threading.main_thread() and len(self.batches) >= 8:
                os.kill(os.getpid(), signal.SIGINT)
            elif here is not threading.main_thread():
                running.append(here)
            time.sleep(0.0002)  # so that all of them get batches
            return super().compute(ids, *rest)

    engine = Interrupted()
    asked = request(engine, *[[n % 90] for n in range(4000)], keep=keep, batch_size=1)
    with pytest.raises(KeyboardInterrupt):
        compute(asked, threads)
    assert 8 <= len(kept) < 4000 and len(engine.batches) - 1 <= len(kept) <= len(engine.batches)
    assert not any(thread.is_alive() for thread in running)
    assert bool(running) == (threads > 1)


def test_whoever_is_told_of_the_progress_may_end_the_run():
    def advance(count):
        raise LookupError("enough")

    class Slow(RecordingEngine):  # so that no thread computes everything before the other's turn
        def compute(self, *arguments):
            time.sleep(0.001)
            return super().compute(*arguments)

    engine = Slow()
    with pytest.raises(LookupError, match="enough"):
        compute(request(engine, *[[1]] * 1000, batch_size=1), 2, advance)
    assert len(engine.batches) < 1000


def test_a_mistake_in_a_thread_that_helps_reaches_the_caller(monkeypatch):
    compute_batch, main = steps._compute_batch, threading.main_thread()

    def broken(*arguments):
        if threading.current_thread() is not main:
            raise SystemError("a mistake")
        return compute_batch(*arguments)

    monkeypatch.setattr(steps, "_compute_batch", broken)
    engine = RecordingEngine()
    engine.gate.clear()
    threading.Timer(0.05, engine.gate.set).start()
    with pytest.raises(SystemError, match="a mistake"):
        compute(request(engine, *[[1]] * 100, batch_size=1), 2)
    assert len(engine.batches) < 100


def test_each_request_of_a_task_is_computed_by_itself():
    engine = RecordingEngine()

    def task():
        total = 0.0
        for n in (2, 3):
            for rows in (yield request(engine, [n], [n, n])):
                total += float(rows.sum())
        return total

    assert steps.run_steps(task(), 1) == 15
    assert engine.lengths == [[2, 1], [2, 1]]


def test_sequences_of_several_callers_share_batches_and_no_bits(tmp_path):
    """What a server needs: one run for many requests gives what each alone would get."""
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path, seed=3, spread=0.25), dtype="int8")
    texts = ["a", "the quick brown fox", "x y z", "one two three four"]
    engine = model._context.engines.embedding(normalize=True)
    together, _ = run(engine, model.tokenizer(texts), threads=2)
    alone = model.encode(texts, normalize_embeddings=True)
    assert np.array_equal(np.concatenate(together), alone)
    with pytest.raises(ValueError, match=r"test: token ids must be in \[0, 99\), got 99"):
        run(engine, [[2, 99]])
