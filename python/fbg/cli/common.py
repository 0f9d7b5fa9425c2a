"""Shared code of commands: printing, and exit after a mistake of the user."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from fbg.cli.options import Dtypes, Integers
from fbg.files import require_replaceable
from fbg.model.load_net import is_net
from fbg.progress import progress_bars
from fbg.reports.measuring import Report
from fbg.reports.plots import require_matplotlib

R = TypeVar("R")

# Types of options that name a value, not a file or its content.
VALUES = (click.IntRange, click.FloatRange, type(click.FLOAT), Dtypes, Integers)

# The beginning of messages of the library about an argument.
_ARGUMENT = re.compile(r"\w+: (?P<name>\w+):? (?P<said>(of an ONNX file )?must .*)", re.DOTALL)

# Exceptions of the library for errors of the user, a file or the installation (an extra).
USER_ERRORS = (ValueError, OSError, ModuleNotFoundError)


@contextmanager
def user_errors() -> Iterator[None]:
    """End the program with one line and exit code 1 for errors that a user can fix.

    Warnings too take one line: where in the library they arose is of no use here. Each is said
    once, also if several models, such as one in several dtypes, give the same.
    """
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            click.echo(f"Warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:  # nobody reads the output, which is not an error
            raise
        except USER_ERRORS as error:
            raise _of_an_option(error) or click.ClickException(error_text(error)) from None


def error_text(error: Exception) -> str:
    """Return an error as a sentence, in the words of the command line."""
    text = str(error).replace("pass overwrite=True", "pass --overwrite")
    if not isinstance(error, OSError) or not text.startswith("[Errno"):
        return text
    said = error.strerror or type(error).__name__
    if error.errno == errno.ENOENT and said == os.strerror(errno.ENOENT):
        said = "no such file"
    said = said[:1].lower() + said[1:]
    return said if error.filename is None else f"{os.fsdecode(error.filename)}: {said}"


def _of_an_option(error: Exception) -> click.UsageError | None:
    """Return the message about an option that the library refuses: `tokens` of `bench` is --tokens.

    None for other errors: an error in a file is not a wrong option.
    """
    found = _ARGUMENT.fullmatch(str(error))
    if found is None or type(error) is not ValueError:
        return None
    names = {found["name"], f"{found['name']}s"}
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        if given and parameter.name in names and isinstance(parameter.type, VALUES):
            return click.UsageError(f"{parameter.opts[0]} {found['said']}")
    return None


def shows_progress() -> bool:
    """Whether somebody sees the progress of a command: only then are there progress bars."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of the block on a terminal. Its result is printed after it."""
    if not shows_progress():
        yield
        return
    with progress_bars():
        yield


def measured(function: Callable[..., R], *args: Any, **options: Any) -> R:
    """Call a slow function, show its progress, and return its result."""
    with user_errors(), shown_progress():
        return function(*args, **options)


def takes_net(model: str, of_encoders: Sequence[str], of_nets: Sequence[str]) -> bool:
    """Whether it is a network from a file rather than an encoder; ends the program if a parameter
    is given that is for the other kind.
    """
    if is_net(model):
        refuse_given("ONNX files", *of_encoders)
        return True
    refuse_given("encoders", *of_nets)
    return False


def refuse_given(what: str, *names: str) -> None:
    """End the program if one of these parameters, which `what` ignores, is on the command line."""
    for option in given_options(*names):
        raise click.UsageError(f"{option} cannot be used with {what}")


def given_options(*names: str) -> list[str]:
    """Return the options of these parameters that are on the command line.

    A given value is told from a default, too.
    """
    context = click.get_current_context()
    options = {str(parameter.name): parameter.opts[0] for parameter in context.command.params}
    return [
        options[name]
        for name in names
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]


def check_plot(plot: str | None) -> None:
    """End the program before anything is measured, if a plot cannot be drawn."""
    if plot is None:
        return
    if not plot.lower().endswith((".png", ".svg", ".pdf")):
        raise click.BadParameter(f"must end in .png, .svg or .pdf, got {plot}", param_hint="--plot")
    try:
        require_matplotlib()
        require_replaceable(plot)
    except (ModuleNotFoundError, OSError) as error:
        raise click.ClickException(error_text(error)) from None


def print_report(report: Report, as_json: bool) -> None:
    click.echo(json.dumps(report.to_dict(), indent=2) if as_json else str(report))
