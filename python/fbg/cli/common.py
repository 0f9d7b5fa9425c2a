"""What commands share: how they print, and how they end when the user made a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["binary_size", "user_errors"]


@contextmanager
def user_errors() -> Iterator[None]:
    """End the program with one line and exit code 1 for what a user can mend."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


def binary_size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
