"""The batcher: which requests are computed first, with what, and what becomes of the rest."""

import os
import subprocess
import sys
import threading

import pytest

from fbg import _fbg
from fbg.errors import ClosedError, OverloadedError
from fbg.locks import Lock
from fbg.runtime.batcher import BULK, INTERACTIVE, Batcher, Caller, Future, PriorityClass
from helpers.recording_engine import RecordingCaller, RecordingEngine, request, submit


@pytest.fixture
def engine():
    return RecordingEngine()


@pytest.fixture
def caller():
    return RecordingCaller()


def held(engine, batcher, caller, threads=1):
    """Keep all threads busy with interactive work until `engine.gate` is set."""
    engine.gate.clear()
    for _ in range(threads):
        submit(batcher, request(engine, [0]), caller)
        assert engine.running.acquire(timeout=20)


def test_everyone_gets_their_own_rows(caller, engine):
    batcher = Batcher(3)
    for n in range(50):
        submit(batcher, request(engine, [n] * (n + 1), [], [n, 7]), caller, tag=n)
    for future in caller.wait(50):
        got = [rows[:, 0].tolist() for rows in future.results]
        assert got == [[future.tag] * (future.tag + 1), [], [future.tag, 7]]
    batcher.close()


def test_what_waits_shares_the_next_batch(caller, engine):
    batcher = Batcher(1)
    held(engine, batcher, caller)
    for n in range(1, 9):
        submit(batcher, request(engine, [n]), caller)
    assert batcher.waiting == 8
    engine.gate.set()
    caller.wait(9)
    assert engine.first_ids == [[0], [1, 2, 3, 4, 5, 6, 7, 8]]
    assert caller.batches == [1, 8]
    batcher.close()


def test_bulk_work_is_cut_into_batches_of_the_budget_and_takes_turns():
    waiting, engine = PriorityClass(BULK, Lock()), RecordingEngine()
    for name in (1, 2):
        sequences = [[name] * 40 for _ in range(10)]
        waiting.add(Future(request(engine, *sequences), Caller(), name))
    batches = []
    while waiting.sequences:
        batch = waiting.take(100, 99, 0.0)
        assert batch.tokens <= 100
        batches.append({future.tag for future in batch.futures})
    assert batches == [{1}, {2}] * 5
    assert waiting.sequences == waiting.tokens == 0


def test_short_requests_and_single_texts_are_interactive():
    engine = RecordingEngine()
    for sequences, interactive in (
        ([[1] * 500], True),
        ([[1] * 100, [1] * 156], True),
        ([[1] * 100, [1] * 157], False),
    ):
        assert Future(request(engine, *sequences), Caller()).interactive is interactive


def test_parts_of_a_call_are_bulk_work():
    places = {"before": 1}, {"after": 1}
    parts = [request(RecordingEngine(), [1], **place) for place in places]
    assert not any(Future(part, Caller()).interactive for part in parts)


def test_the_limit_sees_all_of_a_call_in_parts(caller, engine):
    batcher = Batcher(1, max_waiting=4)
    engine.gate.clear()
    submit(batcher, request(engine, *[[0] * 300] * 2), RecordingCaller())
    assert engine.running.acquire(timeout=20)  # one of two waits
    with pytest.raises(OverloadedError, match="1 texts are waiting already"):
        submit(batcher, request(engine, [1], after=3), caller)
    first = submit(batcher, request(engine, [1], after=2), caller)
    with pytest.raises(OverloadedError, match="4 texts are waiting already"):
        submit(batcher, request(engine, [2]), caller)
    later = request(engine, [3], before=1, after=1)
    second = submit(batcher, later, caller, previous=first)  # has been admitted
    batcher.cancel(first)
    submit(batcher, request(engine, [4]), caller)
    engine.gate.set()
    batcher.close()
    batcher.expect_no_more(second)
    assert batcher._expected == 0
    assert [future.request.ids[0][0] for future in caller.done] in ([3, 4], [4, 3])


def test_a_call_keeps_its_place_between_its_parts(caller, engine):
    batcher = Batcher(1, max_waiting=4)
    first = submit(batcher, request(engine, [1], after=3), caller)
    caller.wait(1)
    with pytest.raises(OverloadedError, match="3 texts are waiting already"):
        submit(batcher, request(engine, [2], [3]), caller)
    second = submit(batcher, request(engine, [4], before=1, after=2), caller, previous=first)
    caller.wait(2)
    with pytest.raises(OverloadedError, match="2 texts are waiting already"):
        submit(batcher, request(engine, [2], [3], [5]), caller)
    batcher.expect_no_more(second)  # the call ends early
    submit(batcher, request(engine, [2], [3], [5], [6]), caller)
    caller.wait(3)
    batcher.close()


