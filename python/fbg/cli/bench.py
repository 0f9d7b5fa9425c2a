"""fbg bench: latency and throughput of a model."""

from __future__ import annotations

import click

from fbg.cli.common import Integers, json_option, print_report, user_errors
from fbg.model.load import DTYPES
from fbg.reports.benchmark import bench as bench_model


@click.command()
@click.argument("model")
@click.option(
    "--tokens", type=Integers(), help="Sequence lengths to time.  [default: 8,32,128,384]"
)
@click.option(
    "--batch", type=click.IntRange(min=1), default=1, show_default=True, help="Sequences per call."
)
@click.option("--threads", type=Integers(), help="Thread counts to time.  [default: all CPUs]")
@click.option(
    "--dtypes",
    help=f"Comma-separated list from {', '.join(DTYPES)}.  [default: float32,bfloat16,int8; for a "
    "saved model, its dtype]",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=21,
    show_default=True,
    help="Number of timed rounds.",
)
@json_option
def bench(
    model: str,
    tokens: tuple[int, ...] | None,
    batch: int,
    threads: tuple[int, ...] | None,
    dtypes: str | None,
    rounds: int,
    as_json: bool,
) -> None:
    """Time MODEL, a directory or a hub id, on random token ids.

    The dtypes take turns, so that a change in the machine's speed affects all of them alike. The
    report gives the median and the 10th and 90th percentiles of the time of a call, and the tokens
    per second at the median.

    \b
    Examples:
      fbg bench path/to/bert-base
      fbg bench path/to/bert-base --tokens 8,128 --threads 1,2 --dtypes int8
    """
    with user_errors():
        report = bench_model(
            model,
            tokens,
            batch=batch,
            num_threads=threads,
            dtypes=None if dtypes is None else dtypes.split(","),
            rounds=rounds,
        )
    print_report(report, as_json)
