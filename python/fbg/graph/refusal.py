"""The exception for an op that fbg cannot compute, so that another back end does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fbg.errors import ModelError


class Unsupported(Exception):
    """A back end cannot compute an op after all; `op` is the name of its node.

    all: this and all other refusals of the same attempt.
    """

    def __init__(self, op: str, reason: str, *others: Unsupported) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason
        self.all: tuple[Unsupported, ...] = (self, *others)


# These are raised for shapes and constants that are not understood. All other exceptions, such as
# AssertionError and AttributeError, are bugs.
REFUSALS = (ArithmeticError, LookupError, TypeError, ValueError)


@contextmanager
def refusing(op: str) -> Iterator[None]:
    """Raise Unsupported for the node of that name if something fails."""
    try:
        yield
    except REFUSALS as error:
        raise refused(op, error) from error


def refused(op: str, error: Exception) -> Exception:
    """Return the exception to raise for one of REFUSALS at the node of that name."""
    if isinstance(error, ModelError):
        return ModelError(f"node '{op}': {error}")
    return Unsupported(op, str(error) or type(error).__name__)
