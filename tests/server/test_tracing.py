"""Spans of requests, received by a collector in this process."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from fbg.server.guard import Guard
from fbg.server.tracing import Tracing
from helpers.connections import Connection, Recorder, post
from helpers.serving import ready_state, running

TRACE = "0af7651916cd43dd8448eb211c80319c"


class Collector(HTTPServer):
    """What OTLP sends over HTTP. spans: those that arrived; bodies: as they came."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies = []

    @property
    def spans(self):
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        assert isinstance(self.server, Collector)
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format, *args):
        pass


@pytest.fixture
def collector():
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def values(span):
    return {
        item.key: getattr(item.value, item.value.WhichOneof("value")) for item in span.attributes
    }


def test_requests_have_spans_without_texts(directories, collector):
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    arguments = (f"text={directories['text']}", "--tracing")
    with running(*arguments, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) as server:
        headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "x-request-id": "id-1"}
        body = {"inputs": "some private words"}
        with httpx.Client(base_url=server.url) as client:
            assert client.post("/embed?key=private", json=body, headers=headers).status_code == 200
            assert client.post("/embed", json={"inputs": ""}).status_code == 400
            assert client.get("/no/such/path").status_code == 404
            assert client.get("/health").status_code == 200
    spans = collector.spans  # all were sent before the server ended
    assert [span.name for span in spans] == ["POST /embed", "POST /embed", "GET"]
    assert spans[0].trace_id.hex() == TRACE and spans[1].trace_id.hex() != TRACE
    described = values(spans[0])
    assert described["fbg.request_id"] == "id-1" and described["fbg.tokens"] >= 5
    parts = [described[f"fbg.{part}_seconds"] for part in ("tokenization", "queue", "inference")]
    seconds = (spans[0].end_time_unix_nano - spans[0].start_time_unix_nano) / 1e9
    assert all(part >= 0 for part in parts) and sum(parts) <= seconds
    assert "fbg.tokens" not in values(spans[1])
    assert not any(b"private" in sent for sent in collector.bodies)


async def test_a_client_that_goes_away_cancels_its_request(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SERVICE_NAME", "test")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
    app, tracing = Recorder(), Tracing()
    with ready_state() as state:
        async with Connection(tracing.wrap(Guard(app, state), ())) as connection:
            await connection.send(post("/embed?key=private"))
        assert app.bodies and app.cancelled == 1
    tracing.close()
    assert [span.name for span in collector.spans] == ["POST"]
    assert not any(b"private" in sent for sent in collector.bodies)
