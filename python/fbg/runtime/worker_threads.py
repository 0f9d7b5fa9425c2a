"""The threads of a batch former that many requests share, and their priorities."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fbg import _fbg
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear
from fbg.runtime.priority import Priority, PriorityClass

if TYPE_CHECKING:
    from fbg.runtime.lanes import Lanes


def start_threads(
    serve: Callable[[PriorityClass], None],
    classes: Sequence[PriorityClass],
    num_threads: int,
    lanes: Lanes | None = None,
) -> list[threading.Thread]:
    """Start so many threads for each class, which call serve(its class): one in each lane, if there
    are lanes.
    """

    def main(chosen: PriorityClass, number: int) -> None:
        take_priority(chosen.priority)
        if lanes is not None:
            lanes.enter(number)
        serve(chosen)

    if lanes is None:
        _start_workers(num_threads)
    threads = [
        threading.Thread(target=main, args=(each, n), name=f"fbg-queue-{n}", daemon=True)
        for n, each in enumerate(each for each in classes for _ in range(num_threads))
    ]
    for thread in threads:
        thread.start()
    return threads


def _start_workers(num_threads: int) -> None:
    """Start the threads that share the work of a call with its caller.

    They inherit the priority of the thread that starts them, and serve other callers, too: so that
    must not be a thread of a former, whose priority is low.
    """
    weights = PackedB(np.zeros((64, 64), np.float32), dtype="float32")
    linear(np.zeros((64, 64), np.float32), weights, num_threads=num_threads)


def take_priority(priority: Priority) -> None:
    """Give the calling thread a priority; on Linux, where each thread has a niceness, that too."""
    _fbg.set_gives_way(priority.gives_way)
    if sys.platform != "linux":
        return
    with contextlib.suppress(AttributeError, OSError):
        thread = threading.get_native_id()
        niceness = os.getpriority(os.PRIO_PROCESS, thread) + priority.niceness
        os.setpriority(os.PRIO_PROCESS, thread, niceness)
