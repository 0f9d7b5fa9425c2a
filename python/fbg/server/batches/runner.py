"""Computes batches in the background, one after the other, in one process of the server.

    validating -> in_progress -> finalizing -> completed, cancelled or expired; or failed

Results are appended to the files of a batch, and the batch says how far they are on disk: after a
restart it goes on from there, as an interrupted `fbg encode` does (text/embedding_files.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import secrets
import time
from collections.abc import Sequence
from io import BufferedRandom
from typing import Any, BinaryIO, Literal, NamedTuple

import msgspec

from fbg.files import open_in_place
from fbg.server.batches.store import FINAL, Record, Store, file_record, new_id
from fbg.server.endpoint import Endpoint
from fbg.server.errors import Dialect, Fault, RequestError, error_body
from fbg.server.messages import Part
from fbg.server.replies import encode_json
from fbg.server.state import Call, State

log = logging.getLogger("fbg.server")

MOST_LINES = MOST_INPUTS = 50_000  # of a batch, as OpenAI has it
MOST_ERRORS = 100  # of validation, that a batch lists
# Lines that are computed together: so many, or with so many bytes.
GROUP_LINES, GROUP_BYTES = 32, 1 << 14
RECORD_SECONDS = 1.0  # between two records of how far a batch is
LOOK_SECONDS = 1.0  # between two looks for batches that other workers took
WAIT_SECONDS = 0.5  # for which a group lets requests go first
RETRY_SECONDS, TRIES = 0.2, 150  # of a line, while the server has too much to do
EXPIRED = {
    "code": "batch_expired",
    "message": "This request could not be executed before the completion window expired.",
}


class Line(Part):
    """A request in a file."""

    custom_id: str
    method: Literal["POST"]
    url: str
    body: msgspec.Raw


class Inputs(msgspec.Struct):
    """What a body is to embed."""

    input: Any = None


class Output(NamedTuple):
    """The files of a batch in the making: results, and lines that failed."""

    results: BufferedRandom
    errors: BufferedRandom

    def write(self, answers: Sequence[tuple[bool, bytes]]) -> None:
        """Take the lines of results, and whether each succeeded."""
        for done, line in answers:
            (self.results if done else self.errors).write(line)

    def keep(self, batch: Record) -> None:
        """Write what there is to the disk, and say in the batch how much it is."""
        for key, file in zip(("_results", "_errors"), self, strict=True):
            file.flush()
            os.fsync(file.fileno())
            batch[key] = file.tell()


class BatchRunner:
    """Runs in the event loop of a process until it is cancelled."""

    def __init__(self, state: State, store: Store, endpoint: Endpoint) -> None:
        self._state = state
        self._store = store
        self._endpoint = endpoint
        self._longest = state.settings.max_body
        self._ended: set[str] = set()

    async def run(self) -> None:
        """Compute batches, if no other process does."""
        with open_in_place(self._store.directory / "lock") as lock:
            while True:
                self._state.new_batch.clear()
                try:
                    with contextlib.suppress(BlockingIOError):
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        await asyncio.to_thread(self._store.clean)
                        await self._run_all()
                except Exception:
                    log.exception("batches are interrupted")
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._state.new_batch.wait(), LOOK_SECONDS)

    async def _run_all(self) -> None:
        names = await asyncio.to_thread(self._store.names, "batch_")
        for name in names if self._state.ready else ():
            if name in self._ended:
                continue
            try:
                batch = await asyncio.to_thread(self._store.get, name, "batch_")
                if batch["status"] not in FINAL:
                    await self._run(batch)
                self._ended.add(name)
            except Exception:  # a full disk, for example: it may have room later
                log.exception("%s is interrupted", name)

    async def _run(self, batch: Record) -> None:
        if batch["status"] == "finalizing":
            return await asyncio.to_thread(self._finish, batch)
        try:
            lines = self._store.lines(batch["input_file_id"])
        except RequestError:
            for name in batch.get("_files", ()):  # which no request names
                await asyncio.to_thread(self._store.delete, name)
            batch["errors"] = _errors([_error("file_not_found", "the file is not there")])
            return await self._enter(batch, "failed")
        with lines:
            if "_at" not in batch:
                found, total = await asyncio.to_thread(self._validate, lines, batch["endpoint"])
                if found:
                    batch["errors"] = _errors(found)
                    return await self._enter(batch, "failed")
                batch["request_counts"]["total"] = total
                batch |= {"_at": 0, "_results": 0, "_errors": 0, "_late": False}
                batch |= {"_files": [new_id("file-"), new_id("file-")]}
                if not self._is_cancelled(batch):
                    await self._enter(batch, "in_progress")
            await self._compute(batch, lines)
        await asyncio.to_thread(self._finish, batch)

    async def _enter(self, batch: Record, status: str) -> None:
        batch |= {"status": status, f"{status}_at": int(time.time())}
        await asyncio.to_thread(self._store.put, batch)

    def _is_cancelled(self, batch: Record) -> bool:
        return self._store.path(batch["id"], ".cancel").exists()

    # --- Validating -------------------------------------------------------------------------------

    def _validate(self, lines: BinaryIO, url: str) -> tuple[list[Record], int]:
        """Return what is wrong with the lines of a file, and how many there are."""
        errors: list[Record] = []
        seen: set[str] = set()
        number = total = inputs = 0
        many = False
        while len(errors) < MOST_ERRORS and not many:
            line = lines.readline(self._longest + 1)
            if not line:
                break
            number += 1
            if line.strip():
                total += 1
                wrong = self._wrong(line, url, seen)
                if isinstance(wrong, int):
                    inputs += wrong
                else:
                    errors.append(wrong | {"line": number})
                if len(line) > self._longest:
                    break
            # As many more may be blank.
            many = max(total, number // 2) > MOST_LINES or inputs > MOST_INPUTS
        if many:
            message = f"a file has at most {MOST_LINES} lines, and {MOST_INPUTS} inputs in them"
            errors.append(_error("too_many_requests", message))
        elif total == 0:
            errors.append(_error("empty_file", "the file has no lines"))
        return errors, total

    def _wrong(self, line: bytes, url: str, seen: set[str]) -> Record | int:
        """Return what is wrong with a line, or the number of its inputs; the rest of its body is
        checked when it is computed."""
        if len(line) > self._longest:
            return _error("line_too_long", f"a line has at most {self._longest} bytes")
        try:
            item = msgspec.json.decode(line, type=Line)
            given = msgspec.json.decode(item.body, type=Inputs).input
        except msgspec.ValidationError as error:
            return _error("invalid_request", str(error)[:200])
        except (ValueError, RecursionError):
            return _error("invalid_json_line", "this line is not valid JSON")
        if item.url != url:
            return _error("mismatched_endpoint", f"`url` must be {url}", "url")
        if item.custom_id in seen or not 0 < len(item.custom_id) <= 512:
            message = "`custom_id` must have 1 to 512 characters, and differ in each line"
            return _error("duplicate_custom_id", message, "custom_id")
        seen.add(item.custom_id)
        several = isinstance(given, list) and bool(given) and not isinstance(given[0], int)
        return len(given) if several else 1

    # --- Computing --------------------------------------------------------------------------------

    async def _compute(self, batch: Record, lines: BinaryIO) -> None:
        """Compute the lines that have no result yet."""
        paths = [self._store.path(name, ".jsonl") for name in batch["_files"]]
        with open_in_place(paths[0]) as results, open_in_place(paths[1]) as errors:
            output = Output(results, errors)
            for key, file in zip(("_results", "_errors"), output, strict=True):
                file.truncate(batch[key])  # what follows is computed again
                file.seek(batch[key])
            lines.seek(batch["_at"])
            counts, recorded = batch["request_counts"], time.monotonic()
            while group := await asyncio.to_thread(_group, lines, self._longest):
                if self._is_cancelled(batch):
                    batch |= {"status": "cancelling", "cancelling_at": int(time.time())}
                    break
                late = batch["_late"] = time.time() > batch["expires_at"]
                if not late:
                    await self._let_requests_go_first()
                answers = await self._answers(group, late)
                await asyncio.to_thread(output.write, answers)
                for done, _ in answers:
                    counts["completed" if done else "failed"] += 1
                if time.monotonic() - recorded > RECORD_SECONDS:
                    await asyncio.to_thread(self._record, batch, output, lines.tell())
                    recorded = time.monotonic()
            await asyncio.to_thread(self._record, batch, output, lines.tell())
        await self._enter(batch, "finalizing")

    def _record(self, batch: Record, output: Output, at: int) -> None:
        output.keep(batch)
        batch["_at"] = at
        self._store.put(batch)

    async def _let_requests_go_first(self) -> None:
        """Wait while the server has requests to answer, but not for ever."""
        end = time.monotonic() + WAIT_SECONDS
        while self._state.requests and time.monotonic() < end:
            await asyncio.sleep(0.01)

    async def _answers(self, group: Sequence[bytes], late: bool) -> list[tuple[bool, bytes]]:
        """Return for each line whether it succeeded, and the line of its result."""
        if late:
            ids = [msgspec.json.decode(line, type=Line).custom_id for line in group]
            return [(False, _line(custom_id, b"null", EXPIRED)) for custom_id in ids]
        return await asyncio.gather(*map(self._answer, group))

    async def _answer(self, line: bytes) -> tuple[bool, bytes]:
        item, state = msgspec.json.decode(line, type=Line), self._state
        state.metrics.requests.labels("batch").inc()
        for left in reversed(range(TRIES)):
            call = Call(state)
            call.record.background = True
            try:
                body = bytes(await self._endpoint.compute(call, bytes(item.body)))
                status = 200
                state.metrics.succeeded.labels("batch").inc()
            except RequestError as error:
                if error.fault is Fault.OVERLOADED and left:
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                if state.former.failure is not None:  # the next process computes it
                    raise
                state.metrics.failed.labels(error.fault.name.lower()).inc()
                status = error.status(Dialect.OPENAI)
                body = encode_json(error_body(Dialect.OPENAI, error))
            finally:
                call.end()
            break
        response = b'{"status_code":%d,"request_id":"%s","body":%s}'
        number = secrets.token_hex(8).encode()
        return status == 200, _line(item.custom_id, response % (status, number, body))

    # --- Finishing --------------------------------------------------------------------------------

    def _finish(self, batch: Record) -> None:
        """Let the files of results appear; done again, it has the same effect."""
        kinds = (("output", "_results"), ("error", "_errors"))
        for (kind, key), name in zip(kinds, batch["_files"], strict=True):
            if batch[key] == 0:
                self._store.delete(name)
                continue
            filename = f"{batch['id']}_{kind}.jsonl"
            self._store.put(file_record(name, batch[key], filename, "batch_output"))
            batch[f"{kind}_file_id"] = name
        ended = "cancelled" if batch["cancelling_at"] else "expired" if batch["_late"] else None
        ended = ended or "completed"
        self._store.put(batch | {"status": ended, f"{ended}_at": int(time.time())})
        self._store.path(batch["id"], ".cancel").unlink(missing_ok=True)


def _group(lines: BinaryIO, longest: int) -> list[bytes]:
    """Return the next lines."""
    group, size = list[bytes](), 0
    while len(group) < GROUP_LINES and size < GROUP_BYTES:
        line = lines.readline(longest + 1)
        if not line:
            break
        if line.strip():
            group.append(line)
            size += len(line)
    return group


def _line(custom_id: str, response: bytes, error: Any = None) -> bytes:
    name = f"batch_req_{secrets.token_hex(12)}"
    head = encode_json({"id": name, "custom_id": custom_id})[:-1]
    return b'%s,"response":%s,"error":%s}\n' % (head, response, encode_json(error))


def _error(code: str, message: str, param: str | None = None) -> Record:
    return {"code": code, "message": message, "param": param, "line": None}


def _errors(data: list[Record]) -> Record:
    return {"object": "list", "data": data}
