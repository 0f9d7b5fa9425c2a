"""The exit of the program, as a shell sees it: after an interruption or when reading stops."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from fbg.environment import INTERRUPTED, Interruptible


class Later(click.Command):
    """Stands for a command in the list of all; the function of its name in a module is the command.

    Only the command itself has options.
    """

    def __init__(self, name: str, module: str, text: str) -> None:
        super().__init__(name, short_help=text)
        self._module = module

    def load(self) -> click.Command:
        """Import the command."""
        assert self.name is not None
        command = getattr(import_module(self._module), self.name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command


class Program(click.Group):
    """A group of commands. Whatever a command does, the program ends in one of these ways:

    Ctrl-C                      130, as a shell says of programs that SIGINT ended
    nobody reads the output     141, as of those that SIGPIPE ended, and without a word
    the output cannot be kept   1, with one line that says why: the disk is full, or it is closed
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, Later) else command, rest

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _endings():  # raised by --help and --version
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        with _endings(), Interruptible():
            return super().invoke(ctx)


@contextmanager
def _endings() -> Iterator[None]:
    _require_output()
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise click.exceptions.Exit(128 + signal.SIGPIPE) from None
    except OSError as error:
        raise click.ClickException(str(error)) from None
    finally:
        _drop_what_cannot_be_written()


def _require_output() -> None:
    """Let writing fail if standard output is closed: Python would drop what is written."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")


def _drop_what_cannot_be_written() -> None:
    """Empty the buffer of standard output, which Python would try to write once more at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
