"""fbg report: accuracy, speed, profile, memory and kernels of a model, as one page of HTML."""

from __future__ import annotations

from typing import Any

import click

from fbg.cli.common import error_text, measured, print_report, takes_net, user_errors
from fbg.cli.options import (
    Integers,
    dtypes_option,
    input_option,
    json_option,
    parse_shapes,
    read_input,
    rounds_option,
    shape_option,
    threads_options,
)
from fbg.files import require_replaceable
from fbg.reports.page import report_page, write_page
from fbg.reports.plots import require_matplotlib
from fbg.reports.report import ModelReport, NetReport, net_report
from fbg.reports.report import report as report_model


@click.command()
@click.argument("model")
@click.option(
    "--html",
    "out",
    type=click.Path(dir_okay=False),
    metavar="OUT.html",
    help="Write the report as a page that needs no other file, instead of printing it.",
)
@click.option(
    "--no-plots",
    "plain",
    is_flag=True,
    help="Leave the figures of the page out, for which matplotlib is needed.",
)
@click.option(
    "--tokens", type=Integers(), help="Sequence lengths to measure.  [default: 8,32,128,384]"
)
@threads_options("Thread counts.  [default: 1 and all CPUs]")
@input_option(
    "Texts or .npz file for the comparison, as in fbg compare.", former=("--texts", "--inputs")
)
@dtypes_option(
    "bfloat16,int8, of which the last one's profile, memory and kernels are shown; for an ONNX "
    "file float32,int8"
)
@rounds_option(9)
@shape_option
@json_option
def report(
    model: str,
    out: str | None,
    plain: bool,
    tokens: tuple[int, ...] | None,
    source: str | None,
    column: str | None,
    dtypes: list[str] | None,
    shapes: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Measure all that the other commands measure of MODEL on this machine.

    MODEL is a directory, a hub id, an ONNX file or a network saved from one. The report contains
    accuracy against float32 (as fbg compare), speed by length and threads (fbg bench), where the
    time goes (fbg profile), memory, and the kernel of each op. With --html it is one page that can
    be sent to somebody as it is.

    \b
    Examples:
      fbg report path/to/all-MiniLM-L6-v2 --html report.html
      fbg report path/to/bert-base --tokens 8,128 --threads 1 --input mine.txt --html report.html
      fbg report net.onnx --shape x=1,3,224,224 --input images.npz --html report.html
    """
    _check_page(out, plain)
    found: ModelReport | NetReport
    if takes_net(model, ("tokens", "column"), ("shapes",)):
        given = {"shapes": parse_shapes(shapes), "inputs": source, "dtypes": dtypes}
        found = measured(net_report, model, **given, **options)
    else:
        with user_errors():
            texts = read_input(source, column)
        found = measured(report_model, model, tokens, texts=texts, dtypes=dtypes, **options)
    if out is not None:
        with user_errors():
            write_page(report_page(found.to_dict(), not plain), out)
        click.echo(f"{out}: written", err=True)
    if out is None or as_json:
        print_report(found, as_json)


def _check_page(out: str | None, plain: bool) -> None:
    """End the program before anything is measured, if the page cannot be written."""
    if out is None:
        if plain:
            raise click.UsageError("--no-plots requires --html")
        return
    if not out.lower().endswith((".html", ".htm")):
        raise click.BadParameter(f"must end in .html, got {out}", param_hint="--html")
    try:
        if not plain:
            require_matplotlib()
        require_replaceable(out)
    except ModuleNotFoundError as error:
        message = f"{error}, or leave them out with --no-plots"
        raise click.ClickException(message) from None
    except OSError as error:
        raise click.ClickException(error_text(error)) from None
