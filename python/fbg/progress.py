"""Progress bars of everything that takes long. tqdm is optional, and imported here alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["progress_bar"]


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


def _bar_type(required_by: str | None) -> Any:
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        if required_by is None:
            return None
        raise ModuleNotFoundError(
            f"{required_by} needs tqdm: pip install 'fbg[cli]'", name="tqdm"
        ) from None
    return tqdm
