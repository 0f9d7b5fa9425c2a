"""The straight run: what a task asks for is computed at once, in the thread that called the task.

A task is written as a generator. It tokenizes, yields a `Request`, receives the outputs, and
returns its result. `run_steps` computes each request by itself; those of AsyncModel and of the
server share a batcher (batcher.py). A batch holds sequences of about one length, end to end,
without padding. The output for a sequence is the same, to the bit, whatever shares its batch.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from fbg import _fbg
from fbg.arrays import Floats, Indices
from fbg.runtime.engine import MAX_BATCH_TOKENS, Engine, Types, chunks


def copied(number: int, output: Floats) -> Floats:
    """Keep a copy of all rows of a sequence, instead of the output of its whole batch."""
    return output.copy()


class Request:
    """Sequences that a task asks an engine to compute, and the function that keeps results.

    keep: called once for each sequence, with its number and its rows of the output, from any
        thread. Its result must not be a view if memory matters: the rows belong to the
        output of a whole batch.
    where: the name of the function in errors.
    batch_size: the most sequences of a batch, where no other request shares it.
    before, after: how many sequences of the same call are asked for earlier and later, if it asks
        for some at a time.
    types: as `Engine.compute` takes them.
    """

    def __init__(
        self,
        engine: Engine,
        ids: Sequence[Indices],
        where: str,
        keep: Callable[[int, Floats], Floats] = lambda number, output: output,
        batch_size: int = 32,
        before: int = 0,
        after: int = 0,
        types: Sequence[Types] = (),
    ) -> None:
        self.engine, self.ids, self.where, self.keep = engine, ids, where, keep
        self.batch_size, self.before, self.after, self.types = batch_size, before, after, types


Result = TypeVar("Result")

Steps = Generator[Request, list[Floats], Result]
Advance = Callable[[int], object] | None  # called with the sequences computed since the last call

# With at least this many batches for each thread, a thread computes whole batches by itself instead
# of sharing every batch with the others: none waits for another one within a batch, and none
# quantizes the same data as another one.
BATCHES_PER_THREAD = 4


def run_steps(steps: Steps[Result], num_threads: int | None, advance: Advance = None) -> Result:
    """Drive a task to its end in the calling thread and return its result.

    num_threads: None: the default of the process.
    """
    try:
        request = next(steps)
        while True:
            request = steps.send(compute(request, num_threads, advance))
    except StopIteration as end:
        result: Result = end.value
        return result


def compute(request: Request, num_threads: int | None, advance: Advance = None) -> list[Floats]:
    """Compute a request in the calling thread, with the help of others; return the kept results.

    Raises ValueError for a token id unknown to the network, and what `request.keep` and `advance`
    raise; then the rest is not computed. If the calling thread is interrupted, others compute what
    they have begun.
    """
    num_threads = num_threads or _fbg.num_threads()
    sizes = list(map(len, request.ids))
    # Sequences of about one length share a batch; the longest ones come first.
    order = sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)
    results: list[Any] = [None] * len(sizes)
    while order and not sizes[order[-1]]:
        n = order.pop()
        results[n] = request.keep(n, request.engine.empty())
    sizes = list(map(sizes.__getitem__, order))
    batches = list(map(order.__getitem__, chunks(sizes, MAX_BATCH_TOKENS, request.batch_size)))
    shared = len(batches)
    if 1 < num_threads <= shared // BATCHES_PER_THREAD:
        shared = _shared(sizes, shared, num_threads)
    _fbg.enter_call()  # as `calling`, which takes longer
    try:
        for batch in batches[:shared]:
            _compute_batch(request, batch, num_threads, results)
            if advance is not None:
                advance(len(batch))
        if shared < len(batches):
            _compute_side_by_side(request, batches[shared:], num_threads, results, advance)
    finally:
        _fbg.leave_call()
    if advance is not None and len(order) < len(results):
        advance(len(results) - len(order))
    return results


def _compute_batch(
    request: Request, batch: Sequence[int], num_threads: int, results: list[Any]
) -> None:
    """Compute some sequences, by their numbers, and keep their results."""
    ids = list(map(request.ids.__getitem__, batch))
    types = list(map(request.types.__getitem__, batch)) if request.types else ()
    outputs = request.engine.compute(ids, types, num_threads, request.where)
    for n, rows in zip(batch, outputs, strict=True):
        results[n] = request.keep(n, rows)


def _shared(sizes: Sequence[int], batches: int, num_threads: int) -> int:
    """Return how many of the first batches all threads are to share; each of the others is computed
    by one thread.

    sizes: of all sequences, the longest first.
    """
    # Batches larger than ordinary ones together take at most half of the memory of the longest
    # sequence, as one thread may still use a larger plan, and the arenas of its copies.
    most = max(MAX_BATCH_TOKENS, sizes[0] // (2 * num_threads))
    long = sum(size > most for size in sizes)  # each of which is a batch
    return long if batches - long >= BATCHES_PER_THREAD * num_threads else batches


def _compute_side_by_side(
    request: Request,
    batches: Sequence[Sequence[int]],
    num_threads: int,
    results: list[Any],
    advance: Advance,
) -> None:
    """Compute batches in several threads, each of which takes one after the other.

    Of several errors, that of the first batch is raised. If no thread can be started, as while the
    interpreter is shutting down, the existing threads compute everything.
    """
    waiting, done = deque(enumerate(batches)), deque[int]()
    failed: list[tuple[int, BaseException]] = []

    def take() -> bool:
        """Compute a batch; return False if none is left."""
        try:
            number, batch = waiting.popleft()
        except IndexError:
            return False
        try:
            _compute_batch(request, batch, 1, results)
            done.append(len(batch))
        except BaseException as error:
            failed.append((number, error))
            waiting.clear()
            if not isinstance(error, Exception):
                raise
        return True

    def help_out() -> None:
        while take():
            pass

    helpers = []
    try:
        with contextlib.suppress(RuntimeError):
            for n in range(1, num_threads):
                helper = threading.Thread(target=help_out, name=f"fbg-batch-{n}", daemon=True)
                helper.start()
                helpers.append(helper)
        while take():
            while done and advance is not None and not failed:
                advance(done.popleft())
    finally:
        waiting.clear()
        for helper in helpers:
            helper.join()
        first = min(failed, default=None)
        failed.clear()
    if first is not None:
        try:
            raise first[1]
        finally:
            del first  # the traceback of the error keeps this frame
    while done and advance is not None:
        advance(done.popleft())
