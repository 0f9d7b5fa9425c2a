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
    takers, shared = _takers(work, num_threads)
    former = BatchFormer(takers, max_batch_sequences=work.batch_size)
    ticket, told = Ticket(work, Owner()), 0
    waiting = ticket.left
    chosen = former.add_only(ticket, team=num_threads)
    helpers: list[threading.Thread] = []
    with calling:
        try:
            while ticket.waiting:
                if takers > 1 and waiting - len(ticket.waiting) == shared:
                    former.share_batches(num_threads // takers)
                    _start_helpers(former, chosen, takers, helpers)
                    takers = 1
                if not former.serve_batch(chosen, reported=Exception):
                    break
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


def _takers(work: Work, num_threads: int) -> tuple[int, int]:
    """Return how many threads are to take batches of the work, one or all, and after how many of
    the longest sequences, which all threads compute together.
    """
    wanted = BATCHES_PER_THREAD * num_threads
    if num_threads == 1 or len(work.ids) < wanted:
        return 1, 0
    sizes = sorted((ids.size for ids in work.ids if ids.size > 0), reverse=True)
    # Batches larger than ordinary ones together take at most half of the memory of the longest
    # sequence, as one thread may still use a larger plan, and the arenas of its copies.
    most = max(MAX_BATCH_TOKENS, max(sizes, default=0) // (2 * num_threads))
    shared = sum(1 for size in sizes if size > most)
    batches = sum(1 for _ in chunks(sizes[shared:], MAX_BATCH_TOKENS, work.batch_size))
    return (1 if batches < wanted else num_threads), shared


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
