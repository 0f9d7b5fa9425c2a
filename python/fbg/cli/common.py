"""What commands share: how they print, and how they end when the user made a mistake."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from fbg import _fbg
from fbg.files import require_replaceable
from fbg.reports.measuring import Report
from fbg.reports.plots import require_matplotlib

__all__ = [
    "Integers",
    "check_plot",
    "json_option",
    "parse_shapes",
    "plot_option",
    "print_report",
    "require_none",
    "shape_option",
    "threads_option",
    "user_errors",
]

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
        except BrokenPipeError:  # nobody reads the output: no fault of anybody
            raise
        except USER_ERRORS as error:
            raise click.ClickException(str(error)) from None


def threads_option(help: str) -> Callable[[Any], Any]:
    """Return the option --threads; help: whose threads they are."""
    return click.option("--threads", type=click.IntRange(1, _fbg.MAX_THREADS), help=help)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

plot_option = click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True),
    metavar="OUT.png",
    help="Draw the result as well (.png, .svg or .pdf); needs matplotlib.",
)


shape_option = click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=N,N,…",
    help="Shape of an input of an ONNX file; may be given for each input.",
)


def parse_shapes(shapes: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the sizes of "x=1,3,224,224" by the name of the input."""
    parsed = {}
    for text in shapes:
        name, _, sizes = text.rpartition("=")
        try:
            parsed[name] = tuple(int(size) for size in sizes.split(","))
        except ValueError:
            raise click.UsageError(f"--shape must be NAME=N,N,…, got {text!r}") from None
    return parsed


def require_none(options: Mapping[str, object], what: str) -> None:
    """End the program if an option is given that does not go with `what`."""
    for option, value in options.items():
        if value not in (None, (), False):
            raise click.UsageError(f"{option} does not go with {what}")


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
        raise click.ClickException(str(error)) from None


def print_report(report: Report, as_json: bool) -> None:
    click.echo(json.dumps(report.to_dict(), indent=2) if as_json else str(report))


class Integers(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Positive integers, separated by commas."""

    name = "N,N,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            numbers = ()
        if not numbers or min(numbers) < 1:
            self.fail(f"must be positive integers separated by commas, got {value!r}", param, ctx)
        return numbers
