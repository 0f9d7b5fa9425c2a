"""The queue: which work is computed first, with what, and what becomes of work that is not done."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fbg import _fbg
from fbg.errors import ClosedError, OverloadedError
from fbg.runtime.lanes import Lane, Ticket
from fbg.runtime.work import Work
from fbg.runtime.work_queue import WorkQueue


class Recorder:
    """An engine whose output for a token is its id. A run waits until `gate` is open."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []  # ids of the first token of each sequence
        self.threads: list[int] = []
        self.gate = threading.Event()
        self.gate.set()
        self.running = threading.Semaphore(0)

    def runners(self, count: int) -> list[Any]:
        return [object()] * count

    def require_valid(self, ids: Sequence[np.ndarray], types: Any, where: str) -> None:
        if any((part == 99).any() for part in ids):
            raise ValueError(f"{where}: no such token")

    def empty(self) -> np.ndarray:
        return np.zeros((0, 1), np.float32)

    def compute(
        self, ids: Sequence[np.ndarray], types: Any, runner: Any, threads: int, where: str
    ) -> list[np.ndarray]:
        self.batches.append([int(part[0]) for part in ids])
        self.threads.append(threads)
        self.running.release()
        self.gate.wait(20)
        if any((part == 98).any() for part in ids):
            raise RuntimeError("the engine fails")
        return [part[:, None].astype(np.float32) for part in ids]


class Requests:
    """An owner that remembers the order in which its tickets were done."""

    def __init__(self) -> None:
        self.done: list[Ticket] = []
        self.batches: list[int] = []
        self._changed = threading.Condition()

    def finished(self, tickets: Sequence[Ticket]) -> None:
        with self._changed:
            self.done += tickets
            self._changed.notify_all()

    def batch(self, tokens: int, sequences: int) -> None:
        self.batches.append(tokens)

    def wait(self, count: int) -> list[Ticket]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.done) >= count, 20)
        return self.done


def work(engine: Any, *sequences: Sequence[int], keep: Callable[..., Any] | None = None) -> Work:
    ids = [np.array(sequence, np.int32) for sequence in sequences]
    options = {} if keep is None else {"keep": keep}
    return Work(engine, ids, [None] * len(ids), "test", **options)


@pytest.fixture
def engine() -> Recorder:
    return Recorder()


@pytest.fixture
def owner() -> Requests:
    return Requests()


def held(engine: Recorder, queue: WorkQueue, owner: Requests, threads: int = 1) -> None:
    """Keep all threads busy with interactive work until `engine.gate` is set."""
    engine.gate.clear()
    for _ in range(threads):
        queue.submit(work(engine, [0]), owner)
        assert engine.running.acquire(timeout=20)


