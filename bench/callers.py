"""Callers beside each other and beside other programs: threads, an event loop, a busy core, lanes.

    python bench/callers.py                            calls of 1 to 32 Python threads, MiniLM int8
    python bench/callers.py heartbeat                  how late asyncio is while a thread embeds
    python bench/callers.py lanes --rounds 10          the queue of `fbg serve`, by its lanes
    python bench/callers.py busy                       BERT-base in int8 at 8, 64, 200 tokens
    python bench/callers.py busy --networks resnet50.onnx        and a network, in int8 too
    python bench/callers.py busy --load none --quota 1.5         within so many CPUs of a cgroup

threads: each sample lets that many Python threads call the same model for a while and counts the
calls; settings of num_threads (--threads) are interleaved. First, every thread's results are
compared with those of a single caller: they must be the same to the bit. With many callers, it
should not matter what num_threads is.

heartbeat: the delay of a beat is what passes beyond the 10 ms that it asked for; the same loop
without any work shows what the machine itself adds.

lanes: clients of an AsyncModel wait for each answer, in a closed loop: 1 and 32 clients of one
text, and 8 clients of 32 texts. Contestants are the queue without lanes and with each number of
lanes, free and pinned, whose bits are compared before.

busy: the neighbour is a loop pinned to the last CPU of this process; the threads may run on all of
them. Samples of both numbers of threads take turns, each of them long enough to hold several time
slices. First, both must give the same bits. --quota moves this process into a new cgroup (version 1
or 2) and needs the right to make one.
"""

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import material
import numpy as np
import timing

import fbg
from fbg.runtime.batcher import Batcher, Lanes

Call = Callable[..., Any]
BEAT = 0.010
CALLERS = (1, 2, 4, 8, 32)
LOADS = {"1 client": (1, 1), "32 clients": (32, 1), "8 clients of 32": (8, 32)}
LOOP = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"
PERIOD_MICROSECONDS = 100_000
GROUPS = Path("/sys/fs/cgroup")


def model_of(arguments: argparse.Namespace) -> fbg.Model:
    model = fbg.load(arguments.model or material.minilm(), dtype="int8")
    assert isinstance(model, fbg.Model)
    return model


# --- Threads ------------------------------------------------------------------------------------
def in_threads(count: int, work: Callable[[int], None]) -> list[threading.Thread]:
    found = [threading.Thread(target=work, args=(caller,)) for caller in range(count)]
    for thread in found:
        thread.start()
    return found


def calls_per_second(call: Call, callers: int, seconds: float) -> float:
    """Let that many threads call until the time is over; call(n) is the n-th call of its thread."""
    counts, start, stop = [0] * callers, threading.Barrier(callers + 1), threading.Event()

    def loop(caller: int) -> None:
        call(caller)
        start.wait()
        while not stop.is_set():
            call(caller + counts[caller])
            counts[caller] += 1

    running = in_threads(callers, loop)
    start.wait()
    begin = time.perf_counter()
    time.sleep(seconds)
    stop.set()
    for thread in running:
        thread.join()
    return max(sum(counts), 1) / (time.perf_counter() - begin)


def require_same_results(call: Call, count: int, callers: int) -> None:
    """End the program if results depend on how many threads call."""
    alone = [np.asarray(call(n)) for n in range(count)]
    wrong: list[int] = []

    def check(caller: int) -> None:
        for n in range(caller, caller + count):
            if not np.array_equal(np.asarray(call(n)), alone[n % count]):
                wrong.append(n)

    for thread in in_threads(callers, check):
        thread.join()
    if wrong:
        sys.exit(f"{len(wrong)} results of {callers} callers are not those of one")