def test_bulk_goes_on_while_queries_never_stop(caller, engine):
    batcher = Batcher(1)
    bulk = submit(batcher, request(engine, *[[1] * 100] * 50), RecordingCaller())
    while not bulk.finished:
        submit(batcher, request(engine, [2]), caller)
        assert len(caller.done) < 100_000
    batcher.close()


def test_a_batch_holds_work_of_one_engine():
    waiting, engines = PriorityClass(INTERACTIVE, Lock()), [RecordingEngine(), RecordingEngine()]
    for n in range(6):
        waiting.add(Future(request(engines[n % 2], [n]), Caller(), n))
    first, second = waiting.take(512, 99, 0.0), waiting.take(512, 99, 0.0)
    assert [t.tag for t in first.futures] == [0, 2, 4] and first.engine is engines[0]
    assert [t.tag for t in second.futures] == [1, 3, 5] and second.engine is engines[1]


def test_one_batch_alone_has_all_threads_and_several_have_one_each(caller, engine):
    batcher = Batcher(4)
    submit(batcher, request(engine, [1] * 30), caller)
    assert engine.running.acquire(timeout=20)
    caller.wait(1)
    assert engine.teams == [4]
    held(engine, batcher, caller, 2)
    assert engine.teams == [4, 4, 1]
    engine.gate.set()
    batcher.close()


def test_free_threads_share_what_waits(caller, engine):
    batcher = Batcher(2)
    engine.gate.clear()
    submit(batcher, request(engine, *[[n] * 20 for n in range(20)]), caller)
    for _ in range(2):
        assert engine.running.acquire(timeout=20)
    assert sorted(map(len, engine.first_ids)) == [10, 10]
    assert engine.teams == [1, 1]
    engine.gate.set()
    batcher.close()


def test_a_query_does_not_wait_for_bulk_on_every_thread(caller, engine):
    batcher = Batcher(2)
    engine.gate.clear()
    submit(batcher, request(engine, *[[3] * 500 for _ in range(20)]), caller)
    for _ in range(2):
        assert engine.running.acquire(timeout=20)
    submit(batcher, request(engine, [5]), caller)
    assert engine.running.acquire(timeout=20), "a third batch runs, while both threads are busy"
    assert engine.first_ids[-1] == [5]
    engine.gate.set()
    batcher.close()


def test_whoever_answers_comes_before_queries_and_queries_before_bulk(caller, engine):
    batcher, seen = Batcher(1), dict[str, tuple[int, bool]]()

    def noted(name):
        def keep(number, rows):
            priority = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            seen[name] = priority, _fbg.gives_way()
            return rows

        return keep

    submit(batcher, request(engine, [5], keep=noted("query")), caller)
    submit(batcher, request(engine, *[[3] * 500 for _ in range(4)], keep=noted("bulk")), caller)
    caller.wait(2)
    batcher.close()
    here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    highest = 19  # of niceness; a process that has it already cannot lower its threads
    assert seen == {
        "query": (min(here + 4, highest), False),
        "bulk": (min(here + 14, highest), True),
    }
    assert not _fbg.gives_way()


def test_cancelled_requests_are_not_computed(caller, engine):
    batcher = Batcher(1)
    held(engine, batcher, caller)
    futures = [submit(batcher, request(engine, [n]), caller) for n in (1, 2, 3)]
    batcher.cancel(futures[1])
    assert batcher.waiting == 2
    engine.gate.set()
    batcher.close()
    assert engine.first_ids == [[0], [1, 3]]
    assert futures[1] not in caller.done and len(caller.done) == 3


def test_work_beyond_the_limit_is_refused_and_leaves_no_trace(caller, engine):
    batcher = Batcher(1, max_waiting=3)
    held(engine, batcher, caller)
    submit(batcher, request(engine, [1], [2]), caller)
    with pytest.raises(OverloadedError, match="2 texts are waiting already"):
        submit(batcher, request(engine, [3], [4]), caller)
    submit(batcher, request(engine, [5]), caller)
    engine.gate.set()
    batcher.close()
    assert sorted(engine.first_ids[1]) == [1, 2, 5]


