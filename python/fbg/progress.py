"""Progress bars of everything that takes long. tqdm is optional, and imported here alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fbg.errors import install_line

__all__ = ["Progress", "progress_bar", "progress_bars"]

# Called with the name of a stage of the work, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], object]


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

    total: how many units there are, or None if nobody knows; initial: those done before.
    show: False makes the yielded function do nothing.
    required_by: the argument that asked for the bar. Without tqdm that is a ModuleNotFoundError; if
        nobody asked for the bar explicitly (None), there is just no bar.
    """
    bar_type = _bar_type(required_by) if show else None
    if bar_type is None:
        yield lambda n: None
        return
    with bar_type(total=total, initial=initial, unit=unit) as bar:
        yield bar.update


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Show one progress bar for all stages of the work; yields a `Progress` that advances it.

    It has the name of the stage, and begins again with each. Without tqdm there is no bar.
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
        elif bar.desc != f"{stage}: ":
            bar.refresh()  # how the stage before ended
            bar.set_description(stage, refresh=False)
            bar.reset(total)
        bar.update(done - bar.n)

    try:
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
    return tqdm
