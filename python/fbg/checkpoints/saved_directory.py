"""The directories of saved models: written completely or not at all, and replaced only when asked.

A directory is filled under a temporary name beside the one that it gets, and renamed when it is
complete; if one exists already, the two are exchanged. Only an empty directory or one that
holds a saved model is ever replaced.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fbg.arrays import require_flag

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # from <fcntl.h> and <stdio.h>

WEIGHTS = "fbg.safetensors"  # a directory that has it is a saved model


def save_arguments(directory: str | os.PathLike[str], overwrite: bool) -> tuple[Path, bool]:
    """Return the arguments of a method `save`; raises TypeError for those of other types."""
    try:
        target = Path(os.fspath(directory))
    except TypeError:
        got = type(directory).__name__
        raise TypeError(f"save: directory must be a str or PathLike, got {got}") from None
    return target, require_flag(overwrite, "save: overwrite")


@contextmanager
def replace_directory(target: Path, overwrite: bool) -> Iterator[Path]:
    """Make an empty directory that takes the place of `target` when the block ends.

    An exception leaves everything as it was. Raises the exceptions of `require_free`.
    """
    target = require_free(target, overwrite)
    temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        _replace(target, temporary)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def require_free(target: Path, overwrite: bool) -> Path:
    """Return the directory that would be made: `target` with its symbolic links resolved.

    Raises FileExistsError if something exists there that must not be replaced, FileNotFoundError if
    the directory to make it in is missing.
    """
    target = Path(os.path.realpath(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target}: there is no directory {target.parent}")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return target
    if not (target / WEIGHTS).is_file():
        raise FileExistsError(
            f"{target}: already exists and is not a saved model, so it is not replaced"
        )
    if not overwrite:
        raise FileExistsError(f"{target}: already exists; pass overwrite=True to replace it")
    return target


def _replace(target: Path, temporary: Path) -> None:
    """Rename `temporary` to `target`; the old one comes back if that fails."""
    if target.is_dir() and _exchange(temporary, target):
        shutil.rmtree(temporary, ignore_errors=True)
        return
    old = target.with_name(f"{temporary.name}.old")
    if target.is_dir():
        target.rename(old)
    try:
        temporary.rename(target)
    except BaseException:
        if old.is_dir():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchange(a: Path, b: Path) -> bool:
    """Exchange two names in one step; False if that is not possible.

    At every moment, also when the process is killed, both names exist.
    """
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2  # Linux
    except AttributeError:
        return False
    # It may be unknown to the kernel or to the file system, or forbidden by a filter.
    names = os.fsencode(a), AT_FDCWD, os.fsencode(b)
    return bool(exchange(AT_FDCWD, *names, RENAME_EXCHANGE) == 0)
