"""Prometheus metrics, under the names that text-embeddings-inference gives them."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter as Counted
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
    multiprocess,
)

from fbg.model.async_model import Record

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1, 2, 5, 10)
TOKENS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384)

# The library ends the names of counters in _total; counters of TEI do not.
TOTAL = re.compile(rb"^((?:# (?:HELP|TYPE) )?te_\w+)_total\b", re.MULTILINE)

# Observations are added together, because most of the cost does not depend on their number.
FLUSH_SECONDS = 0.05

disable_created_metrics()  # type: ignore[no-untyped-call]


class _Histogram(Histogram):
    """A histogram without labels that takes many observations at once."""

    def observe_all(self, values: Sequence[float]) -> None:
        """As `observe` for each value."""
        counts = np.bincount(np.searchsorted(self._upper_bounds, values))
        for n in np.flatnonzero(counts).tolist():
            self._buckets[n].inc(int(counts[n]))
        self._sum.inc(sum(values))


class Metrics:
    """Counts and times of one process; with several workers, the sums of all of them.

    waiting: returns the number of texts in the queue. models: names of what is served.
    """

    def __init__(self, waiting: Callable[[], int], models: Iterable[str] = ()) -> None:
        self._registry = registry = CollectorRegistry()
        self._waiting = waiting
        self.requests = Counter("te_request_count", "Requests", ("method",), registry=registry)
        self.succeeded = Counter(
            "te_request_success", "Requests that succeeded", ("method",), registry=registry
        )
        self.failed = Counter(
            "te_request_failure", "Requests that failed", ("err",), registry=registry
        )
        self._queue_size = Gauge(
            "te_queue_size", "Texts that wait", multiprocess_mode="livesum", registry=registry
        )
        self._loaded = Gauge(
            "fbg_model_loaded",
            "Processes that have a model in memory",
            ("model",),
            multiprocess_mode="livesum",
            registry=registry,
        )
        for name in models:
            self._loaded.labels(name)

        def seconds(name: str, what: str) -> _Histogram:
            return _Histogram(f"te_request_{name}", what, buckets=SECONDS, registry=registry)

        self._duration = seconds("duration", "Seconds of a request")
        self._tokenization = seconds("tokenization_duration", "Seconds of tokenizing")
        self._queue = seconds("queue_duration", "Seconds in the queue")
        self._inference = seconds("inference_duration", "Seconds of inference")
        self._length = _Histogram(
            "te_request_input_length", "Tokens of a request", buckets=TOKENS, registry=registry
        )
        self._successes: list[tuple[str, float, Record]] = []
        self._batch_size = Histogram(
            "te_batch_next_size", "Texts of a batch", buckets=TOKENS, registry=registry
        )
        self._batch_tokens = Histogram(
            "te_batch_next_tokens", "Tokens of a batch", buckets=TOKENS, registry=registry
        )

    def changed(self, name: str, loaded: bool) -> None:
        """Count a model that was loaded, or unloaded."""
        self._loaded.labels(name).inc(1 if loaded else -1)

    def batch(self, tokens: int, sequences: int) -> None:
        """Count a batch of the queue."""
        self._batch_size.observe(sequences)
        self._batch_tokens.observe(tokens)

    def success(self, method: str, seconds: float, record: Record) -> None:
        """Count a request that was answered as it was meant to be. Called in an event loop."""
        if not self._successes:
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush)
        self._successes.append((method, seconds, record))

    def _flush(self) -> None:
        """Count the successes that wait."""
        successes, self._successes = self._successes, []
        if not successes:
            return
        for method, number in Counted(method for method, _, _ in successes).items():
            self.succeeded.labels(method).inc(number)
        self._duration.observe_all([seconds for _, seconds, _ in successes])
        records = [record for _, _, record in successes if record.tokens]
        self._tokenization.observe_all([record.tokenization for record in records])
        self._queue.observe_all([record.queue for record in records])
        self._inference.observe_all([record.inference for record in records])
        self._length.observe_all([record.tokens for record in records])

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        self._flush()
        self._queue_size.set(self._waiting())
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return TOTAL.sub(rb"\1", generate_latest(registry))
