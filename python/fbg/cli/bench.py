"""fbg bench: latency and throughput of a model."""

from __future__ import annotations

import click

from fbg.cli.common import Integers, json_option, print_report, user_errors
from fbg.model.load import DTYPES
from fbg.reports.benchmark import bench as bench_model


@click.command()
@click.argument("model")
@click.option("--tokens", type=Integers(), help="Lengths of a sequence.  [default: 8,32,128,384]")
@click.option("--batch", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--threads", type=Integers(), help="Thread counts.  [default: all CPUs]")
@click.option(
    "--dtypes",
    help=f"Separated by commas; of {', '.join(DTYPES)}.  [default: float32,bfloat16,int8, "
    "or that of a saved model]",
)
@click.option("--rounds", type=click.IntRange(min=1), default=21, show_default=True)
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

    Dtypes take turns, so that a drift of the machine's speed is in all of them alike. Median, 10th
    and 90th percentile of the time of a call, and tokens per second at the median.

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
