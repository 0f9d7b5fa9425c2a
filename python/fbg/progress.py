"""Progress of everything that takes long: who tells it, and bars that show it.

Loops go through `counted`. No caller has to pass anything on: it tells the innermost
`told_to` around it, as the programs do that show bars on a terminal. tqdm is optional, and imported
here alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from fbg.errors import install_line

T = TypeVar("T")

# Called with the name of a stage of the work, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], object]


USUAL_SIZE = {"ncols": 80, "nrows": 24}  # for a terminal of unknown size

_active: ContextVar[Progress | None] = ContextVar("_active", default=None)


# Returns who is told of the progress of this thread, if anybody.
active_progress: Callable[[], Progress | None] = _active.get


def tell(stage: str, done: int, total: int) -> None:
    """Tell how much of a stage is done."""
    progress = _active.get()
    if progress is not None:
        progress(stage, done, total)


@contextmanager
def told_to(progress: Progress | None) -> Iterator[None]:
    """Tell `progress` what is done in the block, in this thread; None: nobody."""
    token = _active.set(progress)
    try:
        yield
    finally:
        _active.reset(token)


def counted(stage: str, items: Iterable[T]) -> Iterator[T]:
    """Yield the items; tell of each when the caller is done with it, if it is known how many there
    are.
    """
    progress = active_progress()
    if progress is None or not isinstance(items, Sized):
        yield from items
        return
    total = len(items)
    progress(stage, 0, total)
    for done, item in enumerate(items, 1):
        yield item
        progress(stage, done, total)


@contextmanager
def progress_bar(
    total: int | None,
    unit: str,
    *,
    show: bool = True,
    initial: int = 0,
    required_by: str | None = None,
) -> Iterator[Callable[[int], object]]:
    """Show a progress bar while the block runs; yields the function that advances it by `n`.

    Without a bar, that function tells of the progress as `counted` does.

    total: how many units there are, or None if unknown; initial: those done before.
    show: whether to show a bar.
    required_by: the argument that asked for the bar. Without tqdm that is a ModuleNotFoundError; if
        nobody asked for the bar explicitly (None), there is just no bar.
    """
    bar_type = _bar_type(required_by) if show else None
    if bar_type is None:
        yield _advancing(f"{unit}s", initial, total)
        return
    with bar_type(total=total, initial=initial, unit=unit) as bar:
        yield bar.update


def _advancing(stage: str, done: int, total: int | None) -> Callable[[int], object]:
    progress = active_progress()
    if progress is None or total is None:
        return lambda n: None

    def advance(n: int) -> None:
        nonlocal done
        done += n
        progress(stage, done, total)

    return advance


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Show one progress bar for all stages of the work in the block; yields what advances it.

    It has the name of the stage, and begins again with each, also with one of the same name.
    Without tqdm there is no bar.
    """
    bar_type = _bar_type(None)
    if bar_type is None:
        yield lambda stage, done, total: None
        return
    bar: Any = None

    def advance(stage: str, done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            bar = bar_type(
                total=total, desc=stage, bar_format="{l_bar}{bar}| {elapsed}<{remaining}"
            )
        elif bar.desc != f"{stage}: " or total != bar.total or done < bar.n:
            bar.refresh()  # how the stage before ended
            bar.set_description(stage, refresh=False)
            bar.reset(total)
        bar.update(done - bar.n)

    try:
        with told_to(advance):
            yield advance
    finally:
        if bar is not None:
            bar.close()


def _bar_type(required_by: str | None) -> Any:
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        if required_by is None:
            return None
        line = install_line("tqdm")
        raise ModuleNotFoundError(f"{required_by} needs tqdm: {line}", name="tqdm") from None
    return partial(tqdm, **USUAL_SIZE) if _says_no_width(sys.stderr) else tqdm


def _says_no_width(stream: Any) -> bool:
    """Whether a terminal says that it has no columns, on which tqdm would show nothing."""
    try:
        return os.get_terminal_size(stream.fileno()).columns == 0
    except (AttributeError, OSError, ValueError):  # no terminal: tqdm handles this
        return False
