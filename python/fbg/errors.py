"""Exceptions of the package; everything else is a plain TypeError or ValueError."""

__all__ = ["ClosedError", "ModelError", "OverloadedError"]


class ModelError(ValueError):
    """A model directory or one of its files cannot be used; the message names file and tensor."""


class OverloadedError(RuntimeError):
    """More work waits than a queue may hold; the same call may succeed a moment later."""


class ClosedError(RuntimeError):
    """A queue was closed and takes no more work."""
