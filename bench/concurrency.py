"""Calls per second where several Python threads embed at the same time, one text for each call.

    python bench/concurrency.py                                  all-MiniLM-L6-v2 in int8
    python bench/concurrency.py --callers 1 8 --call forward --json OUT

Each sample lets `callers` Python threads call the same model for a while and counts the calls;
settings of num_threads (--threads) are interleaved. First, every thread's results are compared with
those of a single caller: they must be the same to the bit. The last column is the slowest setting
as a fraction of the fastest: with many callers, it should not matter what num_threads is.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import checkpoints
import numpy as np
import timing

import fbg

Call = Callable[[int], object]


def calls_per_second(call: Call, callers: int, seconds: float) -> float:
    """Let that many threads call until the time is over; call(n) is the n-th call of its thread."""
    counts, start, stop = [0] * callers, threading.Barrier(callers + 1), threading.Event()

    def loop(caller: int) -> None:
        call(caller)
        start.wait()
        n = caller
        while not stop.is_set():
            call(n)
            n += 1
        counts[caller] = n - caller

    threads = [threading.Thread(target=loop, args=(caller,)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    start.wait()
    begin = time.perf_counter()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def require_same_results(call: Call, count: int, callers: int) -> None:
    """End the program if results depend on how many threads call."""
    alone = [np.asarray(call(n)) for n in range(count)]
    wrong: list[int] = []

    def check(caller: int) -> None:
        for n in range(caller, caller + count):
            if not np.array_equal(np.asarray(call(n)), alone[n % count]):
                wrong.append(n)

    threads = [threading.Thread(target=check, args=(caller,)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit(f"{len(wrong)} results of {callers} callers are not those of one")


def contestant(call: Call, callers: int, threads: int, seconds: float) -> timing.Contestant:
    """Seconds for each call of all callers together."""

    def sample() -> float:
        fbg.set_num_threads(threads)
        return 1 / calls_per_second(call, callers, seconds)

    return timing.Contestant(f"{threads}", sample=sample)


def main() -> None:
    parser = timing.parser(__doc__.partition("\n")[0])
    parser.set_defaults(threads=[1, 2])
    parser.add_argument("--model", help="a directory that fbg.load reads")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--callers", type=int, nargs="+", default=[1, 2, 4, 8, 32], metavar="N")
    parser.add_argument("--call", choices=("encode", "forward"), default="encode")
    parser.add_argument(
        "--seconds", type=float, default=0.25, help="length of a sample (default 0.25)"
    )
    arguments = parser.parse_args()
    minilm = checkpoints.of_tests("minilm")
    model = fbg.load(arguments.model or minilm.minilm_directory(), arguments.dtype)
    call = calls_of(model, minilm.sentences(), arguments.call)
    require_same_results(call, len(minilm.sentences()), 8)
    run(call, arguments)


def calls_of(model: fbg.Model, texts: list[str], method: str) -> Call:
    if method == "encode":
        return lambda n: model.encode(texts[n % len(texts)])
    ids = [np.arange(5, 5 + len(text.split()))[None] for text in texts]
    return lambda n: model.forward(ids[n % len(ids)]).last_hidden_state


def run(call: Call, arguments: argparse.Namespace) -> None:
    report = timing.Report(Path(__file__).stem, arguments)
    rows = []
    for callers in arguments.callers:
        contestants = [
            contestant(call, callers, threads, arguments.seconds) for threads in arguments.threads
        ]
        results = timing.race(contestants, timing.rounds(arguments))
        report.add({"callers": callers, "call": arguments.call}, results)
        rates = [1 / result.median for result in results.values()]
        rows.append(
            [str(callers), *(f"{rate:.0f}" for rate in rates), f"{min(rates) / max(rates):.2f}"]
        )
    settings = [f"num_threads={threads}" for threads in arguments.threads]
    print(f"calls per second of {arguments.call}")
    print(timing.markdown(["callers", *settings, "slowest/fastest"], rows))


if __name__ == "__main__":
    main()
