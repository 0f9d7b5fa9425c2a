"""A span of OpenTelemetry for each request, with the times of its parts (`fbg serve --tracing`).

protocol -> _anonymous -> OpenTelemetryMiddleware -> _described -> the application

Where spans go is told by the environment variables of OpenTelemetry, such as
OTEL_EXPORTER_OTLP_ENDPOINT; the default is a collector on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, get_current_span
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Paths that are asked many times a minute and say nothing about requests.
EXCLUDED = "/health$,/ping$,/metrics$"


class Tracing:
    """The traces of one process."""

    def __init__(self) -> None:
        os.environ.setdefault("OTEL_SERVICE_NAME", "fbg")
        self._provider = TracerProvider()
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))

    def wrap(self, app: ASGIApp, paths: Collection[str]) -> ASGIApp:
        """Return an application that makes a span for each request of `app`.

        paths: those after which spans are named; others come from scanners.
        """

        def name(scope: Scope) -> tuple[str, dict[str, str]]:
            method, path = scope["method"], scope["path"]
            return f"{method} {path}" if path in paths else method, {}

        traced = OpenTelemetryMiddleware(
            _described(app),
            excluded_urls=EXCLUDED,
            default_span_details=name,
            tracer_provider=self._provider,
            meter_provider=NoOpMeterProvider(),
            exclude_spans=["receive", "send"],
        )
        return _anonymous(traced)

    def close(self) -> None:
        """Send the spans that wait."""
        self._provider.shutdown()


def _anonymous(app: ASGIApp) -> ASGIApp:
    """Leave out the query string, which no route reads and which may hold texts or keys.

    The scope stays the same object: the connection finds in it what the guard has put there.
    """

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["query_string"] = b""
        await app(scope, receive, send)

    return call


def _described(app: ASGIApp) -> ASGIApp:
    """Add to the span of a request the notes of the application about it in the scope.

    It does so when the answer begins, because the span ends with the last part of the answer.
    """

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        span = get_current_span()

        async def describe_and_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                _describe(span, scope)
            await send(message)

        await app(scope, receive, describe_and_send if span.is_recording() else send)

    return call


def _describe(span: Span, scope: Scope) -> None:
    if "request_id" in scope:
        span.set_attribute("fbg.request_id", scope["request_id"])
    record = scope.get("record")
    if record is not None and record.tokens:
        span.set_attribute("fbg.tokens", record.tokens)
        span.set_attribute("fbg.tokenization_seconds", record.tokenization)
        span.set_attribute("fbg.queue_seconds", record.queue)
        span.set_attribute("fbg.inference_seconds", record.inference)