def test_everyone_gets_their_own_rows(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(3)
    for n in range(50):
        queue.submit(work(engine, [n] * (n + 1), [], [n, 7]), owner, tag=n)
    for ticket in owner.wait(50):
        got = [rows[:, 0].tolist() for rows in ticket.results]
        assert got == [[ticket.tag] * (ticket.tag + 1), [], [ticket.tag, 7]]
    queue.close()


def test_what_waits_shares_the_next_batch(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(1)
    held(engine, queue, owner)
    for n in range(1, 9):
        queue.submit(work(engine, [n]), owner)
    assert queue.waiting == 8
    engine.gate.set()
    owner.wait(9)
    assert engine.batches == [[0], [1, 2, 3, 4, 5, 6, 7, 8]]
    assert owner.batches == [1, 8]
    queue.close()


def test_bulk_work_is_cut_into_batches_of_the_budget_and_takes_turns() -> None:
    lane, engine = Lane(takes_turns=True), Recorder()
    for name in (1, 2):
        sequences = [[name] * 40 for _ in range(10)]
        lane.add(Ticket.of(work(engine, *sequences), None, name, 0.0))
    batches = []
    while lane:
        batch = lane.take(100, 99, 0.0)
        assert batch.tokens <= 100
        batches.append({ticket.tag for ticket in batch.tickets})
    assert batches == [{1}, {2}] * 5
    assert lane.sequences == lane.tokens == 0


def test_short_requests_and_single_texts_are_interactive() -> None:
    engine = Recorder()
    for sequences, interactive in (
        ([[1] * 500], True),
        ([[1] * 100, [1] * 156], True),
        ([[1] * 100, [1] * 157], False),
    ):
        assert Ticket.of(work(engine, *sequences), None, 0, 0.0).interactive is interactive


def test_parts_of_a_request_are_bulk_work() -> None:
    parts = [replace(work(Recorder(), [1]), **place) for place in ({"before": 1}, {"after": 1})]
    assert not any(Ticket.of(part, None, 0, 0.0).interactive for part in parts)


def test_the_limit_sees_all_of_a_request_in_parts(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(1, max_waiting=4)
    engine.gate.clear()
    queue.submit(work(engine, *[[0] * 300] * 2), Requests())
    assert engine.running.acquire(timeout=20)  # one of two waits
    with pytest.raises(OverloadedError, match="1 texts are waiting already"):
        queue.submit(replace(work(engine, [1]), after=3), owner)
    first = queue.submit(replace(work(engine, [1]), after=2), owner)
    with pytest.raises(OverloadedError, match="4 texts are waiting already"):
        queue.submit(work(engine, [2]), owner)
    later = replace(work(engine, [3]), before=1, after=1)
    second = queue.submit(later, owner, previous=first)  # has been admitted
    queue.cancel(first)
    queue.submit(work(engine, [4]), owner)
    engine.gate.set()
    queue.close()
    queue.expect_no_more(second)
    assert queue._expected == 0
    assert [ticket.work.ids[0][0] for ticket in owner.done] in ([3, 4], [4, 3])


def test_a_request_keeps_its_place_between_its_parts(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(1, max_waiting=4)
    first = queue.submit(replace(work(engine, [1]), after=3), owner)
    owner.wait(1)
    with pytest.raises(OverloadedError, match="3 texts are waiting already"):
        queue.submit(work(engine, [2], [3]), owner)
    second = queue.submit(replace(work(engine, [4]), before=1, after=2), owner, previous=first)
    owner.wait(2)
    with pytest.raises(OverloadedError, match="2 texts are waiting already"):
        queue.submit(work(engine, [2], [3], [5]), owner)
    queue.expect_no_more(second)  # the request ends early
    queue.submit(work(engine, [2], [3], [5], [6]), owner)
    owner.wait(3)
    queue.close()


def test_bulk_goes_on_while_queries_never_stop(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(1)
    bulk = queue.submit(work(engine, *[[1] * 100] * 50), Requests())
    while not bulk.finished:
        queue.submit(work(engine, [2]), owner)
        assert len(owner.done) < 100_000
    queue.close()


def test_a_batch_holds_work_of_one_engine() -> None:
    lane, engines = Lane(takes_turns=False), [Recorder(), Recorder()]
    for n in range(6):
        lane.add(Ticket.of(work(engines[n % 2], [n]), None, n, 0.0))
    first, second = lane.take(512, 99, 0.0), lane.take(512, 99, 0.0)
    assert [t.tag for t in first.tickets] == [0, 2, 4] and first.engine is engines[0]
    assert [t.tag for t in second.tickets] == [1, 3, 5] and second.engine is engines[1]


def test_one_batch_alone_has_all_threads_and_several_have_one_each(
    owner: Requests, engine: Recorder
) -> None:
    queue = WorkQueue(4)
    queue.submit(work(engine, [1] * 30), owner)
    assert engine.running.acquire(timeout=20)
    owner.wait(1)
    assert engine.threads == [4]
    held(engine, queue, owner, 2)
    assert engine.threads == [4, 4, 1]
    engine.gate.set()
    queue.close()


def test_free_threads_share_what_waits(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(2)
    time.sleep(0.05)
    engine.gate.clear()
    queue.submit(work(engine, *[[n] * 20 for n in range(20)]), owner)
    for _ in range(2):
        assert engine.running.acquire(timeout=20)
    assert sorted(map(len, engine.batches)) == [10, 10]
    assert engine.threads == [1, 1]
    engine.gate.set()
    queue.close()


def test_a_query_does_not_wait_for_bulk_on_every_thread(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(2)
    engine.gate.clear()
    queue.submit(work(engine, *[[3] * 500 for _ in range(20)]), owner)
    for _ in range(2):
        assert engine.running.acquire(timeout=20)
    queue.submit(work(engine, [5]), owner)
    assert engine.running.acquire(timeout=20), "a third batch runs, while both threads are busy"
    assert engine.batches[-1] == [5]
    engine.gate.set()
    queue.close()


def test_whoever_answers_comes_before_queries_and_queries_before_bulk(
    owner: Requests, engine: Recorder
) -> None:
    queue, seen = WorkQueue(1), dict[str, tuple[int, bool]]()

    def noted(lane: str) -> Callable[..., Any]:
        def keep(number: int, rows: np.ndarray) -> np.ndarray:
            priority = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            seen[lane] = priority, _fbg.gives_way()
            return rows

        return keep

    queue.submit(work(engine, [5], keep=noted("query")), owner)
    queue.submit(work(engine, *[[3] * 500 for _ in range(4)], keep=noted("bulk")), owner)
    owner.wait(2)
    queue.close()
    here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    highest = 19  # of niceness; a process that has it already cannot lower its threads
    assert seen == {
        "query": (min(here + 4, highest), False),
        "bulk": (min(here + 14, highest), True),
    }
    assert not _fbg.gives_way()


def test_cancelled_work_is_not_computed(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(1)
    held(engine, queue, owner)
    tickets = [queue.submit(work(engine, [n]), owner) for n in (1, 2, 3)]
    queue.cancel(tickets[1])
    assert queue.waiting == 2
    engine.gate.set()
    queue.close()
    assert engine.batches == [[0], [1, 3]]
    assert tickets[1] not in owner.done and len(owner.done) == 3


def test_work_beyond_the_limit_is_refused_and_leaves_no_trace(
    owner: Requests, engine: Recorder
) -> None:
    queue = WorkQueue(1, max_waiting=3)
    held(engine, queue, owner)
    queue.submit(work(engine, [1], [2]), owner)
    with pytest.raises(OverloadedError, match="2 texts are waiting already"):
        queue.submit(work(engine, [3], [4]), owner)
    queue.submit(work(engine, [5]), owner)
    engine.gate.set()
    queue.close()
    assert sorted(engine.batches[1]) == [1, 2, 5]


def test_closing_computes_what_was_submitted_and_refuses_more(
    owner: Requests, engine: Recorder
) -> None:
    queue = WorkQueue(1)
    held(engine, queue, owner)
    for n in range(20):
        queue.submit(work(engine, [n] * 300), owner)
    threading.Timer(0.05, engine.gate.set).start()
    queue.close()
    assert len(owner.done) == 21
    with pytest.raises(ClosedError):
        queue.submit(work(engine, [1]), owner)


def test_a_token_that_the_network_has_not_fails_alone(owner: Requests, engine: Recorder) -> None:
    queue = WorkQueue(1)
    held(engine, queue, owner)
    queue.submit(work(engine, [1]), owner)
    with pytest.raises(ValueError, match="test: no such token"):
        queue.submit(work(engine, [99]), owner)
    engine.gate.set()
    assert all(ticket.error is None for ticket in owner.wait(2))
    queue.close()


def test_a_batch_that_fails_is_reported_and_the_queue_goes_on(
    owner: Requests, engine: Recorder
) -> None:
    queue = WorkQueue(1, max_batch_tokens=4)
    queue.submit(work(engine, *[[98] * 3] * 200), owner, tag="fails")
    (failed,) = owner.wait(1)
    assert isinstance(failed.error, RuntimeError) and queue.waiting == 0

    def broken(n: int, rows: np.ndarray) -> np.ndarray:
        raise KeyError("keep fails")

    queue.submit(work(engine, [1], keep=broken), owner)
    assert isinstance(owner.wait(2)[1].error, KeyError)
    queue.submit(work(engine, [1]), owner)
    assert owner.wait(3)[2].error is None
    queue.close()


def test_everybody_hears_of_the_end_of_a_thread(
    owner: Requests, engine: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = WorkQueue(2)
    held(engine, queue, owner, 2)
    for n in range(3):
        queue.submit(work(engine, [n]), owner)
    bulk = queue.submit(work(engine, *[[1] * 500 for _ in range(3)]), owner)
    assert engine.running.acquire(timeout=20)

    def broken(*arguments: Any) -> Any:
        raise IndexError("a mistake in the queue")

    monkeypatch.setattr(Lane, "take", broken)
    engine.gate.set()
    tickets = owner.wait(6)
    assert bulk in tickets and len(tickets) == 6
    failed = [ticket for ticket in tickets if ticket.error is not None]
    assert len(failed) >= 4
    for ticket in failed:
        assert isinstance(ticket.error, ClosedError)
        assert "a thread of the queue failed" in str(ticket.error)
    assert isinstance(queue.failure, IndexError)
    with pytest.raises(ClosedError, match="closed") as refused:
        queue.submit(work(engine, [1]), owner)
    assert isinstance(refused.value.__cause__, IndexError)
    queue.close()
    assert len(owner.done) == 6


def test_an_owner_that_fails_does_not_keep_others_waiting(
    owner: Requests, engine: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, broken = WorkQueue(1), Requests()
    monkeypatch.setattr(broken, "finished", None)
    held(engine, queue, owner)
    queue.submit(work(engine, [1]), broken)
    queue.submit(work(engine, [2]), owner)
    engine.gate.set()
    assert owner.wait(2)[1].error is None
    queue.close()
    assert isinstance(queue.failure, TypeError)


def test_workers_that_others_share_keep_the_priority_of_the_process() -> None:
    code = (
        "import os, threading\n"
        "import numpy as np, fbg\n"
        "from fbg.runtime.work_queue import WorkQueue, _lower_priority\n"
        "queue = WorkQueue(2)\n"
        "def bulk():\n"
        "    _lower_priority(14)\n"
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
