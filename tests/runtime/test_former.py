"""The batch former: which work is computed first, with what, and what becomes of the rest."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fbg import _fbg
from fbg.errors import ClosedError, OverloadedError
from fbg.locks import Lock
from fbg.runtime.former import BatchFormer
from fbg.runtime.priority import BULK, INTERACTIVE, PriorityClass
from fbg.runtime.ticket import Owner, Ticket
from helpers.recording_engine import RecordingEngine, Requests, submit, work


@pytest.fixture
def engine() -> RecordingEngine:
    return RecordingEngine()


@pytest.fixture
def owner() -> Requests:
    return Requests()


def held(engine: RecordingEngine, former: BatchFormer, owner: Requests, threads: int = 1) -> None:
    """Keep all threads busy with interactive work until `engine.gate` is set."""
    engine.gate.clear()
    for _ in range(threads):
        submit(former, work(engine, [0]), owner)
        assert engine.running.acquire(timeout=20)


def test_everyone_gets_their_own_rows(owner: Requests, engine: RecordingEngine) -> None:
    former = BatchFormer(3)
    for n in range(50):
        submit(former, work(engine, [n] * (n + 1), [], [n, 7]), owner, tag=n)
    for ticket in owner.wait(50):
        got = [rows[:, 0].tolist() for rows in ticket.results]
        assert got == [[ticket.tag] * (ticket.tag + 1), [], [ticket.tag, 7]]
    former.close()


def test_what_waits_shares_the_next_batch(owner: Requests, engine: RecordingEngine) -> None:
    former = BatchFormer(1)
    held(engine, former, owner)
    for n in range(1, 9):
        submit(former, work(engine, [n]), owner)
    assert former.waiting == 8
    engine.gate.set()
    owner.wait(9)
    assert engine.first_ids == [[0], [1, 2, 3, 4, 5, 6, 7, 8]]
    assert owner.batches == [1, 8]
    former.close()


def test_bulk_work_is_cut_into_batches_of_the_budget_and_takes_turns() -> None:
    waiting, engine = PriorityClass(BULK, Lock()), RecordingEngine()
    for name in (1, 2):
        sequences = [[name] * 40 for _ in range(10)]
        waiting.add(Ticket(work(engine, *sequences), Owner(), name))
    batches = []
    while waiting.sequences:
        batch = waiting.take(100, 99, 0.0)
        assert batch.tokens <= 100
        batches.append({ticket.tag for ticket in batch.tickets})
    assert batches == [{1}, {2}] * 5
    assert waiting.sequences == waiting.tokens == 0


def test_short_requests_and_single_texts_are_interactive() -> None:
    engine = RecordingEngine()
    for sequences, interactive in (
        ([[1] * 500], True),
        ([[1] * 100, [1] * 156], True),
        ([[1] * 100, [1] * 157], False),
    ):
        assert Ticket(work(engine, *sequences), Owner()).interactive is interactive


def test_parts_of_a_request_are_bulk_work() -> None:
    asked = work(RecordingEngine(), [1])
    parts = [replace(asked, **place) for place in ({"before": 1}, {"after": 1})]
    assert not any(Ticket(part, Owner()).interactive for part in parts)


def test_the_limit_sees_all_of_a_request_in_parts(owner: Requests, engine: RecordingEngine) -> None:
    former = BatchFormer(1, max_waiting=4)
    engine.gate.clear()
    submit(former, work(engine, *[[0] * 300] * 2), Requests())
    assert engine.running.acquire(timeout=20)  # one of two waits
    with pytest.raises(OverloadedError, match="1 texts are waiting already"):
        submit(former, replace(work(engine, [1]), after=3), owner)
    first = submit(former, replace(work(engine, [1]), after=2), owner)
    with pytest.raises(OverloadedError, match="4 texts are waiting already"):
        submit(former, work(engine, [2]), owner)
    later = replace(work(engine, [3]), before=1, after=1)
    second = submit(former, later, owner, previous=first)  # has been admitted
    former.cancel(first)
    submit(former, work(engine, [4]), owner)
    engine.gate.set()
    former.close()
    former.expect_no_more(second)
    assert former._expected == 0
    assert [ticket.work.ids[0][0] for ticket in owner.done] in ([3, 4], [4, 3])


def test_a_request_keeps_its_place_between_its_parts(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(1, max_waiting=4)
    first = submit(former, replace(work(engine, [1]), after=3), owner)
    owner.wait(1)
    with pytest.raises(OverloadedError, match="3 texts are waiting already"):
        submit(former, work(engine, [2], [3]), owner)
    second = submit(former, replace(work(engine, [4]), before=1, after=2), owner, previous=first)
    owner.wait(2)
    with pytest.raises(OverloadedError, match="2 texts are waiting already"):
        submit(former, work(engine, [2], [3], [5]), owner)
    former.expect_no_more(second)  # the request ends early
    submit(former, work(engine, [2], [3], [5], [6]), owner)
    owner.wait(3)
    former.close()


def test_bulk_goes_on_while_queries_never_stop(owner: Requests, engine: RecordingEngine) -> None:
    former = BatchFormer(1)
    bulk = submit(former, work(engine, *[[1] * 100] * 50), Requests())
    while not bulk.finished:
        submit(former, work(engine, [2]), owner)
        assert len(owner.done) < 100_000
    former.close()


def test_a_batch_holds_work_of_one_engine() -> None:
    waiting, engines = PriorityClass(INTERACTIVE, Lock()), [RecordingEngine(), RecordingEngine()]
    for n in range(6):
        waiting.add(Ticket(work(engines[n % 2], [n]), Owner(), n))
    first, second = waiting.take(512, 99, 0.0), waiting.take(512, 99, 0.0)
    assert [t.tag for t in first.tickets] == [0, 2, 4] and first.engine is engines[0]
    assert [t.tag for t in second.tickets] == [1, 3, 5] and second.engine is engines[1]


def test_one_batch_alone_has_all_threads_and_several_have_one_each(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(4)
    submit(former, work(engine, [1] * 30), owner)
    assert engine.running.acquire(timeout=20)
    owner.wait(1)
    assert engine.teams == [4]
    held(engine, former, owner, 2)
    assert engine.teams == [4, 4, 1]
    engine.gate.set()
    former.close()


def test_free_threads_share_what_waits(owner: Requests, engine: RecordingEngine) -> None:
    former = BatchFormer(2)
    engine.gate.clear()
    submit(former, work(engine, *[[n] * 20 for n in range(20)]), owner)
    for _ in range(2):
        assert engine.running.acquire(timeout=20)
    assert sorted(map(len, engine.first_ids)) == [10, 10]
    assert engine.teams == [1, 1]
    engine.gate.set()
    former.close()


def test_a_query_does_not_wait_for_bulk_on_every_thread(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(2)
    engine.gate.clear()
    submit(former, work(engine, *[[3] * 500 for _ in range(20)]), owner)
    for _ in range(2):
        assert engine.running.acquire(timeout=20)
    submit(former, work(engine, [5]), owner)
    assert engine.running.acquire(timeout=20), "a third batch runs, while both threads are busy"
    assert engine.first_ids[-1] == [5]
    engine.gate.set()
    former.close()


def test_whoever_answers_comes_before_queries_and_queries_before_bulk(
    owner: Requests, engine: RecordingEngine
) -> None:
    former, seen = BatchFormer(1), dict[str, tuple[int, bool]]()

    def noted(name: str) -> Callable[..., Any]:
        def keep(number: int, rows: np.ndarray) -> np.ndarray:
            priority = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            seen[name] = priority, _fbg.gives_way()
            return rows

        return keep

    submit(former, work(engine, [5], keep=noted("query")), owner)
    submit(former, work(engine, *[[3] * 500 for _ in range(4)], keep=noted("bulk")), owner)
    owner.wait(2)
    former.close()
    here = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    highest = 19  # of niceness; a process that has it already cannot lower its threads
    assert seen == {
        "query": (min(here + 4, highest), False),
        "bulk": (min(here + 14, highest), True),
    }
    assert not _fbg.gives_way()


def test_cancelled_work_is_not_computed(owner: Requests, engine: RecordingEngine) -> None:
    former = BatchFormer(1)
    held(engine, former, owner)
    tickets = [submit(former, work(engine, [n]), owner) for n in (1, 2, 3)]
    former.cancel(tickets[1])
    assert former.waiting == 2
    engine.gate.set()
    former.close()
    assert engine.first_ids == [[0], [1, 3]]
    assert tickets[1] not in owner.done and len(owner.done) == 3


def test_work_beyond_the_limit_is_refused_and_leaves_no_trace(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(1, max_waiting=3)
    held(engine, former, owner)
    submit(former, work(engine, [1], [2]), owner)
    with pytest.raises(OverloadedError, match="2 texts are waiting already"):
        submit(former, work(engine, [3], [4]), owner)
    submit(former, work(engine, [5]), owner)
    engine.gate.set()
    former.close()
    assert sorted(engine.first_ids[1]) == [1, 2, 5]


def test_closing_computes_what_was_submitted_and_refuses_more(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(1)
    held(engine, former, owner)
    for n in range(20):
        submit(former, work(engine, [n] * 300), owner)
    threading.Timer(0.05, engine.gate.set).start()
    former.close()
    assert len(owner.done) == 21
    with pytest.raises(ClosedError):
        submit(former, work(engine, [1]), owner)


def test_a_token_that_the_network_has_not_fails_alone(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(1)
    held(engine, former, owner)
    submit(former, work(engine, [1]), owner)
    with pytest.raises(ValueError, match="test: no such token"):
        submit(former, work(engine, [99]), owner)
    engine.gate.set()
    assert all(ticket.error is None for ticket in owner.wait(2))
    former.close()


def test_a_batch_that_fails_is_reported_and_the_former_goes_on(
    owner: Requests, engine: RecordingEngine
) -> None:
    former = BatchFormer(1, max_batch_tokens=4)
    submit(former, work(engine, *[[98] * 3] * 200), owner, tag="fails")
    (failed,) = owner.wait(1)
    assert isinstance(failed.error, RuntimeError) and former.waiting == 0

    def broken(n: int, rows: np.ndarray) -> np.ndarray:
        raise KeyError("keep fails")

    submit(former, work(engine, [1], keep=broken), owner)
    assert isinstance(owner.wait(2)[1].error, KeyError)
    submit(former, work(engine, [1]), owner)
    assert owner.wait(3)[2].error is None
    former.close()


def test_everybody_hears_of_the_end_of_a_thread(
    owner: Requests, engine: RecordingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = BatchFormer(2)
    held(engine, former, owner, 2)
    for n in range(3):
        submit(former, work(engine, [n]), owner)
    bulk = submit(former, work(engine, *[[1] * 500 for _ in range(3)]), owner)
    assert engine.running.acquire(timeout=20)

    def broken(*arguments: Any) -> Any:
        raise IndexError("a mistake in the former")

    monkeypatch.setattr(PriorityClass, "take", broken)
    engine.gate.set()
    tickets = owner.wait(6)
    assert bulk in tickets and len(tickets) == 6
    failed = [ticket for ticket in tickets if ticket.error is not None]
    assert len(failed) >= 4
    for ticket in failed:
        assert isinstance(ticket.error, ClosedError)
        assert "a thread of the queue failed" in str(ticket.error)
    assert isinstance(former.failure, IndexError)
    with pytest.raises(ClosedError, match="closed") as refused:
        submit(former, work(engine, [1]), owner)
    assert isinstance(refused.value.__cause__, IndexError)
    former.close()
    assert len(owner.done) == 6


def test_an_owner_that_fails_does_not_keep_others_waiting(
    owner: Requests, engine: RecordingEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, broken = BatchFormer(1), Requests()
    monkeypatch.setattr(broken, "finished", None)
    held(engine, former, owner)
    submit(former, work(engine, [1]), broken)
    submit(former, work(engine, [2]), owner)
    engine.gate.set()
    assert owner.wait(2)[1].error is None
    former.close()
    assert isinstance(former.failure, TypeError)


def test_workers_that_others_share_keep_the_priority_of_the_process() -> None:
    code = (
        "import os, threading\n"
        "import numpy as np, fbg\n"
        "from fbg.runtime.priority import BULK\n"
        "from fbg.runtime.worker_threads import start_threads, take_priority\n"
        "start_threads(lambda *arguments: None, [], 2)\n"
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
