"""Steps: tasks that ask for work and continue with its results; drives them in the calling thread.

A task is written as a generator. It tokenizes, yields a `Work`, receives the outputs, and returns
its result. Its driver decides which batch former computes the work: `run_steps` has one of its
own for each work; the requests of AsyncModel and of the server share one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

from fbg.arrays import Floats
from fbg.runtime.batches import MAX_BATCH_TOKENS, chunks
from fbg.runtime.former import BatchFormer
from fbg.runtime.priority import PriorityClass
from fbg.runtime.ticket import Owner, Ticket
from fbg.runtime.work import Work
from fbg.threads import calling

Result = TypeVar("Result")

Steps = Generator[Work, list[Floats], Result]

# With at least this many batches for each thread, a thread computes whole batches by itself instead
# of sharing every batch with the others: none waits for another one within a batch, and none
# quantizes the same data as another one.
BATCHES_PER_THREAD = 4


def run_steps(
    steps: Steps[Result],
    num_threads: int,
    advance: Callable[[int], object] = lambda n: None,
) -> Result:
    """Drive a task to its end in the calling thread and return its result.

    advance: as in `compute`.
    """
    try:
        work = next(steps)
        while True:
            work = steps.send(compute(work, num_threads, advance))
    except StopIteration as end:
        result: Result = end.value
        return result


def compute(
    work: Work, num_threads: int, advance: Callable[[int], object] = lambda n: None
) -> list[Floats]:
    """Compute work in the calling thread, with the help of others; return the kept results.

    advance: called with the number of sequences computed since the last call.

    Raises ValueError for a token id unknown to the network, and what `work.keep` raises; then the
    rest is not computed. If the calling thread is interrupted, others compute what they have begun.
    """
    takers = _takers(work, num_threads)
    former = BatchFormer(takers, max_batch_sequences=work.batch_size)
    ticket, told = Ticket(work, Owner()), 0
    waiting = ticket.left
    chosen = former.add_only(ticket, team=num_threads // takers)
    helpers: list[threading.Thread] = []
    with calling:
        try:
            if takers > 1:
                _start_helpers(former, chosen, takers, helpers)
            while ticket.waiting and former.serve_batch(chosen, reported=Exception):
                if ticket.error is None:
                    done = waiting - ticket.left
                    advance(done - told)
                    told = done
        except BaseException as error:
            former.stop(error)
            raise
        finally:
            for helper in helpers:
                helper.join()
    failure = former.failure or ticket.take_error()
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # its traceback keeps this frame
    advance(len(ticket.results) - told)
    return ticket.results


def _takers(work: Work, num_threads: int) -> int:
    """Return how many threads are to take batches of the work: one, or all."""
    wanted = BATCHES_PER_THREAD * num_threads
    if num_threads == 1 or len(work.ids) < wanted:
        return 1
    sizes = sorted((ids.size for ids in work.ids if ids.size > 0), reverse=True)
    batches = sum(1 for _ in chunks(sizes, MAX_BATCH_TOKENS, work.batch_size))
    return 1 if batches < wanted else num_threads


def _start_helpers(
    former: BatchFormer, chosen: PriorityClass, takers: int, helpers: list[threading.Thread]
) -> None:
    """Start the threads that take batches besides the calling one.

    If no thread can be started, as while the interpreter is shutting down, the existing threads
    compute everything.
    """
    with contextlib.suppress(RuntimeError):
        for n in range(1, takers):
            helper = threading.Thread(
                target=former.serve, args=(chosen,), name=f"fbg-batch-{n}", daemon=True
            )
            helper.start()
            helpers.append(helper)
