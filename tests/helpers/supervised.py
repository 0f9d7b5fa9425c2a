"""Random cases in a process of their own: where it ends or gets stuck, another one goes on."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable

WELL, FOUND = 0, 1  # exit codes of a process that ran its cases

Work = Callable[..., None]


def supervise(
    label: str,
    work: Work,
    arguments: tuple[object, ...],
    *,
    first: int,
    end: int,
    seconds: float,
    stuck: float,
    lost: Callable[[int], object] = lambda number: None,
) -> bool:
    """Run cases of the numbers from `first` to `end` for some time. True if nothing was found.

    work: called with `arguments`, the numbers of the cases, when to end, and two shared numbers: it
    sets those of the case and of the second in which that began, and exits with WELL or FOUND.
    stuck: seconds after which a case is one that hangs. lost: told the case that ended a process.
    """
    context = multiprocessing.get_context("spawn")
    begin = time.monotonic()
    number, well = first, True
    while number < end and time.monotonic() < begin + seconds:
        shared = context.Array("q", [number, int(time.monotonic()) + 60], lock=False)
        given = (*arguments, range(number, end), begin + seconds, shared)
        process = context.Process(target=work, args=given)
        process.start()
        while process.is_alive():
            process.join(0.5)
            if time.monotonic() - shared[1] > stuck:
                process.kill()
        number = shared[0]
        if process.exitcode in (WELL, FOUND):
            well = well and process.exitcode == WELL
            break
        print(f"FINDING {label} {number}: the process ended with {process.exitcode}")
        lost(number)
        well, number = False, number + 1
    print(f"{label}: {number - first} cases in {time.monotonic() - begin:.0f} s: ", end="")
    print("nothing found" if well else "FINDINGS", flush=True)
    return well
