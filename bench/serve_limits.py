"""What happens to `fbg serve` at its limits: /health, overload, and hours of steady load.

    python bench/serve_limits.py MODEL_DIRECTORY [--minutes 5] [--json out.json]

Four servers, one after the other, each with the load that the line names:

    health     /health every 20 ms, while clients of single sentences and of bulk requests keep the
               server busy
    cost       32 clients of single sentences: CPU time of the server for each request, less that of
               a call of AsyncModel.encode by 32 callers in this process, which has the same
               tokenization, queue and computation without HTTP; and the mean size of batches,
               of the server and in this process: a text takes less time in a larger batch
    overload   arrivals at 3 times the capacity, with at most 64 requests at a time: the rest should
               be answered 429, and as many as before should be answered 200. The server and the
               load generator each have half of the CPUs: on shared ones, the larger load would
               take time from the server, which is not the server's doing
    steady     arrivals at a share of the capacity for some minutes: p99 and memory of each minute

The capacity is the rate of 32 clients in a closed loop, measured first on each server.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import re
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from http_load import Job
from serve import Server, bodies, finish, free_port, is_saved, load, running, start, this_server

import fbg


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
            before = server.cpu_seconds, main_thread_seconds(server), batches(server)
            result = load(server, "short", 32, options.seconds, warm_up=0.0)
            requests = len(result.latencies)
            spent = (server.cpu_seconds - before[0]) / requests
            texts, number = (b - a for a, b in zip(before[2], batches(server), strict=True))
            in_process, batch = asyncio.run(seconds_of_calls(model, options.seconds))
            yield {
                "load": "32 clients, CPU time of a request",
                "server_us": round(1e6 * spent),
                "in_process_us": round(1e6 * in_process),
                "http_us": round(1e6 * (spent - in_process)),
                "http_thread_us": round(1e6 * (main_thread_seconds(server) - before[1]) / requests),
                "requests_per_s": round(result.rate),
                "texts_of_a_batch": (round(texts / number, 1), round(batch, 1)),
            }


def batches(server: Server) -> tuple[float, float]:
    """Return how many texts batches of the server have had together, and how many batches."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
        text = answer.read().decode()

    def value(of: str) -> float:
        found = re.search(rf"^te_batch_next_size_{of} (\S+)", text, re.MULTILINE)
        assert found is not None
        return float(found[1])

    return value("sum"), value("count")


def main_thread_seconds(server: Server) -> float:
    """CPU time of the thread that speaks HTTP."""
    number = server.process.pid
    return int(Path(f"/proc/{number}/task/{number}/schedstat").read_text().split()[0]) / 1e9


async def seconds_of_calls(model: fbg.Model, seconds: float) -> tuple[float, float]:
    """CPU time of a call of AsyncModel.encode by 32 callers in this process; texts of a batch."""
    texts = [json.loads(body)["input"] for body in bodies("short")]
    calls, end = 0, time.perf_counter() + seconds
    sizes: list[int] = []

    async def caller(runs: fbg.AsyncModel) -> None:
        nonlocal calls
        while time.perf_counter() < end:
            calls += 1
            await runs.encode([texts[calls % len(texts)]])

    async with fbg.AsyncModel(model, on_batch=lambda tokens, texts: sizes.append(texts)) as runs:
        begin = time.process_time()
        await asyncio.gather(*(caller(runs) for _ in range(32)))
        return (time.process_time() - begin) / calls, sum(sizes) / len(sizes)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path, help="a model directory, saved by fbg or not")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=1, help="of the cost and the overload")
    parser.add_argument("--minutes", type=int, default=0, help="of the steady load")
    parser.add_argument("--share", type=float, default=0.8, help="of the capacity, in steady load")
    parser.add_argument("--only", choices=("health", "cost", "overload", "steady"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for part in (health, cost, overload, steady):
        if options.only in (None, part.__name__):
            for row in part(options):
                print(row, flush=True)
                rows.append(row)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
