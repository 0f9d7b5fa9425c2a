"""OpenAI's routes `/v1/files` and `/v1/batches`; batches/runner.py does the work."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any, BinaryIO

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fbg.server.batches.multipart import FormReader
from fbg.server.batches.store import (
    CANCELLABLE,
    MOST_RECORDS,
    Record,
    Store,
    file_record,
    new_id,
    public,
)
from fbg.server.endpoint import JSON, Page, Route, arriving_within
from fbg.server.errors import Dialect, Fault, RequestError
from fbg.server.messages import BatchCreation
from fbg.server.replies import encode_json
from fbg.server.routes.results import Batch, Batches, Deleted, FileCard, FileCards
from fbg.server.state import Call, State

JSONL = "application/jsonl"
CHUNK = 256 << 10
SLOWEST = 1 << 20  # bytes of an upload in a second
WINDOW_SECONDS = 24 * 3600
MOST_BATCHES = 100  # of a list


def _store(state: State) -> Store:
    if state.store is None:
        message = "there are no files and batches here: the server has no --batch-directory"
        raise RequestError(Fault.UNKNOWN_PATH, message)
    return state.store


def _json(body: Any) -> Response:
    return Response(encode_json(body), media_type=JSON)


# --- Files ----------------------------------------------------------------------------------------


async def upload(state: State, request: Request) -> Response:
    """`POST /v1/files`: keep a file of requests."""
    store, settings = _store(state), state.settings
    most, name = settings.max_batch_file, new_id("file-")
    state.metrics.requests.labels("upload").inc()
    begin = time.perf_counter()
    with state.request() as call:
        await asyncio.to_thread(store.make_room, "file-")
        path = store.path(name, ".part")
        try:
            with open(path, "xb") as file:
                with arriving_within(settings.body_seconds + most / SLOWEST):
                    form = await _read_form(request, file, most)
                await asyncio.to_thread(os.fsync, file.fileno())
            record = file_record(name, form.size, form.filename or "", "batch")
            await asyncio.to_thread(store.keep, path, record)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        state.metrics.success("upload", time.perf_counter() - begin, call.record)
    return _json(record)


async def _read_form(request: Request, file: BinaryIO, most: int) -> FormReader:
    """Write the file of a form; raises RequestError for a form of another kind."""
    form = FormReader(request.headers.get("content-type", ""), file, most)
    if int(request.headers.get("content-length", "0")) > most + CHUNK:
        raise RequestError(Fault.TOO_LARGE, f"the file must have at most {most} bytes", "file")
    async for data in request.stream():
        await asyncio.to_thread(form.feed, data)
    for key in form.fields.keys() - {"purpose"}:
        raise RequestError(Fault.VALIDATION, f"unknown key `{key:.80}`; it takes file, purpose")
    if form.fields.get("purpose") != b"batch":
        raise RequestError(Fault.VALIDATION, "`purpose` must be batch", "purpose")
    if not form.complete or not form.size:
        raise RequestError(Fault.EMPTY, "`file` cannot be empty", "file")
    file.flush()
    return form


async def list_files(state: State, request: Request) -> Response:
    """`GET /v1/files`: the newest first; `purpose`, `limit`, `order`, `after`."""
    query = request.query_params
    purpose = query.get("purpose")
    return _json(
        await asyncio.to_thread(
            _store(state).page,
            "file-",
            query,
            MOST_RECORDS,
            lambda record: purpose in (None, record["purpose"]),
        )
    )


async def get_file(state: State, request: Request) -> Response:
    """`GET /v1/files/{id}`: what is known about a file."""
    return _json(_store(state).get(request.path_params["id"], "file-"))


async def delete_file(state: State, request: Request) -> Response:
    """`DELETE /v1/files/{id}`: remove a file."""
    store, name = _store(state), request.path_params["id"]
    store.get(name, "file-")
    await asyncio.to_thread(store.delete, name)
    return _json({"id": name, "object": "file", "deleted": True})


async def file_content(state: State, request: Request) -> Response:
    """`GET /v1/files/{id}/content`: the lines of a file."""
    store, name = _store(state), request.path_params["id"]
    size = store.get(name, "file-")["bytes"]
    return _Content(state, store.lines(name), size)


class _Content(Response):
    """A file, which is read while it is sent."""

    def __init__(self, state: State, file: BinaryIO, size: int) -> None:
        super().__init__(headers={"content-length": str(size)}, media_type=JSONL)
        self._state, self._file, self._rest = state, file, size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._file as file, self._state.request():
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            while True:
                data = await asyncio.to_thread(file.read, min(CHUNK, self._rest))
                self._rest -= len(data)
                more = bool(data) and self._rest > 0
                await send({"type": "http.response.body", "body": data, "more_body": more})
                if not more:
                    return


# --- Batches --------------------------------------------------------------------------------------


async def create(call: Call, message: BatchCreation) -> Record:
    """`POST /v1/batches`: compute the lines of a file."""
    state, now = call.state, int(time.time())
    store = _store(state)
    if len(json.dumps(message.metadata)) > 16 << 10:
        raise RequestError(Fault.VALIDATION, "`metadata` is too long", "metadata")
    store.get(message.input_file_id, "file-")
    await asyncio.to_thread(store.make_room, "batch_")
    batch: Record = {
        **{"id": new_id("batch_"), "object": "batch", "endpoint": message.endpoint},
        **{"errors": None, "input_file_id": message.input_file_id},
        **{"completion_window": message.completion_window, "status": "validating"},
        **{"output_file_id": None, "error_file_id": None, "created_at": now},
        **{"in_progress_at": None, "expires_at": now + WINDOW_SECONDS, "finalizing_at": None},
        **{"completed_at": None, "failed_at": None, "expired_at": None, "cancelling_at": None},
        **{"cancelled_at": None, "metadata": message.metadata},
        "request_counts": {"total": 0, "completed": 0, "failed": 0},
    }
    await asyncio.to_thread(store.put, batch)
    state.new_batch.set()
    return batch


async def list_batches(state: State, request: Request) -> Response:
    """`GET /v1/batches`: the newest first; `limit`, `after`."""
    page = _store(state).page
    query = request.query_params
    return _json(await asyncio.to_thread(page, "batch_", query, MOST_BATCHES, lambda _: True))


async def get_batch(state: State, request: Request) -> Response:
    """`GET /v1/batches/{id}`: how far a batch is."""
    return _json(public(_store(state).get(request.path_params["id"], "batch_")))


async def cancel(state: State, request: Request) -> Response:
    """`POST /v1/batches/{id}/cancel`: what has been computed is kept."""
    store, name = _store(state), request.path_params["id"]
    status = store.get(name, "batch_")["status"]
    if status not in CANCELLABLE:
        message = f"a batch that is {status} cannot be cancelled"
        raise RequestError(Fault.VALIDATION, message, "id")
    store.path(name, ".cancel").touch()
    return _json(public(store.get(name, "batch_")))


ROUTES = [Route("/v1/batches", create, BatchCreation, "batch", Batch, Dialect.OPENAI)]
FORM = "multipart/form-data"
PAGES = [
    Page("/v1/files", upload, FileCard, method="POST", form=("file", "purpose")),
    Page("/v1/files", list_files, FileCards),
    Page("/v1/files/{id}", get_file, FileCard),
    Page("/v1/files/{id}", delete_file, Deleted, method="DELETE"),
    Page("/v1/files/{id}/content", file_content, str, JSONL),
    Page("/v1/batches", list_batches, Batches),
    Page("/v1/batches/{id}", get_batch, Batch),
    Page("/v1/batches/{id}/cancel", cancel, Batch, method="POST"),
]
