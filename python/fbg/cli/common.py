"""What commands share: how they print, and how they end when the user made a mistake."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["binary_size", "user_errors"]

# What the library raises for a fault of the user's, a file or the installation (an extra).
USER_ERRORS = (ValueError, OSError, ModuleNotFoundError)


@contextmanager
def user_errors() -> Iterator[None]:
    """End the program with one line and exit code 1 for what a user can mend.

    Warnings too take one line: where in the library they arose is of no use here.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: click.echo(f"Warning: {message}", err=True)
        try:
            yield
        except USER_ERRORS as error:
            raise click.ClickException(str(error)) from None


def binary_size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
