"""fbg bench: latency and throughput of a model."""

from __future__ import annotations

from typing import Any

import click

from fbg.cli.common import measured, print_report, takes_net
from fbg.cli.options import (
    Integers,
    Option,
    calibrate_option,
    dtypes_option,
    json_option,
    parse_shapes,
    rounds_option,
    shape_option,
    threads_options,
)
from fbg.reports.benchmark import bench as bench_model
from fbg.reports.benchmark import bench_net
from fbg.reports.measuring import Report


@click.command()
@click.argument("model")
@click.option(
    "--tokens", type=Integers(), help="Sequence lengths to time.  [default: 8,32,128,384]"
)
@click.option(
    "--batch-size",
    "batch",
    type=click.IntRange(min=1),
    help="Sequences per call.  [default: 1]",
    cls=Option,
    former=("--batch",),
)
@threads_options("Thread counts to time.  [default: all CPUs]")
@dtypes_option("float32,bfloat16,int8; for a saved model, its dtype; for an ONNX file, float32")
@rounds_option(21)
@calibrate_option
@shape_option
@json_option
def bench(
    model: str,
    tokens: tuple[int, ...] | None,
    batch: int | None,
    calibrate: str | None,
    shapes: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Time MODEL, a directory or a hub id, on random tokens, or an ONNX file on random inputs.

    The dtypes take turns, so that a change in the machine's speed affects all of them alike. The
    report gives the median and the 10th and 90th percentiles of the time of a call, and the tokens
    per second at the median; for an ONNX file, the time to prepare its plan.

    \b
    Examples:
      fbg bench path/to/bert-base
      fbg bench path/to/bert-base --tokens 8,128 --threads 1,2 --dtype int8
      fbg bench net.onnx --shape x=1,3,224,224 --threads 1,2 --dtype float32,int8
    """
    found: Report
    if takes_net(model, ("tokens", "batch"), ("shapes", "calibrate")):
        given = {"shapes": parse_shapes(shapes), "calibrate": calibrate}
        found = measured(bench_net, model, **given, **options)
    else:
        found = measured(bench_model, model, tokens, batch=batch or 1, **options)
    print_report(found, as_json)
