"""fbg compare: accuracy, speed and memory of the dtypes of a model."""

from __future__ import annotations

from typing import TextIO

import click

from fbg.cli.common import check_plot, json_option, plot_option, print_report, user_errors
from fbg.model.load import DTYPES
from fbg.reports.comparison import compare as compare_model
from fbg.reports.plots import plot_comparison
from fbg.reports.sensitivity import TARGET
from fbg.reports.sensitivity import sensitivity as find_sensitivity


@click.command()
@click.argument("model")
@click.option(
    "--texts",
    "source",
    type=click.File(encoding="utf-8"),
    help="A text file, one text per line; - reads standard input. Default: a sample of English.",
)
@click.option(
    "--dtypes",
    default="bfloat16,int8",
    show_default=True,
    help=f"Comma-separated list from {', '.join(DTYPES)}.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Number of timed rounds.",
)
@click.option("--threads", type=click.IntRange(min=1), help="Number of threads. Default: all CPUs.")
@click.option(
    "--sensitivity",
    "by_layer",
    is_flag=True,
    help="Quantize one linear layer at a time, and propose layers to keep in a higher precision.",
)
@click.option(
    "--target",
    type=float,
    default=TARGET,
    show_default=True,
    help="With --sensitivity: the loss (1 - mean cosine) to reach.",
)
@json_option
@plot_option
def compare(
    model: str,
    source: TextIO | None,
    dtypes: str,
    rounds: int,
    threads: int | None,
    by_layer: bool,
    target: float,
    as_json: bool,
    plot: str | None,
) -> None:
    """Compare accuracy, speed and memory of MODEL in several dtypes.

    MODEL is a directory or a hub id, but not a model saved in a lower precision. Every dtype is
    compared with float32. The report shows the cosines between the embeddings and those in float32,
    how many nearest neighbours are kept, and the error after each layer.

    \b
    Examples:
      fbg compare path/to/all-MiniLM-L6-v2
      fbg compare path/to/all-MiniLM-L6-v2 --texts mine.txt --plot compare.png
      fbg compare path/to/all-MiniLM-L6-v2 --sensitivity
    """
    if by_layer and plot is not None:
        raise click.UsageError("--plot cannot be combined with --sensitivity")
    check_plot(plot)
    with user_errors():
        texts = None if source is None else source.read().splitlines()
        if by_layer:
            found = find_sensitivity(
                model,
                texts,
                target=target,
                num_threads=threads,
                progress=lambda layer: click.echo(f"{layer} …", err=True),
            )
            print_report(found, as_json)
            return
        report = compare_model(model, texts, dtypes.split(","), num_threads=threads, rounds=rounds)
        print_report(report, as_json)
        if plot is not None:
            plot_comparison(report, plot)
