"""Two threads against one while another process keeps one of two CPUs busy.

    python bench/busy_core.py                                BERT-base in int8 at 8, 64, 200 tokens
    python bench/busy_core.py --networks resnet50.onnx       and a network, in int8 too
    python bench/busy_core.py --load none                    the same on a quiet machine
    python bench/busy_core.py --load none --quota 1.5        within so many CPUs of a cgroup

The neighbour is a loop pinned to the last CPU of this process; the threads may run on all of them.
Samples of both numbers of threads take turns, each of them long enough to hold several time slices,
so that a sample is a mean over turns with and without the neighbour. The last column is the time of
two threads as a fraction of that of one: 0.67 if half of a CPU were used to the full, 0.5 if all
were. First, both must give the same bits.

--quota moves this process into a new cgroup (version 1 or 2) and needs the right to make one.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import checkpoints
import numpy as np
import timing
from exports import Array

import fbg

LOOP = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"
PERIOD_MICROSECONDS = 100_000
ROOT = Path("/sys/fs/cgroup")
Call = Callable[[], Array]


@contextlib.contextmanager
def neighbour(cpu: int) -> Iterator[None]:
    """Keep a CPU busy with another process."""
    process = subprocess.Popen([sys.executable, "-c", LOOP % cpu])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def quota(cpus: float) -> Iterator[None]:
    """Let this process have so many CPUs' time in each period."""
    unified = (ROOT / "cgroup.controllers").exists()
    parent = ROOT if unified else ROOT / "cpu"
    group = parent / f"busy-core-{os.getpid()}"
    microseconds = round(cpus * PERIOD_MICROSECONDS)
    group.mkdir()
    try:
        if unified:
            (group / "cpu.max").write_text(f"{microseconds} {PERIOD_MICROSECONDS}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
            (group / "cpu.cfs_quota_us").write_text(str(microseconds))
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def encoder(cache: Path, threads: int) -> Callable[[Array], Array]:
    exports = checkpoints.random_exports("base", cache)
    model = fbg.load(exports.checkpoint, dtype="int8", num_threads=threads)
    return lambda ids: model.forward(ids).last_hidden_state


def network(path: Path, threads: int) -> Call:
    rng = np.random.default_rng(0)
    inputs = fbg.load(path, num_threads=1).inputs
    feeds = {
        name: rng.standard_normal(kind.shape, dtype=np.float32) for name, kind in inputs.items()
    }
    net = fbg.load(path, num_threads=threads, dtype="int8", calibrate=[feeds])
    return lambda: next(iter(net.run(feeds).values()))


def cases(arguments: argparse.Namespace) -> Iterator[tuple[str, dict[int, Call]]]:
    """Name each case, with its call for every number of threads."""
    if arguments.tokens:
        models = {threads: encoder(arguments.cache, threads) for threads in arguments.threads}
        for tokens in arguments.tokens:
            ids = checkpoints.random_ids(30522, tokens)
            yield (
                f"BERT-base, {tokens} tokens",
                {threads: functools.partial(model, ids) for threads, model in models.items()},
            )
    for path in arguments.networks:
        yield path.stem, {threads: network(path, threads) for threads in arguments.threads}


def sample(call: Call, seconds: float) -> float:
    """Return the mean time of a call over so many seconds."""
    call()
    repeats, taken = 0, 0.0
    while taken < seconds:
        taken += timing.elapsed(call)
        repeats += 1
    return taken / repeats


def measure(
    name: str, calls: dict[int, Call], arguments: argparse.Namespace
) -> dict[str, timing.Result]:
    results = [call() for call in calls.values()]
    if not all(np.array_equal(results[0], other) for other in results):
        raise SystemExit(f"busy_core.py: {name}: results depend on the number of threads")
    contestants = [
        timing.Contestant(str(threads), sample=functools.partial(sample, call, arguments.seconds))
        for threads, call in calls.items()
    ]
    return timing.race(contestants, timing.rounds(arguments))


def main() -> None:
    parser = timing.parser(__doc__.partition("\n")[0])
    parser.set_defaults(threads=[1, 2])
    parser.add_argument("--tokens", type=int, nargs="*", default=[8, 64, 200])
    parser.add_argument("--networks", type=Path, nargs="+", default=[], metavar="FILE.onnx")
    parser.add_argument("--load", choices=("busy", "none"), default="busy")
    parser.add_argument("--quota", type=float, metavar="CPUS")
    parser.add_argument("--seconds", type=float, default=0.2, help="of a sample (default 0.2)")
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    report = timing.Report(Path(__file__).stem, arguments)
    rows = []
    with contextlib.ExitStack() as stack:
        if arguments.load == "busy":
            stack.enter_context(neighbour(max(os.sched_getaffinity(0))))
        if arguments.quota is not None:
            stack.enter_context(quota(arguments.quota))
        for name, calls in cases(arguments):
            results = measure(name, calls, arguments)
            report.add({"case": name, "load": arguments.load, "quota": arguments.quota}, results)
            first, *_, last = results.values()
            times = (f"{result.median * 1e3:.2f}" for result in results.values())
            rows.append([name, *times, f"{1 / last.speedup_over(first):.2f}"])
    headers = ["case", *(f"{threads} threads, ms" for threads in arguments.threads), "ratio"]
    print(timing.markdown(headers, rows), flush=True)


if __name__ == "__main__":
    main()
