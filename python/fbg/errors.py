"""Exceptions of the package; everything else is a plain TypeError or ValueError."""

__all__ = ["ModelError"]


class ModelError(ValueError):
    """A model directory or one of its files cannot be used; the message names file and tensor."""
