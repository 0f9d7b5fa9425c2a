"""fbg compare: accuracy, speed and memory of the dtypes of a model."""

from __future__ import annotations

import time
from typing import Any

import click

from fbg.cli.common import (
    check_plot,
    given_options,
    print_report,
    refuse_given,
    shown_progress,
    takes_net,
    user_errors,
)
from fbg.cli.options import (
    dtypes_option,
    input_option,
    json_option,
    parse_shapes,
    plot_option,
    read_input,
    rounds_option,
    shape_option,
    threads_option,
)
from fbg.reports.by_op import compare_by_op
from fbg.reports.comparison import Comparison, compare_net
from fbg.reports.comparison import compare as compare_model
from fbg.reports.measuring import Report
from fbg.reports.plots import plot_comparison
from fbg.reports.sensitivity import NET_TARGET, TARGET, net_sensitivity
from fbg.reports.sensitivity import sensitivity as find_sensitivity
from fbg.reports.sts import compare_sts

OF_ENCODERS = ("dtypes", "plot", "column", "sts", "limit")
LIMIT = 500  # texts, which a small model takes seconds for in each dtype
# The parameters that choose a kind of comparison, and those that it ignores.
IGNORED = {
    "by_op": ("rounds", "target", "limit"),
    "by_layer": ("rounds", "dtypes", "plot"),
    "sts": ("source", "column", "rounds", "plot", "target", "limit"),
}


@click.command()
@click.argument("model")
@input_option(
    "Texts, as in fbg encode; - reads lines from standard input. Default: a sample of English. "
    "Of an ONNX file: a .npz file with an array for each input, by name, whose first axis counts "
    "runs. Default: random numbers.",
    former=("--texts", "--inputs"),
)
@click.option(
    "--limit",
    type=click.IntRange(min=2),
    default=LIMIT,
    show_default=True,
    help="The most texts of the input to compare, spread evenly over it.",
)
@dtypes_option("bfloat16,int8; always int8 for an ONNX file")
@rounds_option(5)
@threads_option()
@click.option(
    "--sensitivity",
    "by_layer",
    is_flag=True,
    help="Quantize one linear layer, or node of an ONNX file, at a time, and propose which to keep "
    "in a higher precision.",
)
@click.option(
    "--target",
    type=float,
    help="With --sensitivity: the loss (1 - mean cosine) to reach.  "
    f"[default: {TARGET:g}; for an ONNX file, {NET_TARGET:g}]",
)
@click.option(
    "--by-op",
    is_flag=True,
    help="Move one node of an ONNX file at a time to onnx.reference, and show what that changes.",
)
@click.option(
    "--sts",
    metavar="FILE",
    help="Correlate cosines with human scores: a .tsv, .csv or .jsonl file with the columns or "
    "keys score, sentence1 and sentence2.",
)
@shape_option
@json_option
@plot_option
def compare(
    model: str,
    source: str | None,
    column: str | None,
    limit: int,
    dtypes: list[str] | None,
    rounds: int,
    num_threads: int | None,
    by_layer: bool,
    target: float | None,
    by_op: bool,
    sts: str | None,
    shapes: tuple[str, ...],
    as_json: bool,
    plot: str | None,
) -> None:
    """Compare accuracy, speed and memory of MODEL in several dtypes.

    MODEL is a directory or a hub id, but not a model saved in a lower precision. Every dtype is
    compared with float32. The report shows the cosines between the embeddings and those in float32,
    how many nearest neighbours are kept, and the error after each layer; with --sts, correlations
    with human scores instead. Or MODEL is an ONNX file, which is quantized to int8: the report
    shows the cosine of its outputs, how often a classifier names the same class, and the error
    after each node with weights.

    \b
    Examples:
      fbg compare path/to/all-MiniLM-L6-v2
      fbg compare path/to/all-MiniLM-L6-v2 --input mine.txt --plot compare.png
      fbg compare path/to/all-MiniLM-L6-v2 --sensitivity
      fbg compare path/to/all-MiniLM-L6-v2 --sts pairs.tsv --dtype int8,int4
      fbg compare net.onnx --input images.npz
      fbg compare net.onnx --shape x=1,3,224,224 --by-op
    """
    _check_mode()
    report: Report
    began = time.perf_counter()
    limits: dict[str, Any] = {"num_threads": num_threads}
    is_net = takes_net(model, OF_ENCODERS, ("by_op", "shapes"))
    check_plot(plot)
    with user_errors():
        if is_net:
            limits |= {"shapes": parse_shapes(shapes), "inputs": source}
            report = _compare_net(model, by_op, by_layer, target, rounds, limits)
        elif by_layer:
            limits |= {"target": TARGET if target is None else target, "progress": _show}
            texts = _sampled(read_input(source, column), limit)
            report = find_sensitivity(model, texts, **limits)
        else:
            limits["dtypes"] = dtypes or ["bfloat16", "int8"]
            texts = _sampled(read_input(source, column), limit)
            report = _compare_encoder(model, texts, sts, rounds, limits)
        print_report(report, as_json)
        click.echo(f"took {time.perf_counter() - began:.0f} s", err=True)
        if plot is not None and isinstance(report, Comparison):
            plot_comparison(report, plot)


def _check_mode() -> None:
    """End the program if an option is given that this kind of comparison ignores."""
    modes = given_options(*IGNORED)
    if len(modes) > 1:
        raise click.UsageError(f"{modes[0]} cannot be combined with {modes[1]}")
    for name, ignored in IGNORED.items():
        for mode in given_options(name):
            refuse_given(mode, *ignored)
    if given_options("target") and not given_options("by_layer"):
        raise click.UsageError("--target goes with --sensitivity")


def _show(layer: str) -> None:
    click.echo(f"{layer} …", err=True)


def _compare_net(
    path: str,
    by_op: bool,
    by_node: bool,
    target: float | None,
    rounds: int,
    options: dict[str, Any],
) -> Report:
    """Return the report that the options of an ONNX file ask for."""
    if by_op:
        return compare_by_op(path, **options, progress=_show)
    if by_node:
        wanted = NET_TARGET if target is None else target
        return net_sensitivity(path, **options, target=wanted, progress=_show)
    with shown_progress():
        return compare_net(path, **options, rounds=rounds)


def _sampled(texts: list[str] | None, limit: int) -> list[str] | None:
    """Return as many texts as there may be, spread evenly; say so if these are not all."""
    if texts is None or len(texts) <= limit:
        return texts
    click.echo(f"{limit} of {len(texts)} texts, spread evenly: --limit takes more", err=True)
    return [texts[n * len(texts) // limit] for n in range(limit)]


def _compare_encoder(
    model: str,
    texts: list[str] | None,
    sts: str | None,
    rounds: int,
    options: dict[str, Any],
) -> Report:
    """Return the report on texts, or on scored pairs of them."""
    with shown_progress():
        if sts is not None:
            return compare_sts(model, sts, **options)
        return compare_model(model, texts, rounds=rounds, **options)
