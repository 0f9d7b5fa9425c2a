"""Opening and replacing files: only regular files are ever read, and only they are replaced.

A program that runs as root and renames a file over /dev/null, or waits for a pipe that nobody
writes to, does harm that no message can make up for. So whatever fbg reads as a file is opened by
`open_regular`, and whatever it writes is written by `replace_file`, completely or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from io import BufferedRandom, BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from fbg.reading import active_reads

KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


DIGITS = 64  # of integers in JSON: more than any setting has, and a float holds them


def parse_json(text: str | bytes) -> Any:
    """Return what the JSON of a file holds; raises ValueError.

    That covers integers of so many digits that converting them to a float would raise an
    OverflowError wherever they are used, and lists that are nested more deeply than Python reads.
    """
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"an integer has {len(text)} digits: {text[:8]}...")
    return int(text)


HTML = (b"<!doctype html", b"<html")


def stand_in(begin: bytes) -> str | None:
    """Return what stands in the place of a file of a model, None if its beginning shows nothing.

    begin: its first bytes. No format of models begins like these.
    """
    if begin.startswith(b"version https://git-lfs.github.com"):
        return "is a pointer of Git LFS, and not the file itself, which git lfs pull fetches"
    if begin[:64].lstrip().lower().startswith(HTML):
        return "is an HTML page, such as the answer to a download that failed"
    return None


class NotRegularError(OSError):
    """A path names a pipe, a socket or a device where a regular file is required."""

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def path_text(path: object, where: str) -> str:
    """Return the text of a path; raises TypeError for anything else."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{where}: path must be a str or PathLike, got {type(path).__name__}")
    return os.fsdecode(path)


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Open a regular file for reading; symbolic links are followed.

    Raises FileNotFoundError, IsADirectoryError, or NotRegularError for a pipe, a socket or a
    device, none of which is opened or waited for.
    """
    _require_regular(path, os.stat(path))  # before opening, which may have effects
    return open(path, "rb", opener=_regular_opener(os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file, which a load reads once; raises as `open_regular`."""
    reads = active_reads()
    known = None if reads is None else reads.contents.get(os.fspath(path))
    if known is not None:
        return known
    with open_regular(path) as file:
        content = file.read()
    if reads is not None:
        reads.contents[os.fspath(path)] = content
    return content


def open_in_place(path: Path) -> BufferedRandom:
    """Open a working file for reading and writing, in place; make it if there is none.

    Raises OSError, among them NotRegularError for anything else, symbolic links included.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(FileNotFoundError):
        _require_regular(path, os.lstat(path))
    return open(path, "r+b", opener=_regular_opener(flags))


def require_replaceable(path: str | os.PathLike[str]) -> Path:
    """Return the file that `replace_file` would write: `path` with its symbolic links resolved.

    Raises OSError: NotRegularError or IsADirectoryError if anything but a regular file is there,
    FileNotFoundError without a directory to write into.
    """
    target = Path(os.path.realpath(path))
    try:
        _require_regular(path, os.stat(path))  # also for no path: /proc/self/fd/1
        _require_regular(path, os.stat(target))
    except FileNotFoundError:
        if not target.parent.is_dir():
            missing = "no such directory"
            raise FileNotFoundError(errno.ENOENT, missing, str(target.parent)) from None
    return target


def require_free_file(path: str | os.PathLike[str], overwrite: bool) -> Path:
    """Return what `require_replaceable` returns; raises FileExistsError if a file would be lost."""
    target = require_replaceable(path)
    if target.exists() and not overwrite:
        raise FileExistsError(
            f"{os.fspath(path)}: already exists; pass overwrite=True to replace it"
        )
    return target


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file for writing that takes the place of `path` when the block ends.

    The file at `path` is either what it was before or all that was written, and the latter is on
    disk by then. An exception leaves everything as it was. A symbolic link stays, and what it
    points to is replaced. Owner and permissions of a file that was there are kept; a new file has
    those of any new file (the umask decides). Raises OSError, as `require_replaceable` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     with replace_file(f"{directory}/numbers") as file:
    ...         _ = file.write(b"1 2 3")
    ...     os.listdir(directory)
    ['numbers']
    """
    target = require_replaceable(path)
    # File systems limit names to 255 bytes, of which a character has up to four.
    temporary = target.with_name(f".{target.name[:50]}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
            rename_over(file, temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def rename_over(file: BinaryIO, name: Path, target: Path) -> None:
    """Rename an open file, called `name`, to `target` when it is on disk.

    It takes owner and permissions of the file that it replaces. Raises OSError if `target` is
    anything but a regular file, or a name that is free.
    """
    file.flush()
    try:
        old = os.lstat(target)
    except FileNotFoundError:
        pass
    else:
        _require_regular(target, old)
        _copy_permissions(old, file.fileno())
    os.fsync(file.fileno())
    os.replace(name, target)


def _regular_opener(flags: int) -> Callable[[str, int], int]:
    """Return an opener for `open`: it uses these flags, and opens only a regular file.

    The descriptor has one owner at a time, also where an interruption comes at the worst moment:
    this function until it returns, and `open` from then on.
    """

    def opener(path: str, _: int) -> int:
        descriptor = os.open(path, flags, 0o666)
        try:
            found, reads = os.fstat(descriptor), active_reads()
            _require_regular(path, found)  # it may have been replaced since
            if reads is not None:
                reads.note(path, found)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    return opener


def _require_regular(path: str | os.PathLike[str], found: os.stat_result) -> None:
    if stat.S_ISREG(found.st_mode):
        return
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    kind = KINDS.get(stat.S_IFMT(found.st_mode), "of another kind")
    raise NotRegularError(errno.EINVAL, f"is {kind}, not a regular file", os.fspath(path))


def _copy_permissions(old: os.stat_result, descriptor: int) -> None:
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with contextlib.suppress(OSError):  # only root may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, old.st_mode & 0o777)
