"""The directory of files and batches, which all workers share.

file-….json     a file, as OpenAI describes it; the last to be written, the first to be removed
file-….jsonl    its lines
batch_….json    a batch, as OpenAI describes it; keys that begin with "_" are for `runner.py`
file-….part     a file that arrives
batch_….cancel  is there when the batch is to be cancelled
lock            held by the process that computes batches
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from fbg.files import open_regular, read_regular, replace_file
from fbg.server.errors import Fault, RequestError

Record = dict[str, Any]

ID = re.compile(r"(file-|batch_)[0-9a-f]{24}", re.ASCII)
OLD_SECONDS = 3600  # longer than an upload may take
MOST_RECORDS = 10_000  # of files, and of batches


def new_id(prefix: str) -> str:
    """Return a name that nobody guesses; names are in the order of their times."""
    return f"{prefix}{time.time_ns() >> 16:012x}{secrets.token_hex(6)}"


def file_record(name: str, size: int, filename: str, purpose: str) -> Record:
    """Return the description of a file."""
    return {
        **{"id": name, "object": "file", "bytes": size, "created_at": int(time.time())},
        **{"filename": filename, "purpose": purpose, "status": "processed"},
    }


class Store:
    """Files and batches. Ids come from requests: none leads out of the directory."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory)
        self.directory.mkdir(mode=0o700, exist_ok=True)

    def path(self, name: str, suffix: str) -> Path:
        """Return the path of a file in the directory."""
        assert ID.fullmatch(name)
        return self.directory / f"{name}{suffix}"

    def get(self, name: str, prefix: str) -> Record:
        """Return a file or a batch; raises RequestError."""
        if name.startswith(prefix) and ID.fullmatch(name):
            try:
                found = msgspec.json.decode(read_regular(self.path(name, ".json")), type=Record)
            except (FileNotFoundError, msgspec.DecodeError):  # or it is damaged
                pass
            else:
                if found.get("status") in CANCELLABLE and self.path(name, ".cancel").exists():
                    found["status"] = "cancelling"
                return found
        what = "file" if prefix == "file-" else "batch"
        raise RequestError(Fault.UNKNOWN_PATH, f"there is no {what} {name!r:.80} here", "id")

    def put(self, record: Record) -> None:
        """Write a file's description or a batch; it is on disk when this returns."""
        with replace_file(self.path(record["id"], ".json")) as file:
            file.write(msgspec.json.encode(record))

    def names(self, prefix: str) -> list[str]:
        """Return the ids of all files or batches, the oldest first."""
        found = (each.name.removesuffix(".json") for each in os.scandir(self.directory))
        return sorted(name for name in found if name.startswith(prefix) and ID.fullmatch(name))

    def make_room(self, prefix: str) -> None:
        """Raise RequestError if there are as many files as there may be; as no request deletes
        batches, the oldest one that has ended is removed for a new one.
        """
        names = self.names(prefix)
        if len(names) < MOST_RECORDS:
            return
        for name in names if prefix == "batch_" else ():
            with contextlib.suppress(RequestError):
                if self.get(name, prefix)["status"] in FINAL:
                    return self.delete(name)
        raise RequestError(Fault.OVERLOADED, f"there are {MOST_RECORDS} already; delete some")

    def page(self, prefix: str, query: Any, most: int, fits: Callable[[Record], bool]) -> Record:
        """Return a part of the list of files or batches, as `limit`, `after` and `order` say."""
        limit, names = query.get("limit", str(min(most, 20))), self.names(prefix)
        order, after = query.get("order", "desc"), query.get("after")
        if not re.fullmatch("[0-9]{1,5}", limit) or not 1 <= int(limit) <= most:
            raise RequestError(Fault.VALIDATION, f"`limit` must be in [1, {most}]", "limit")
        if order not in ("asc", "desc"):
            raise RequestError(Fault.VALIDATION, "`order` must be asc or desc", "order")
        if order == "desc":
            names.reverse()
        if after is not None:
            names = [n for n in names if (n < after if order == "desc" else n > after)]
        data: list[Record] = []
        for name in names:
            try:
                record = self.get(name, prefix)
            except RequestError:  # removed since
                continue
            if fits(record):
                data.append(public(record))
            if len(data) > int(limit):
                break
        more, data = len(data) > int(limit), data[: int(limit)]
        ids = [record["id"] for record in data] or [None]
        return {"object": "list", "data": data, "first_id": ids[0], "last_id": ids[-1]} | {
            "has_more": more
        }

    def lines(self, name: str) -> BufferedReader:
        """Open the lines of a file; raises RequestError."""
        try:
            return open_regular(self.path(name, ".jsonl"))
        except FileNotFoundError:
            raise RequestError(Fault.UNKNOWN_PATH, "the file has been deleted", "id") from None

    def clean(self) -> None:
        """Remove what was being written long ago, when a process was killed."""
        for each in os.scandir(self.directory):
            if each.name.endswith((".tmp", ".part")):
                with contextlib.suppress(FileNotFoundError):
                    if each.stat().st_mtime < time.time() - OLD_SECONDS:
                        os.unlink(each)

    def keep(self, arrived: Path, record: Record) -> None:
        """Make a file of what has arrived, or leave nothing of it."""
        try:
            arrived.rename(self.path(record["id"], ".jsonl"))
            self.put(record)
        except BaseException:
            self.delete(record["id"])
            raise

    def delete(self, name: str) -> None:
        """Remove a file, or a batch."""
        for suffix in (".json", ".jsonl", ".cancel"):
            self.path(name, suffix).unlink(missing_ok=True)


FINAL = ("completed", "failed", "cancelled", "expired")
CANCELLABLE = ("validating", "in_progress")


def public(record: Record) -> Record:
    """Return a record as clients see it."""
    return {key: value for key, value in record.items() if not key.startswith("_")}
