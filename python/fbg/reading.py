"""Records the files of a load: the state of each, and the content of small ones.

`open_regular` (files.py) tells the `ReadFiles` that is active in its thread of each file. No code
that reads a file has to record it, and the files that are compared, copied or saved later are those
read, whatever has become of the directory since.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FileState:
    """The state of a file: its size, and the times of change of it and its inode."""

    size: int
    modified: int  # nanoseconds
    changed: int

    @staticmethod
    def of(found: os.stat_result) -> FileState:
        return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@dataclass
class ReadFiles:
    """states: of each file when first opened, by its path as given. contents: of those that
    were read as a whole (files.read_regular); they are read once. parsed: headers that were read
    once.
    """

    states: dict[str, FileState] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    parsed: dict[str, Any] = field(default_factory=dict)

    def note(self, path: str, found: os.stat_result) -> None:
        """Note a file that is open; raises OSError if it is not the one that was open before."""
        state = FileState.of(found)
        if self.states.setdefault(path, state) != state:
            raise OSError(errno.ESTALE, "changed while it was read", path)


def changed_file(states: Mapping[str, FileState]) -> str | None:
    """Return a file that has changed since it was read, None if there is none."""
    for path, state in states.items():
        try:
            if FileState.of(os.stat(path)) != state:
                return path
        except OSError:
            return path
    return None


_active: ContextVar[ReadFiles | None] = ContextVar("_active", default=None)


def active_reads() -> ReadFiles | None:
    """Return where files that are opened now are noted, if anywhere."""
    return _active.get()


@contextmanager
def recorded_reads() -> Iterator[ReadFiles]:
    """Note every file that is opened in the block, in this thread."""
    reads = ReadFiles()
    token = _active.set(reads)
    try:
        yield reads
    finally:
        _active.reset(token)


@contextmanager
def not_recorded() -> Iterator[None]:
    """Open files in the block that no result depends on."""
    token = _active.set(None)
    try:
        yield
    finally:
        _active.reset(token)