def test_closing_computes_what_was_submitted_and_refuses_more(caller, engine):
    batcher = Batcher(1)
    held(engine, batcher, caller)
    for n in range(20):
        submit(batcher, request(engine, [n] * 300), caller)
    threading.Timer(0.05, engine.gate.set).start()
    batcher.close()
    assert len(caller.done) == 21
    with pytest.raises(ClosedError):
        submit(batcher, request(engine, [1]), caller)


def test_a_token_that_the_network_has_not_fails_alone(caller, engine):
    batcher = Batcher(1)
    held(engine, batcher, caller)
    submit(batcher, request(engine, [1]), caller)
    with pytest.raises(ValueError, match="test: no such token"):
        submit(batcher, request(engine, [99]), caller)
    engine.gate.set()
    assert all(future.error is None for future in caller.wait(2))
    batcher.close()


def test_a_batch_that_fails_is_reported_and_the_former_goes_on(caller, engine):
    batcher = Batcher(1, max_batch_tokens=4)
    submit(batcher, request(engine, *[[98] * 3] * 200), caller, tag="fails")
    (failed,) = caller.wait(1)
    assert isinstance(failed.error, RuntimeError) and batcher.waiting == 0

    def broken(n, rows):
        raise KeyError("keep fails")

    submit(batcher, request(engine, [1], keep=broken), caller)
    assert isinstance(caller.wait(2)[1].error, KeyError)
    submit(batcher, request(engine, [1]), caller)
    assert caller.wait(3)[2].error is None
    batcher.close()


def test_everybody_hears_of_the_end_of_a_thread(caller, engine, monkeypatch):
    batcher = Batcher(2)
    held(engine, batcher, caller, 2)
    for n in range(3):
        submit(batcher, request(engine, [n]), caller)
    bulk = submit(batcher, request(engine, *[[1] * 500 for _ in range(3)]), caller)
    assert engine.running.acquire(timeout=20)

    def broken(*arguments):
        raise IndexError("a mistake in the batcher")

    monkeypatch.setattr(PriorityClass, "take", broken)
    engine.gate.set()
    futures = caller.wait(6)
    assert bulk in futures and len(futures) == 6
    failed = [future for future in futures if future.error is not None]
    assert len(failed) >= 4
    for future in failed:
        assert isinstance(future.error, ClosedError)
        assert "a thread of the queue failed" in str(future.error)
    assert isinstance(batcher.failure, IndexError)
    with pytest.raises(ClosedError, match="closed") as refused:
        submit(batcher, request(engine, [1]), caller)
    assert isinstance(refused.value.__cause__, IndexError)
    batcher.close()
    assert len(caller.done) == 6


def test_an_owner_that_fails_does_not_keep_others_waiting(caller, engine, monkeypatch):
    batcher, broken = Batcher(1), RecordingCaller()
    monkeypatch.setattr(broken, "finished", None)
    held(engine, batcher, caller)
    submit(batcher, request(engine, [1]), broken)
    submit(batcher, request(engine, [2]), caller)
    engine.gate.set()
    assert caller.wait(2)[1].error is None
    batcher.close()
    assert isinstance(batcher.failure, TypeError)


def test_workers_that_others_share_keep_the_priority_of_the_process():
    code = (
        "import os, threading\n"
        "import numpy as np, fbg\n"
        "from fbg.runtime.batcher import BULK, start_workers, take_priority\n"
        "start_workers(2)\n"
        "def bulk():\n"
        "    take_priority(BULK)\n"
        "    w = fbg.PackedB(np.zeros((512, 512), np.float32), dtype='float32')\n"
        "    fbg.linear(np.zeros((512, 512), np.float32), w, num_threads=2)\n"
        "thread = threading.Thread(target=bulk)\n"
        "thread.start()\n"
        "thread.join()\n"
        "for task in os.listdir('/proc/self/task'):\n"
        "    try:\n"
        "        name = open(f'/proc/self/task/{task}/comm').read()\n"
        "    except (FileNotFoundError, ProcessLookupError):\n"
        "        continue  # the thread that was joined has only just gone\n"
        "    if 'worker' in name:\n"
        "        print(os.getpriority(os.PRIO_PROCESS, int(task)) - os.getpriority(0, 0))\n"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert set(said.split()) == {"0"}
