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
    overload   arrivals at 3 times the capacity, with at most 64 requests at a time: the rest should
               be answered 429, and as many as before should be answered 200. The server and the
               load generator each have half of the CPUs: on shared ones, the larger load would
               take time from the server, which is not the server's doing
    steady     arrivals at a share of the capacity for some minutes: p99 and memory of each minute
"""

import argparse
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
from collections import Counter
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
WARM_UP = 0.3  # seconds


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
    """All that can run, each of which starts before any is measured."""
    model, ports = options.model, [free_port() for _ in range(3)]
    script = [sys.executable, str(PEERS / "ort_server.py"), str(options.ort)]
    infinity = [str(options.infinity), "v2", "--model-id", str(model), "--port", str(ports[2])]
    infinity += ["--host", "127.0.0.1", "--served-model-name", "m", "--engine", "torch"]
    commands = {"fbg": this_server(model, ports[0])}
    if options.ort:
        commands["onnxruntime"] = [*script, str(model / "tokenizer.json"), str(ports[1])]
    if options.infinity:
        commands["infinity"] = [*infinity, "--device", "cpu", "--no-bettertransformer"]
    places = {"fbg": (ports[0], "/v1/embeddings"), "onnxruntime": (ports[1], "/v1/embeddings")}
    places["infinity"] = (ports[2], "/embeddings")
    return [
        stack.enter_context(running(name, command, *places[name]))
        for name, command in commands.items()
    ]


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


def sampled(
    server: Server, options: argparse.Namespace, kind: str, clients: int, **more: Any
) -> tuple[Result, float]:
    """A load, and the CPU time of the server for each request."""
    before = server.cpu_seconds
    result = load(server, kind, clients, options.seconds, warm_up=WARM_UP, **more)
    share = options.seconds / (options.seconds + WARM_UP)
    return result, (server.cpu_seconds - before) * share / max(len(result.latencies), 1)


def row(server: Server, what: str, samples: list[tuple[Result, float]]) -> dict[str, Any]:
    """Medians of the rounds, printed."""
    statuses: Counter[str] = Counter()
    for result, _ in samples:
        statuses.update(result.statuses)

    def median(value: Callable[[Result, float], float], digits: int) -> float:
        return round(statistics.median(value(*sample) for sample in samples), digits)

    entry = {
        "server": server.name,
        "load": what,
        "requests_per_s": median(lambda result, _: result.rate, 1),
        "p50_ms": median(lambda result, _: 1000 * result.percentile(0.5), 2),
        "p99_ms": median(lambda result, _: 1000 * result.percentile(0.99), 2),
        "cpu_ms_per_request": median(lambda _, cpu: 1000 * cpu, 3),
        "rss_mib": round(server.rss_mib),
        "statuses": str(dict(statuses)),
    }
    print(" ".join(f"{key} {value}" for key, value in entry.items()), flush=True)
    return entry


def measured(
    servers: list[Server], what: str, options: argparse.Namespace, *job: Any, **more: Any
) -> list[dict[str, Any]]:
    """job: the kind of requests and the number of clients. Servers take turns in each round."""
    rounds = [[sampled(s, options, *job, **more) for s in servers] for _ in range(options.rounds)]
    own = zip(*rounds, strict=True)
    return [row(server, what, list(found)) for server, found in zip(servers, own, strict=True)]


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
        found: tuple[list[Any], list[Any]] = ([], [])
        seconds = options.seconds + 2 * WARM_UP
        job = Job(server.port, server.path, bodies("bulk"), 2, seconds, 0.0)
        for _ in range(options.rounds):
            found[0].append(sampled(server, options, "short", 1))
            bulk = start(job)
            found[1].append(sampled(server, options, "short", 1))
            finish(bulk)
        p99 = [[result.percentile(0.99) for result, _ in own] for own in found]
        ratios = [round(b / a, 2) for a, b in zip(*p99, strict=True)]
        rows += [row(server, name, own) for name, own in zip(BESIDE_BULK, found, strict=True)]
        rows[-1]["p99_ratios"] = str(ratios)
        print(f"{server.name}: p99 beside bulk / alone: {ratios}", flush=True)
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
    rates = [round(statistics.median(rates), 1) for rates in (served, here)]
    entry = {"server": server.name, "load": IN_PROCESS, "requests_per_s": rates[0]}
    entry |= {"in_process_per_s": rates[1], "ratios": str(ratios)}
    print(entry, flush=True)
    return [entry]


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


LIMITS = {"health": health, "overload": overload, "steady": steady}


def options_of() -> argparse.Namespace:
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
    options = parser.parse_args()
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
