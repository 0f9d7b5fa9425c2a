"""Servers under load: `fbg serve` against infinity-emb and against Starlette with onnxruntime.

    python bench/server.py [MODEL_DIRECTORY] [--ort int8.onnx] [--infinity PROGRAM] [--json OUT]
    python bench/server.py limits [MODEL_DIRECTORY] [--only steady --minutes 5]

load. Closed loop: 1, 8, 32 and 128 clients, of one short sentence, of mixed lengths, of batches of
32. Open loop: a share of the highest closed-loop rate. Bulk and interactive: one short sentence at
a time, alone and while two clients send batches without a pause, in turn; the ratio of the p99 is
printed for each round. In process: batches of 32 as 8 clients send them, and by Model.encode of
this process, in turn. Contestants take turns in each round; figures are medians of the rounds.
Latencies are of all requests. CPU is that of the server process.

--ort: an int8 export, as peers/exports.py makes it; that of MiniLM is made if it is not given.
--infinity: the program infinity_emb of an environment that has infinity-emb. Every
server answers base64. All are started before any is measured, and those that are not measured are
idle.

limits: servers one after the other. The capacity is the rate of 32 clients in a closed loop.

    health     /health every 20 ms, while clients of single sentences and of bulk requests keep the
               server busy
    cost       32 clients of single sentences: CPU time of the server for each request, less that of
               a call of AsyncModel.encode by 32 callers in this process, which has the same
               tokenization, queue and computation without HTTP
    overload   arrivals at 3 times the capacity, with at most 64 requests at a time: the rest should
               be answered 429, and as many as before should be answered 200. The server and the
               load generator each have half of the CPUs: on shared ones, the larger load would
               take time from the server, which is not the server's doing
    steady     arrivals at a share of the capacity for some minutes: p99 and memory of each minute
"""

import argparse
import asyncio
import functools
import http.client
import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import material
import timing
from peers import sentences
from peers.exports import available
from peers.http_load import Job, Result

import fbg

PEERS = Path(__file__).parent / "peers"
TICKS = os.sysconf("SC_CLK_TCK")
# The names of loads.
OPEN = "short, open"
BESIDE_BULK = "1 client before bulk", "1 client beside bulk"
IN_PROCESS = "bulk, 8 clients, and in process"


@dataclass(frozen=True)
class Server:
    """name: of a contestant. path: of its route. process: what to measure CPU and memory of."""

    name: str
    port: int
    path: str
    process: subprocess.Popen[bytes]

    @property
    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def rss_mib(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


@contextmanager
def running(
    name: str, command: list[str], port: int, path: str, cpus: set[int] | None = None
) -> Iterator[Server]:
    """A server, on all CPUs or on these."""
    mine = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cpus or mine)  # which the server inherits
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        os.sched_setaffinity(0, mine)
    try:
        for _ in range(1200):
            if process.poll() is not None:
                raise RuntimeError(f"{name} ended: {' '.join(command)}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2)
                break
            except OSError:
                time.sleep(0.1)
        yield Server(name, port, path, process)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def is_saved(model: Path) -> bool:
    """Whether fbg wrote the directory, which then says the dtype."""
    return (model / "fbg.safetensors").is_file()


def this_server(model: Path, port: int, *more: str) -> list[str]:
    """The command of `fbg serve` with one model, "m", in int8."""
    command = [sys.executable, "-m", "fbg", "serve", f"m={model}", "--port", str(port), *more]
    return command if is_saved(model) else [*command, "--dtype", "int8"]


def contestants(options: argparse.Namespace, stack: ExitStack) -> list[Server]:
    model, port = str(options.model), free_port()
    ours = this_server(options.model, port)
    servers = [stack.enter_context(running("fbg", ours, port, "/v1/embeddings"))]
    if options.ort:
        port = free_port()
        script = str(PEERS / "ort_server.py")
        tokenizer = str(options.model / "tokenizer.json")
        command = [sys.executable, script, str(options.ort), tokenizer, str(port)]
        servers.append(stack.enter_context(running("onnxruntime", command, port, "/v1/embeddings")))
    if options.infinity:
        port = free_port()
        command = [options.infinity, "v2", "--model-id", model]
        command += ["--port", str(port), "--host", "127.0.0.1", "--served-model-name", "m"]
        command += ["--engine", "torch", "--device", "cpu", "--no-bettertransformer"]
        servers.append(stack.enter_context(running("infinity", command, port, "/embeddings")))
    return servers


@functools.cache
def bodies(kind: str) -> list[str]:
    """Requests of a kind: "short", "mixed" or "bulk"."""
    if kind == "mixed":
        inputs: list[Any] = material.mixed_texts(128)
    elif kind == "short":
        inputs = [line for line in material.installed_sentences(1000) if len(line) <= 60][:128]
    else:
        lines = material.installed_sentences(256)
        inputs = [lines[n : n + 32] for n in range(0, 256, 32)]
    form = {"model": "m", "encoding_format": "base64"}
    return [json.dumps({**form, "input": text}) for text in inputs]


def load(server: Server, kind: str, clients: int, seconds: float, **more: Any) -> Result:
    job = Job(server.port, server.path, bodies(kind), clients, seconds, **more)
    process = start(job)
    return finish(process)


def start(job: Job) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(PEERS / "http_load.py")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(job.__dict__).encode())
    process.stdin.close()
    return process


