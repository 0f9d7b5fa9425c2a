"""fbg profile: where the time of a run goes."""

from __future__ import annotations

from collections.abc import Mapping

import click

from fbg.cli.common import (
    Integers,
    check_plot,
    json_option,
    plot_option,
    print_report,
    user_errors,
)
from fbg.model.load import DTYPES
from fbg.model.load_net import is_onnx
from fbg.reports.net_profiling import profile_net
from fbg.reports.plots import plot_stacks
from fbg.reports.profiling import profile as profile_model


@click.command()
@click.argument("model")
@click.option(
    "--tokens", type=Integers(), help="Sequence lengths to profile.  [default: 8,32,128,384]"
)
@click.option("--threads", type=Integers(), help="Thread counts to profile.  [default: all CPUs]")
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Precision. Default: the dtype of a saved model; float32 for any other model.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=15,
    show_default=True,
    help="Number of timed rounds.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="NAME=N,N,…",
    help="Shape of an input of an ONNX file; may be given for each input.",
)
@json_option
@plot_option
def profile(
    model: str,
    tokens: tuple[int, ...] | None,
    threads: tuple[int, ...] | None,
    dtype: str | None,
    rounds: int,
    shapes: tuple[str, ...],
    as_json: bool,
    plot: str | None,
) -> None:
    """Show where the time of a run of MODEL goes.

    MODEL is a directory, a hub id or an ONNX file. For an ONNX file, each step of its plan is
    listed with its time, its back end and the nodes that it computes. For all others, the time is
    broken down by sub-layer and by module. Rates are given in G op/s (a multiply-add is two
    operations) and as a fraction of the peak of the CPU's instructions on as many cores.

    \b
    Examples:
      fbg profile path/to/bert-base --dtype int8 --tokens 8,128 --threads 1
      fbg profile path/to/bert-base --dtype int8 --plot profile.png
      fbg profile net.onnx --shape x=1,3,224,224 --threads 1
    """
    if is_onnx(model):
        unfit = {"--tokens": tokens, "--dtype": dtype, "--plot": plot}
        _profile_net(model, threads, rounds, shapes, as_json, unfit)
        return
    if shapes:
        raise click.UsageError("--shape goes with ONNX files")
    check_plot(plot)
    with user_errors():
        report = profile_model(model, tokens, num_threads=threads, dtype=dtype, rounds=rounds)
        print_report(report, as_json)
        if plot is not None:
            plot_stacks(report.shares(), plot)


def _profile_net(
    path: str,
    threads: tuple[int, ...] | None,
    rounds: int,
    shapes: tuple[str, ...],
    as_json: bool,
    unfit: Mapping[str, object],
) -> None:
    for option, value in unfit.items():
        if value is not None:
            raise click.UsageError(f"{option} does not go with ONNX files")
    if threads is not None and len(threads) > 1:
        raise click.UsageError("--threads takes one number with ONNX files")
    with user_errors():
        given = dict(_shape(text) for text in shapes)
        count = None if threads is None else threads[0]
        print_report(profile_net(path, shapes=given, num_threads=count, rounds=rounds), as_json)


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the name and the sizes of "x=1,3,224,224"."""
    name, _, sizes = text.rpartition("=")
    try:
        return name, tuple(int(size) for size in sizes.split(","))
    except ValueError:
        raise click.UsageError(f"--shape must be NAME=N,N,…, got {text!r}") from None