def of_threads(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    model, texts = model_of(arguments), material.of_tests("minilm").sentences()
    ids = [np.arange(5, 5 + len(text.split()))[None] for text in texts]

    def call(n: int) -> Any:
        if arguments.call == "encode":
            return model.encode(texts[n % len(texts)])
        return model.forward(ids[n % len(ids)]).last_hidden_state

    def sample(threads: int, callers: int) -> float:
        fbg.set_num_threads(threads)
        return 1 / calls_per_second(call, callers, arguments.seconds)

    require_same_results(call, len(texts), 8)
    for callers in CALLERS:
        field = [
            timing.Contestant(f"{n}", sample=partial(sample, n, callers)) for n in arguments.threads
        ]
        yield timing.Case({"callers": callers, "call": arguments.call}, partial(list, field))


# --- An event loop, and lanes -------------------------------------------------------------------
async def heartbeat(work: Any) -> list[float]:
    """Return the delay of each beat, in seconds, until the work is done."""
    task, delays = asyncio.ensure_future(work), []
    while not task.done():
        begin = time.perf_counter()
        await asyncio.sleep(BEAT)
        delays.append(time.perf_counter() - begin - BEAT)
    await task
    return delays


def beats(arguments: argparse.Namespace, report: timing.Report) -> None:
    model, texts = model_of(arguments), material.installed_sentences(arguments.texts)

    async def embedding() -> list[float]:
        return await heartbeat(asyncio.to_thread(model.encode, texts))

    async def idle() -> list[float]:
        return await heartbeat(asyncio.sleep(seconds))

    begin = time.perf_counter()
    delays = {"encode": asyncio.run(embedding())}
    seconds = time.perf_counter() - begin
    delays["idle"] = asyncio.run(idle())
    for name, found in delays.items():
        ms, case = 1000 * np.array(found), {"loop": name}
        figures = {"beats": ms.size, "median ms": float(np.median(ms))}
        figures |= {"99 % ms": float(np.percentile(ms, 99)), "most ms": float(ms.max())}
        report.put(case, [case | figures])
    print(comparison.text(report.rows({})))


def of_lanes(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    model, threads = model_of(arguments), max(arguments.threads)
    queues = {"no lanes": Batcher(threads)}
    for count in (n for n in range(1, threads + 1) if threads % n == 0):
        for pinned in (False, True):
            queue = queues[f"{count} × {threads // count}" + ", pinned" * pinned] = Batcher(threads)
            queue.use_lanes(Lanes(count, threads, pinned))
    text = " ".join(["word"] * (arguments.tokens[0] - 2))

    async def answers(queue: Batcher, clients: int, texts: int, seconds: float) -> tuple[Any, int]:
        end, done, last = time.perf_counter() + seconds, 0, None

        async def client(runs: fbg.AsyncModel) -> None:
            nonlocal done, last
            while last is None or time.perf_counter() < end:
                last = await runs.encode([text] * texts)
                done += texts

        async with fbg.AsyncModel(model, queue) as runs:
            await asyncio.gather(*(client(runs) for _ in range(clients)))
        return last, done

    def sample(queue: Batcher, load: tuple[int, int]) -> float:
        """Seconds of a text."""
        begin = time.perf_counter()
        done = asyncio.run(answers(queue, *load, arguments.seconds))[1]
        return (time.perf_counter() - begin) / done

    bits = {np.asarray(asyncio.run(answers(q, 1, 32, 0))[0]).tobytes() for q in queues.values()}
    if len(bits) > 1:
        sys.exit("results depend on lanes")
    for name, load in LOADS.items():
        field = [timing.Contestant(n, sample=partial(sample, q, load)) for n, q in queues.items()]
        yield timing.Case({"load": name}, partial(list, field))


# --- A busy core --------------------------------------------------------------------------------
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
    unified = (GROUPS / "cgroup.controllers").exists()
    parent = GROUPS if unified else GROUPS / "cpu"
    group, time_ = parent / f"busy-core-{os.getpid()}", round(cpus * PERIOD_MICROSECONDS)
    group.mkdir()
    try:
        if unified:
            (group / "cpu.max").write_text(f"{time_} {PERIOD_MICROSECONDS}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
            (group / "cpu.cfs_quota_us").write_text(str(time_))
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (parent / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def network(path: Path, threads: int) -> Call:
    rng, inputs = np.random.default_rng(0), fbg.load(path, num_threads=1).inputs
    feeds = {n: rng.standard_normal(kind.shape, dtype=np.float32) for n, kind in inputs.items()}
    net = fbg.load(path, num_threads=threads, dtype="int8", calibrate=[feeds])
    return lambda: next(iter(net.run(feeds).values()))


def calls_of(arguments: argparse.Namespace) -> Iterator[tuple[str, dict[int, Call]]]:
    """Name each case, with its call for every number of threads."""
    path = material.random_exports("base", arguments.cache).checkpoint
    models = {n: fbg.load(path, dtype="int8", num_threads=n) for n in arguments.threads}
    for tokens in arguments.tokens:
        ids = material.random_ids(30522, tokens)
        calls = {
            n: lambda model=model, ids=ids: model.forward(ids).last_hidden_state
            for n, model in models.items()
        }
        yield f"BERT-base, {tokens} tokens", calls
    for path in arguments.networks:
        yield path.stem, {threads: network(path, threads) for threads in arguments.threads}


def of_busy(arguments: argparse.Namespace) -> Iterator[timing.Case]:
    def sample(call: Call) -> float:
        """The mean time of a call over some time slices."""
        call()
        repeats, taken = 0, 0.0
        while taken < arguments.seconds:
            taken += timing.elapsed(call)
            repeats += 1
        return taken / repeats

    with contextlib.ExitStack() as stack:
        if arguments.load == "busy":
            stack.enter_context(neighbour(max(os.sched_getaffinity(0))))
        if arguments.quota is not None:
            stack.enter_context(quota(arguments.quota))
        for name, calls in calls_of(arguments):
            results = [call() for call in calls.values()]
            if not all(np.array_equal(results[0], other) for other in results):
                raise SystemExit(f"callers.py: {name}: results depend on the number of threads")
            field = [
                timing.Contestant(str(threads), sample=partial(sample, call))
                for threads, call in calls.items()
            ]
            case = {"case": name, "load": arguments.load, "quota": arguments.quota}
            yield timing.Case(case, partial(list, field))


QUESTIONS = {"threads": of_threads, "lanes": of_lanes, "busy": of_busy}


def main() -> None:
    parser = timing.parser(__doc__)
    parser.set_defaults(threads=[1, 2])
    names = (*QUESTIONS, "heartbeat")
    parser.add_argument("question", nargs="?", choices=names, default="threads")
    parser.add_argument("--model", help="a directory that fbg.load reads; default: MiniLM")
    parser.add_argument("--call", choices=("encode", "forward"), default="encode")
    parser.add_argument("--tokens", type=int, nargs="+", help="of busy (8 64 200), of lanes (16)")
    parser.add_argument("--texts", type=int, default=2000, help="of heartbeat")
    parser.add_argument("--networks", type=Path, nargs="+", default=[], metavar="FILE.onnx")
    parser.add_argument("--load", choices=("busy", "none"), default="busy")
    parser.add_argument("--quota", type=float, metavar="CPUS")
    parser.add_argument("--seconds", type=float, default=0.25, help="of a sample (default 0.25)")
    arguments = parser.parse_args()
    arguments.tokens = arguments.tokens or ([16] if arguments.question == "lanes" else [8, 64, 200])
    report = timing.begin(arguments.question, arguments)
    if arguments.question == "heartbeat":
        beats(arguments, report)
        return
    cases = QUESTIONS[arguments.question](arguments)
    comparison.run(report, cases, timing.rounds(arguments), ())


if __name__ == "__main__":
    main()
