"""Objects that are pickled and copied by their arguments: they are made and checked again.

Kernels are code of one process, generated for the instructions of its CPU; objects
made with them are therefore not stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Again = tuple[Callable[..., Any], tuple[Any, ...]]


def again(make: Callable[..., Any], *arguments: object, **keywords: object) -> Again:
    """Return the result of ``__reduce__`` for an object that `make` makes of these arguments.

    Arguments that objects of a pickle or a deep copy share, such as an
    array that one writes and another reads, are also shared by the new objects.
    """
    return _call, (make, arguments, keywords)


def _call(make: Callable[..., T], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> T:
    return make(*arguments, **keywords)