def finish(process: subprocess.Popen[bytes]) -> Result:
    assert process.stdout is not None
    result = Result(**json.load(process.stdout))
    process.wait()
    return result


def row(server: Server, what: str, results: list[Result], cpu: list[float]) -> dict[str, Any]:
    def median(values: list[float]) -> float:
        return statistics.median(values)

    statuses: dict[str, int] = {}
    for result in results:
        for status, count in result.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    return {
        "server": server.name,
        "load": what,
        "requests_per_s": round(median([r.rate for r in results]), 1),
        "p50_ms": round(1000 * median([r.percentile(0.5) for r in results]), 2),
        "p99_ms": round(1000 * median([r.percentile(0.99) for r in results]), 2),
        "cpu_ms_per_request": round(
            median(
                [1000 * c / max(len(r.latencies), 1) for r, c in zip(results, cpu, strict=True)]
            ),
            3,
        ),
        "rss_mib": round(server.rss_mib),
        "statuses": str(statuses),
    }


def measured(
    servers: list[Server],
    what: str,
    options: argparse.Namespace,
    kind: str,
    clients: int,
    **more: Any,
) -> list[dict[str, Any]]:
    results: dict[str, list[Result]] = {server.name: [] for server in servers}
    cpu: dict[str, list[float]] = {server.name: [] for server in servers}
    for _ in range(options.rounds):
        for server in servers:
            before = server.cpu_seconds
            result = load(server, kind, clients, options.seconds, warm_up=0.3, **more)
            share = options.seconds / (options.seconds + 0.3)
            cpu[server.name].append((server.cpu_seconds - before) * share)
            results[server.name].append(result)
    rows = [row(server, what, results[server.name], cpu[server.name]) for server in servers]
    for entry in rows:
        show(entry)
    return rows


def open_loop(
    server: Server, closed: list[str], options: argparse.Namespace, report: timing.Report
) -> list[dict[str, Any]]:
    """Arrivals at a share of the highest rate of the closed loops."""
    cases = [{"server": server.name, "load": what} for what in closed]
    rates = [row["requests_per_s"] for case in cases for row in report.rows(case)]
    rate = round(options.share * max(rates))
    rows = measured([server], OPEN, options, "short", 128, rate=rate)
    return [entry | {"offered_per_s": rate} for entry in rows]


