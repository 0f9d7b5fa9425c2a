"""Load for HTTP servers: closed-loop clients or open-loop arrivals, latencies of every request.

Each client is an asyncio protocol that writes prepared bytes and looks for the end of the answer,
so that little of what is measured is the load itself. Requests are answered with Content-Length.

    python bench/peers/http_load.py < job.json > result.json

runs as a process of its own, which a server that is measured does not share.
"""

import asyncio
import json
import random
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Job:
    """Requests to a server.

    bodies: JSON, taken in turn. clients: connections. rate: None: closed loop, every client sends
    its next request when it has its answer; else arrivals a second, at exponential intervals, each
    on a free connection. seconds: how long. warm_up: seconds before, which do not count.
    """

    port: int
    path: str
    bodies: list[str]
    clients: int
    seconds: float
    warm_up: float = 0.5
    rate: float | None = None
    seed: int = 1


@dataclass
class Result:
    """latencies: seconds of the requests that were answered 200. statuses: how often each."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        ordered = sorted(self.latencies)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


class Connection(asyncio.Protocol):
    """One keep-alive connection. answered: called with the status of each answer."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[int] | None = None
        self._transport: Any = None
        self._received = bytearray()
        self._end = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def request(self, data: bytes) -> asyncio.Future[int]:
        self.answer = asyncio.get_running_loop().create_future()
        self._transport.write(data)
        return self.answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._end < 0:
            head = self._received.find(b"\r\n\r\n")
            if head < 0:
                return
            headers = bytes(self._received[:head]).lower()
            at = headers.index(b"content-length:") + 15
            length = int(headers[at:].split(b"\r\n", 1)[0])
            self._end = head + 4 + length
        if len(self._received) >= self._end and self.answer is not None:
            status = int(self._received[9:12])
            self._received.clear()
            self._end = -1
            self.answer.set_result(status)

    def connection_lost(self, error: Exception | None) -> None:
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(0)

    def close(self) -> None:
        self._transport.close()


def prepared(job: Job) -> list[bytes]:
    requests = []
    for body in job.bodies:
        data = body.encode()
        head = (
            f"POST {job.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        requests.append(head.encode() + data)
    return requests


async def run(job: Job) -> Result:
    """Run a job; return what was answered in its time."""
    loop, result = asyncio.get_running_loop(), Result()
    connections = [
        (await loop.create_connection(Connection, "127.0.0.1", job.port))[1]
        for _ in range(job.clients)
    ]
    begin = time.perf_counter() + job.warm_up
    end = begin + job.seconds
    requests, turn = prepared(job), 0

    def next_request() -> bytes:
        nonlocal turn
        turn += 1
        return requests[turn % len(requests)]

    async def ask(connection: Connection, since: float) -> None:
        status = await connection.request(next_request())
        now = time.perf_counter()
        if begin <= now <= end:
            result.statuses[str(status)] = result.statuses.get(str(status), 0) + 1
            if status == 200:
                result.latencies.append(now - since)

    async def client(connection: Connection) -> None:
        while (now := time.perf_counter()) < end:
            await ask(connection, now)

    if job.rate is None:
        await asyncio.gather(*(client(connection) for connection in connections))
    else:
        await _open_loop(job, connections, ask, end)
    for connection in connections:
        connection.close()
    result.seconds = job.seconds
    return result


async def _open_loop(job: Job, connections: list[Connection], ask: Any, end: float) -> None:
    """Send at the arrivals, whether or not earlier requests are answered; latency counts from the
    arrival, so that what waits for a free connection counts too."""
    assert job.rate is not None
    rng, free, tasks = random.Random(job.seed), deque(connections), set[asyncio.Task[None]]()
    waiting: deque[float] = deque()

    async def serve(connection: Connection, arrival: float) -> None:
        await ask(connection, arrival)
        while waiting:
            await ask(connection, waiting.popleft())
        free.append(connection)

    arrival = time.perf_counter()
    while arrival < end:
        await asyncio.sleep(max(0.0, arrival - time.perf_counter()))
        if free:
            task = asyncio.get_running_loop().create_task(serve(free.popleft(), arrival))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        else:
            waiting.append(arrival)
        arrival += rng.expovariate(job.rate)
    waiting.clear()
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    json.dump(asdict(asyncio.run(run(Job(**json.load(sys.stdin))))), sys.stdout)
