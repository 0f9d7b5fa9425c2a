"""Options that several commands have: one name, one meaning and one type in all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from fbg import _fbg
from fbg.model.load import DTYPES
from fbg.text.files import TEXT_COLUMN, decode_lines, read_texts

Decorator = Callable[[Any], Any]

THREADS = ("--threads", "num_threads")


class Option(click.Option):
    """An option that still has its former names, which help does not show."""

    def __init__(self, *args: Any, former: tuple[str, ...] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown, self.opts = self.opts, [*self.opts, *self.former]
        super().add_to_parser(parser, ctx)
        self.opts = shown


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


class CountOr(click.IntRange):
    """A positive integer, or a word."""

    def __init__(self, word: str, most: int | None = None) -> None:
        super().__init__(1, most)
        self.name, self._word = f"integer, nor {word!r}", word  # as errors say

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if value == self._word else super().convert(value, param, ctx)


class Dtypes(click.Choice):  # type: ignore[type-arg,unused-ignore]
    """A precision, or several that are separated by commas."""

    def __init__(self, *, several: bool = False) -> None:
        super().__init__(DTYPES)
        self._several = several

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not self._several:
            return super().convert(value, param, ctx)
        names = value if isinstance(value, tuple) else tuple(str(value).split(","))
        return tuple(super(Dtypes, self).convert(name, param, ctx) for name in names)


def threads_option(help: str = "Number of threads. Default: all CPUs.") -> Decorator:
    """Return --threads for one number; help: whose threads they are."""
    numbers = click.IntRange(1, _fbg.MAX_THREADS)
    return _option(*THREADS, type=numbers, help=help, former=("--num-threads",))


def threads_options(help: str) -> Decorator:
    """Return --threads for several numbers, which are measured one after the other."""
    return _option(*THREADS, type=Integers(), help=help, former=("--num-threads",))


def dtype_option(help: str) -> Decorator:
    """Return --dtype for one precision."""
    return click.option("--dtype", type=Dtypes(), help=help)


def dtypes_option(default: str) -> Decorator:
    """Return --dtype for several precisions, which are compared; default: which, in words."""
    return _option(
        "--dtype",
        "dtypes",
        type=Dtypes(several=True),
        multiple=True,
        metavar="DTYPE,…",
        callback=_joined,
        help=f"Comma-separated list from {', '.join(DTYPES)}.  [default: {default}]",
        former=("--dtypes",),
    )


calibrate_option = click.option(
    "--calibrate",
    type=click.Path(dir_okay=False),
    metavar="FILE.npz",
    help="For int8 of an ONNX file: an array for each input, whose first axis counts runs. "
    "Default: random inputs, which say nothing about accuracy.",
)

column_option = click.option(
    "--column", help=f'Column (.parquet) or key (.jsonl) of the texts. Default: "{TEXT_COLUMN}".'
)


def input_option(help: str, former: tuple[str, ...] = ()) -> Decorator:
    """Return --input, the file with what a model is to compute, and --column. `read_input` reads
    texts.
    """
    source = _option("--input", "source", metavar="FILE", help=help, former=former)
    return lambda command: source(column_option(command))


def rounds_option(default: int) -> Decorator:
    """Return --rounds."""
    return click.option(
        "--rounds",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        help="Number of timed rounds.",
    )


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


def require_column(source: str | None, column: str | None, option: str = "--input") -> None:
    """Raise UsageError for a --column without a file that may have columns."""
    if column is not None and source in (None, "-"):
        raise click.UsageError(f"--column requires {option} with a .jsonl or .parquet file")


def read_input(source: str | None, column: str | None, option: str = "--input") -> list[str] | None:
    """Return the texts of a file, or the lines of standard input for "-"; None without a source.

    option: the one that names the file. Raises ValueError for data that the file does not have.
    """
    require_column(source, column, option)
    if source is None:
        return None
    if source == "-":
        return list(standard_input())
    return list(read_texts(Path(source), column))


def parse_shapes(shapes: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Return the sizes of "x=1,3,224,224" by the name of the input; () for "x=", which has none."""
    parsed = {}
    for text in shapes:
        name, _, sizes = text.rpartition("=")
        try:
            if not name:
                raise ValueError
            if name in parsed:
                raise click.UsageError(f"--shape is given twice for input '{name}'")
            parsed[name] = tuple(int(size) for size in sizes.split(",")) if sizes else ()
        except ValueError:
            raise click.UsageError(f"--shape must be NAME=N,N,…, got {text!r}") from None
    return parsed


def _option(*names: str, **options: Any) -> Decorator:
    return click.option(*names, cls=Option, **options)


def _joined(
    ctx: click.Context, param: click.Parameter, given: tuple[tuple[str, ...], ...]
) -> list[str] | None:
    return [name for names in given for name in names] or None


def standard_input() -> Iterator[str]:
    """Return the lines of standard input; ends the program if it is closed."""
    if sys.stdin is None:
        raise click.ClickException("standard input is closed")
    return decode_lines(sys.stdin.buffer, "standard input")