def beside_bulk(servers: list[Server], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Single queries, alone and while two clients send batches of 32 without a pause."""
    rows = []
    for server in servers:
        results: tuple[list[Result], list[Result]] = ([], [])
        cpu: tuple[list[float], list[float]] = ([], [])
        for _ in range(options.rounds):
            for bulk_clients, found, taken in zip((0, 2), results, cpu, strict=True):
                bulk = None
                if bulk_clients:
                    seconds = options.seconds + 0.6
                    job = Job(server.port, server.path, bodies("bulk"), bulk_clients, seconds, 0.0)
                    bulk = start(job)
                before = server.cpu_seconds
                found.append(load(server, "short", 1, options.seconds, warm_up=0.3))
                taken.append(server.cpu_seconds - before)
                if bulk is not None:
                    finish(bulk)
        ratios = [b.percentile(0.99) / a.percentile(0.99) for a, b in zip(*results, strict=True)]
        for name, found, taken in zip(BESIDE_BULK, results, cpu, strict=True):
            rows.append(row(server, name, found, taken))
            show(rows[-1])
        rows[-1]["p99_ratios"] = str([round(ratio, 2) for ratio in ratios])
        print(f"{server.name:<12} p99 beside bulk / alone: {rows[-1]['p99_ratios']}", flush=True)
    return rows


def in_process(server: Server, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Batches of 32: what 8 clients get of `fbg serve`, and what Model.encode does here."""
    model = fbg.load(options.model, dtype=None if is_saved(options.model) else "int8")
    batches = [json.loads(body)["input"] for body in bodies("bulk")]
    served, here = [], []
    for _ in range(options.rounds):
        served.append(load(server, "bulk", 8, options.seconds).rate)
        count, begin = 0, time.perf_counter()
        while time.perf_counter() < begin + options.seconds:
            model.encode(batches[count % len(batches)])
            count += 1
        here.append(count / (time.perf_counter() - begin))
    ratios = [round(a / b, 2) for a, b in zip(served, here, strict=True)]
    entry = {
        "server": server.name,
        "load": IN_PROCESS,
        "requests_per_s": round(statistics.median(served), 1),
        "in_process_per_s": round(statistics.median(here), 1),
        "ratios": str(ratios),
    }
    print(entry, flush=True)
    return [entry]


def show(entry: dict[str, Any]) -> None:
    print(
        f"{entry['server']:<12} {entry['load']:<28} {entry['requests_per_s']:>8.1f} requests/s  "
        f"p50 {entry['p50_ms']:>8.2f} ms  p99 {entry['p99_ms']:>8.2f} ms  "
        f"CPU {entry['cpu_ms_per_request']:>7.3f} ms  RSS {entry['rss_mib']} MiB  "
        f"{entry['statuses']}",
        flush=True,
    )


def keep(
    report: timing.Report,
    servers: list[Server],
    loads: Sequence[str],
    measure: Callable[[], list[dict[str, Any]]],
) -> None:
    """Measure loads, unless the file that is resumed has them for each of the servers."""
    cases = [{"server": server.name, "load": what} for server in servers for what in loads]
    if not all(map(report.rows, cases)):
        for entry in measure():
            report.put({"server": entry["server"], "load": entry["load"]}, [entry])


def ort_export(model: Path, cache: Path) -> Path | None:
    """An int8 export for the onnxruntime server, where what makes one is installed."""
    exports, _ = sentences.real_exports(model, cache, material.installed_sentences(1))
    return exports.int8_onnx() if available(["ort-int8"], exports) else None


# --- Limits -------------------------------------------------------------------------------------
@contextmanager
def server_of(
    options: argparse.Namespace, *more: str, cpus: set[int] | None = None
) -> Iterator[Server]:
    port = free_port()
    command = this_server(options.model, port, *more)
    with running("fbg", command, port, "/v1/embeddings", cpus) as server:
        load(server, "short", 8, 1.0)
        yield server


def probe(server: Server, seconds: float) -> list[float]:
    """Milliseconds that /health took, each time, in increasing order."""
    connection, taken = http.client.HTTPConnection("127.0.0.1", server.port), []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        connection.request("GET", "/health")
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
        taken.append(1000 * (time.perf_counter() - begin))
        time.sleep(0.02)
    return sorted(taken)


def health(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with server_of(options) as server:
        for name, kinds in (
            ("128 clients", [("short", 128)]),
            ("8 bulk clients", [("bulk", 8)]),
            ("128 clients and 4 bulk clients", [("short", 128), ("bulk", 4)]),
        ):
            with ExitStack() as stack:
                for kind, clients in kinds:
                    job = Job(server.port, server.path, bodies(kind), clients, options.seconds + 2)
                    stack.callback(finish, start(job))
                time.sleep(1.0)
                taken = probe(server, options.seconds)
            yield {
                "load": f"health, {name}",
                "p50_ms": round(taken[len(taken) // 2], 1),
                "p99_ms": round(taken[int(0.99 * len(taken))], 1),
                "max_ms": round(taken[-1], 1),
                "probes": len(taken),
            }


def cost(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    model = fbg.load(options.model, dtype=None if is_saved(options.model) else "int8")
    with server_of(options) as server:
        for _ in range(options.rounds):
            before = server.cpu_seconds
            result = load(server, "short", 32, options.seconds, warm_up=0.0)
            spent = (server.cpu_seconds - before) / len(result.latencies)
            in_process = asyncio.run(seconds_of_calls(model, options.seconds))
            yield {
                "load": "32 clients, CPU time of a request",
                "server_us": round(1e6 * spent),
                "in_process_us": round(1e6 * in_process),
                "http_us": round(1e6 * (spent - in_process)),
                "requests_per_s": round(result.rate),
            }


async def seconds_of_calls(model: fbg.Model, seconds: float) -> float:
    """CPU time of a call of AsyncModel.encode by 32 callers in this process."""
    texts = [json.loads(body)["input"] for body in bodies("short")]
    calls, end = 0, time.perf_counter() + seconds

    async def caller(runs: fbg.AsyncModel) -> None:
        nonlocal calls
        while time.perf_counter() < end:
            calls += 1
            await runs.encode([texts[calls % len(texts)]])

    async with fbg.AsyncModel(model) as runs:
        begin = time.process_time()
        await asyncio.gather(*(caller(runs) for _ in range(32)))
        return (time.process_time() - begin) / calls


def overload(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    everywhere = os.sched_getaffinity(0)
    cpus = sorted(everywhere)
    half = max(len(cpus) // 2, 1)
    with server_of(options, "--max-concurrent-requests", "64", cpus=set(cpus[:half])) as server:
        os.sched_setaffinity(0, set(cpus[half:]) or everywhere)  # which the generator inherits
        try:
            for _ in range(options.rounds):
                capacity = load(server, "short", 32, options.seconds).rate
                result = load(server, "short", 256, options.seconds, rate=3 * capacity)
                yield {
                    "load": "overload at 3 times the capacity",
                    "capacity_per_s": round(capacity),
                    "goodput_per_s": round(result.rate),
                    "p99_ms": round(1000 * result.percentile(0.99), 1),
                    "statuses": result.statuses,
                }
        finally:
            os.sched_setaffinity(0, everywhere)


def steady(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    with server_of(options) as server:
        # As many connections as arrivals may need: plans for their batches are part of warming up.
        load(server, "short", 128, options.seconds)
        capacity = load(server, "short", 32, options.seconds).rate
        for minute in range(options.minutes):
            result = load(server, "short", 128, 60.0, rate=options.share * capacity, warm_up=0)
            yield {
                "load": f"minute {minute + 1} at {options.share:.0%} of {capacity:.0f}/s",
                "requests_per_s": round(result.rate),
                "p99_ms": round(1000 * result.percentile(0.99), 1),
                "rss_mib": round(server.rss_mib, 1),
                "statuses": result.statuses,
            }


LIMITS = {"health": health, "cost": cost, "overload": overload, "steady": steady}


def options_of(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = timing.parser(__doc__)
    parser.set_defaults(rounds=5)
    parser.add_argument("given", nargs="*", metavar="[load|limits] MODEL", help="default: MiniLM")
    parser.add_argument("--ort", type=Path, help="int8 export for the onnxruntime server")
    parser.add_argument("--infinity", help="the program infinity_emb")
    parser.add_argument("--clients", default="1,8,32,128")
    parser.add_argument("--kinds", default="short,mixed,bulk", help="empty: none of these")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--share", type=float, default=0.8, help="of the capacity; 0: none")
    parser.add_argument("--minutes", type=int, default=0, help="of the steady load")
    parser.add_argument("--only", choices=LIMITS, help="of the limits")
    options = parser.parse_args(words)
    options.rounds = timing.rounds(options)
    options.question = "limits" if options.given[:1] == ["limits"] else "load"
    given = [word for word in options.given if word not in ("load", "limits")]
    options.model = Path(given[0]) if given else material.minilm()
    if not given and options.question == "load":
        options.ort = options.ort or ort_export(options.model, options.cache)
    return options


def limits(options: argparse.Namespace) -> None:
    report = timing.begin("limits", options)
    for name in [options.only] if options.only else LIMITS:
        for number, row in enumerate(LIMITS[name](options)):
            print(row, flush=True)
            case = {"limit": name, "number": number}
            report.put(case, [case | row])


def main() -> None:
    options = options_of()
    if options.question == "limits":
        limits(options)
        return
    report = timing.begin("server", options)
    kinds, counts = filter(None, options.kinds.split(",")), map(int, options.clients.split(","))
    closed = {
        f"{kind}, {clients} clients": (kind, clients)
        for kind, clients in itertools.product(kinds, counts)
        if kind != "bulk" or clients <= 8
    }
    with ExitStack() as stack:
        servers = contestants(options, stack)
        for what, (kind, clients) in closed.items():
            measure = functools.partial(measured, servers, what, options, kind, clients)
            keep(report, servers, [what], measure)
        if options.share and closed:
            for server in servers:
                measure = functools.partial(open_loop, server, list(closed), options, report)
                keep(report, [server], [OPEN], measure)
        keep(report, servers, BESIDE_BULK, functools.partial(beside_bulk, servers, options))
        first = servers[0]
        keep(report, [first], [IN_PROCESS], functools.partial(in_process, first, options))


if __name__ == "__main__":
    main()
