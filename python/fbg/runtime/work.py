"""Work: token sequences for one engine; and steps: a task that asks for work and goes on with it.

A task is written as a generator. It tokenizes, yields a `Work`, receives the outputs, and returns
its result. Who drives it decides where the work is computed: `run_steps` in the calling thread;
AsyncModel and the server on a queue, whose batches hold sequences of many requests.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from fbg.runtime.engine import Engine
from fbg.runtime.scheduler import Scheduler
from fbg.threads import calling

__all__ = ["Steps", "Work", "compute", "run_steps"]

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]
Result = TypeVar("Result")


def _everything(number: int, output: Floats) -> Floats:
    return output


@dataclass(frozen=True)
class Work:
    """Sequences to compute, and what to keep of their outputs.

    types: the token types of each sequence; None stands for zeros.
    keep: called once for each sequence, with its number and its rows of the output, from any
        thread. What it returns must not be a view where memory matters: the rows belong to the
        output of a whole batch.
    where: the function that errors name.
    batch_size: the most sequences of a batch, where the work is computed by itself.
    before, after: how many sequences of the same request were submitted earlier, and will be
        submitted later, where a request is computed in parts.
    """

    engine: Engine
    ids: Sequence[Indices]
    types: Sequence[Indices | None]
    where: str
    keep: Callable[[int, Floats], Floats] = _everything
    batch_size: int = 32
    before: int = 0
    after: int = 0

    @property
    def is_part(self) -> bool:
        return self.before > 0 or self.after > 0


Steps = Generator[Work, list[Floats], Result]


def compute(
    work: Work, num_threads: int, advance: Callable[[int], object] = lambda n: None
) -> list[Floats]:
    """Compute work in the calling thread, with a team of `num_threads`.

    advance: told how many sequences have been computed since the last call.
    """
    scheduler = Scheduler(
        work.engine, num_threads=num_threads, batch_size=work.batch_size, where=work.where
    )
    results: list[Floats] = [np.empty((0, 0), np.float32)] * len(work.ids)

    def store(n: int, output: Floats) -> None:
        results[n] = work.keep(n, output)

    for n, (ids, types) in enumerate(zip(work.ids, work.types, strict=True)):
        scheduler.submit(ids, partial(store, n), types)
    with calling:
        for count in scheduler.run():
            advance(count)
    return results


def run_steps(
    steps: Steps[Result],
    num_threads: int,
    advance: Callable[[int], object] = lambda n: None,
) -> Result:
    """Drive a task to its end in the calling thread and return its result."""
    try:
        work = next(steps)
        while True:
            work = steps.send(compute(work, num_threads, advance))
    except StopIteration as end:
        result: Result = end.value
        return result
