"""What the directory of batches holds, and the forms whose files go into it."""

import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from fbg.server.batches import store as stores
from fbg.server.batches.multipart import FormReader
from fbg.server.batches.store import FINAL, Store, file_record, new_id
from fbg.server.errors import RequestError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "b"))


def put(store: Store, prefix: str, status: str = "processed") -> str:
    name = new_id(prefix)
    store.put({"id": name, "status": status})
    return name


def test_what_follows_a_form_takes_no_memory() -> None:
    file = io.BytesIO()
    form = FormReader("multipart/form-data; boundary=b", file, 100)
    form.feed(b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nlines\r\n--b--\r\n')
    assert form.complete and file.getvalue() == b"lines"
    data = b"x" * (1 << 20)
    tracemalloc.start()
    try:
        for _ in range(20):
            form.feed(data)
        assert tracemalloc.get_traced_memory()[1] < len(data)
    finally:
        tracemalloc.stop()


def test_a_file_appears_as_a_whole_or_leaves_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = new_id("file-")
    arrived = store.path(name, ".part")
    record = file_record(name, 5, "a.jsonl", "batch")
    arrived.write_bytes(b"lines")

    def full(record: Any) -> None:
        raise OSError("no space left on device")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="no space"):
        patched.setattr(store, "put", full)
        store.keep(arrived, record)
    assert list(store.directory.iterdir()) == []
    arrived.write_bytes(b"lines")
    store.keep(arrived, record)
    assert store.get(name, "file-") == record
    with store.lines(name) as lines:
        assert lines.read() == b"lines"


def test_the_oldest_batch_that_has_ended_makes_room(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "MOST_RECORDS", 1 + len(FINAL))
    first = put(store, "batch_", "validating")
    done = [put(store, "batch_", status) for status in FINAL]
    waiting = [first]
    while done:
        assert store.names("batch_") == [first, *done, *waiting[1:]]
        store.make_room("batch_")
        waiting.append(put(store, "batch_", "in_progress"))
        del done[0]
    with pytest.raises(RequestError, match="there are 5 already"):
        store.make_room("batch_")
    assert store.names("batch_") == waiting


def test_files_are_removed_by_requests_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_RECORDS", 1)
    name = put(store, "file-")
    with pytest.raises(RequestError, match="there are 1 already; delete some"):
        store.make_room("file-")
    store.delete(name)
    store.make_room("file-")
