"""Servers under load: `fbg serve` against infinity-emb and against Starlette with onnxruntime.

    python bench/serve.py [MODEL_DIRECTORY] [--ort int8.onnx] [--infinity PROGRAM] [--json out.json]

Closed loop: 1, 8, 32 and 128 clients, of one short sentence, of mixed lengths, of batches of 32.
Open loop: a share of the highest closed-loop rate. Bulk and interactive: one short sentence at a
time, alone and while two clients send batches without a pause, in turn; the ratio of the p99 is
printed for each round. In process: batches of 32 as 8 clients send them, and by Model.encode of
this process, in turn. Contestants take turns in each round; figures are medians of the rounds.
Latencies are of all requests. CPU is that of the server process.

--ort: an int8 export, as bench/exports.py makes it; that of MiniLM is made if it is not given.
--infinity: the program infinity_emb of an environment that has infinity-emb. Every
server answers base64. All are started before any is measured, and those that are not measured are
idle.
"""

from __future__ import annotations

import argparse
import functools
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

import bert_peers
import checkpoints
import corpus
import sentence_peers
import timing
from http_load import Job, Result

import fbg

HERE = Path(__file__).parent
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
        script = str(HERE / "ort_server.py")
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
        inputs: list[Any] = corpus.mixed_texts(128)
    elif kind == "short":
        inputs = [line for line in corpus.installed_sentences(1000) if len(line) <= 60][:128]
    else:
        lines = corpus.installed_sentences(256)
        inputs = [lines[n : n + 32] for n in range(0, 256, 32)]
    form = {"model": "m", "encoding_format": "base64"}
    return [json.dumps({**form, "input": text}) for text in inputs]


def load(server: Server, kind: str, clients: int, seconds: float, **more: Any) -> Result:
    job = Job(server.port, server.path, bodies(kind), clients, seconds, **more)
    process = start(job)
    return finish(process)


def start(job: Job) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(HERE / "http_load.py")]
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


def ort_export(model: Path) -> Path | None:
    """An int8 export for the onnxruntime server, where what makes one is installed."""
    texts = corpus.installed_sentences(1)
    exports, _ = sentence_peers.real_exports(model, checkpoints.default_cache(), texts)
    return exports.int8_onnx() if bert_peers.available("ort-int8", exports) else None


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.set_defaults(rounds=5)
    parser.add_argument("model", type=Path, nargs="?", help="saved by fbg or not; default: MiniLM")
    parser.add_argument("--ort", type=Path, help="int8 export for the onnxruntime server")
    parser.add_argument("--infinity", help="the program infinity_emb")
    parser.add_argument("--clients", default="1,8,32,128")
    parser.add_argument("--kinds", default="short,mixed,bulk", help="empty: none of these")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--share", type=float, default=0.8, help="of the capacity; 0: none")
    options = parser.parse_args()
    options.rounds = timing.rounds(options)
    if options.model is None:
        options.model = checkpoints.of_tests("minilm").minilm_directory()
        options.ort = options.ort or ort_export(options.model)
    report = timing.Report("serve", options)
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
