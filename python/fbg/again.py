"""Objects that are pickled and copied as what made them: they are made again, and checked again.

Kernels are code of one process, and are generated for the instructions that its CPU has; what was
made with them is therefore not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Again = tuple[Callable[..., Any], tuple[Any, ...]]


def again(make: Callable[..., Any], *arguments: object, **keywords: object) -> Again:
    """Return what ``__reduce__`` returns for an object that `make` makes of these arguments.

    What they have in common with those of other objects of a pickle or a deep copy, such as an
    array that one writes and another reads, the new objects have in common, too.
    """
    return _call, (make, arguments, keywords)


def _call(make: Callable[..., T], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> T:
    return make(*arguments, **keywords)
