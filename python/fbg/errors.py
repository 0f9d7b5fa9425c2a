"""Exceptions of the package, and the TypeError for an argument that a function does not have.

Everything else is a plain TypeError or ValueError.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["ClosedError", "ModelError", "OverloadedError", "require_known"]


class ModelError(ValueError):
    """A model, a network or a file of it cannot be used, or a model cannot do what is asked.

    The message names the file and the tensor, node or key, or what the model lacks.
    """


class OverloadedError(RuntimeError):
    """More work waits than a queue may hold; the same call may succeed a moment later."""


class ClosedError(RuntimeError):
    """A queue was closed and takes no more work."""


def require_known(where: str, options: Iterable[str], *takers: Callable[..., Any]) -> None:
    """Raise TypeError for the first of the options that none of the functions takes by name.

    Every function that passes ``**options`` on calls this first: what takes them in the end has
    another name than what the user called, or says something else about an argument it lacks.

    >>> def pack(x, *, scale, zero_point=0): ...
    >>> require_known("prepare", {"zero_pont": 3}, pack)
    Traceback (most recent call last):
    TypeError: prepare: unknown argument 'zero_pont'; did you mean zero_point?
    """
    known = [name for taker in takers for name in _names(taker)]
    for name in options:
        if name not in known:
            raise TypeError(f"{where}: unknown argument {name!r}; {_advice(name, known)}")


@functools.lru_cache(maxsize=64)
def _names(taker: Callable[..., Any]) -> tuple[str, ...]:
    """Return the parameters that may or must be given by name, without `self`, `x` and the like."""
    from inspect import Parameter, signature

    return tuple(
        parameter.name
        for parameter in signature(taker).parameters.values()
        if parameter.kind is Parameter.KEYWORD_ONLY
        or (
            parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
            and parameter.default is not Parameter.empty
        )
    )


def _advice(name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    names = list(dict.fromkeys(known))
    close = get_close_matches(name, names, 1)
    if close:
        return f"did you mean {close[0]}?"
    return f"it takes {', '.join(names)}" if names else "it takes no options"
