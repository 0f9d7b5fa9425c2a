"""fbg profile: where the time of a run goes."""

from __future__ import annotations

from typing import Any

import click

from fbg.cli.common import (
    check_plot,
    measured,
    print_report,
    takes_net,
    user_errors,
)
from fbg.cli.options import (
    Integers,
    calibrate_option,
    dtype_option,
    json_option,
    parse_shapes,
    plot_option,
    rounds_option,
    shape_option,
    threads_options,
)
from fbg.reports.plots import plot_stacks
from fbg.reports.profiling import profile as profile_model
from fbg.reports.profiling import profile_net


@click.command()
@click.argument("model")
@click.option(
    "--tokens", type=Integers(), help="Sequence lengths to profile.  [default: 8,32,128,384]"
)
@threads_options("Thread counts to profile.  [default: all CPUs]")
@dtype_option("Precision. Default: the dtype of a saved model; float32 for any other model.")
@rounds_option(15)
@calibrate_option
@shape_option
@json_option
@plot_option
def profile(
    model: str,
    num_threads: tuple[int, ...] | None,
    rounds: int,
    calibrate: str | None,
    shapes: tuple[str, ...],
    as_json: bool,
    plot: str | None,
    **options: Any,
) -> None:
    """Show where the time of a run of MODEL goes.

    MODEL is a directory, a hub id, an ONNX file or a network saved from one. For the latter two, a
    table has each step of the plan: its time, its share of the run, the rate of its products, and
    where, how and for which nodes it computes. For all others, the time is broken down by sub-layer
    and by module. Rates are given in G op/s (a multiply-add is two operations), and there as a
    fraction of the peak of the CPU's instructions on as many cores.

    \b
    Examples:
      fbg profile path/to/bert-base --dtype int8 --tokens 8,128 --threads 1
      fbg profile path/to/bert-base --dtype int8 --plot profile.png
      fbg profile net.onnx --shape x=1,3,224,224 --threads 1
      fbg profile net.onnx --shape x=1,3,224,224 --dtype bfloat16
    """
    if takes_net(model, ("tokens", "plot"), ("shapes", "calibrate")):
        if num_threads is not None and len(num_threads) > 1:
            raise click.UsageError("--threads takes one number with ONNX files")
        count = None if num_threads is None else num_threads[0]
        named = {"shapes": parse_shapes(shapes), "dtype": options["dtype"]}
        named["calibrate"] = calibrate
        net = measured(profile_net, model, num_threads=count, rounds=rounds, **named)
        print_report(net, as_json)
        return
    check_plot(plot)
    report = measured(profile_model, model, num_threads=num_threads, rounds=rounds, **options)
    with user_errors():
        print_report(report, as_json)
        if plot is not None:
            plot_stacks(report.shares(), plot)
