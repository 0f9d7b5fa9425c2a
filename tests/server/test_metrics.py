"""Metrics: what is counted together is what would be counted one by one."""

import asyncio

from prometheus_client import CollectorRegistry, Histogram, generate_latest

from fbg.model.async_model import Record
from fbg.server import metrics
from fbg.server.metrics import SECONDS, Metrics

TIMES = [0.0, 0.0005, 0.00051, 0.3, 0.3, 10.0, 11.0, 1e9]


def test_observations_are_counted_as_if_one_came_after_the_other():
    registry = CollectorRegistry()
    wanted = Histogram(
        "te_request_duration", "Seconds of a request", buckets=SECONDS, registry=registry
    )
    found = Metrics(lambda: 0)

    async def count():
        for seconds in TIMES:
            wanted.observe(seconds)
            found.success("embed", seconds, Record())

    asyncio.run(count())
    text = found.text().decode()
    lines = generate_latest(registry).decode().splitlines()
    assert len(lines) > len(SECONDS)
    for line in lines:
        assert line in text
    assert f'te_request_success{{method="embed"}} {len(TIMES)}.0' in text
    assert "te_request_input_length_count 0.0" in text  # no request had tokens


async def test_successes_are_counted_without_a_request_for_the_metrics():
    """With several workers, another process reads the counts of this one."""
    found = Metrics(lambda: 0)

    found.success("embed", 0.1, Record(tokens=3))
    await asyncio.sleep(4 * metrics.FLUSH_SECONDS)
    assert found.succeeded.labels("embed")._value.get() == 1.0
