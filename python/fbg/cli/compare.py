"""fbg compare: accuracy, speed and memory of the dtypes of a model."""

from __future__ import annotations

from typing import Any

import click

from fbg.cli.common import (
    check_plot,
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
from fbg.reports.comparison import compare as compare_model
from fbg.reports.comparison import compare_net
from fbg.reports.measuring import Report
from fbg.reports.plots import plot_comparison
from fbg.reports.sensitivity import NET_TARGET, TARGET, net_sensitivity
from fbg.reports.sensitivity import sensitivity as find_sensitivity


@click.command()
@click.argument("model")
@input_option(
    "Texts, as in fbg encode; - reads lines from standard input. Default: a sample of English. "
    "Of an ONNX file: a .npz file with an array for each input, by name, whose first axis counts "
    "runs. Default: random numbers.",
    former=("--texts", "--inputs"),
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
@shape_option
@json_option
@plot_option
def compare(
    model: str,
    source: str | None,
    column: str | None,
    dtypes: list[str] | None,
    rounds: int,
    num_threads: int | None,
    by_layer: bool,
    target: float | None,
    by_op: bool,
    shapes: tuple[str, ...],
    as_json: bool,
    plot: str | None,
) -> None:
    """Compare accuracy, speed and memory of MODEL in several dtypes.

    MODEL is a directory or a hub id, but not a model saved in a lower precision. Every dtype is
    compared with float32. The report shows the cosines between the embeddings and those in float32,
    how many nearest neighbours are kept, and the error after each layer. Or MODEL is an ONNX file,
    which is quantized to int8: the report shows the cosine of its outputs, how often a classifier
    names the same class, and the error after each node with weights.

    \b
    Examples:
      fbg compare path/to/all-MiniLM-L6-v2
      fbg compare path/to/all-MiniLM-L6-v2 --input mine.txt --plot compare.png
      fbg compare path/to/all-MiniLM-L6-v2 --sensitivity
      fbg compare net.onnx --input images.npz
      fbg compare net.onnx --shape x=1,3,224,224 --by-op
    """
    _check_mode(by_op, by_layer, target)
    if takes_net(model, ("dtypes", "plot", "column"), ("by_op", "shapes")):
        options = {"shapes": parse_shapes(shapes), "inputs": source, "num_threads": num_threads}
        with user_errors():
            print_report(_compare_net(model, by_op, by_layer, target, rounds, options), as_json)
        return
    check_plot(plot)
    with user_errors():
        texts = read_input(source, column)
        if by_layer:
            wanted = TARGET if target is None else target
            found = find_sensitivity(
                model, texts, target=wanted, num_threads=num_threads, progress=_show
            )
            print_report(found, as_json)
            return
        kinds = dtypes or ["bfloat16", "int8"]
        with shown_progress():
            report = compare_model(model, texts, kinds, num_threads=num_threads, rounds=rounds)
        print_report(report, as_json)
        if plot is not None:
            plot_comparison(report, plot)


def _check_mode(by_op: bool, by_layer: bool, target: float | None) -> None:
    """End the program if an option is given that this kind of comparison ignores."""
    if by_op and by_layer:
        raise click.UsageError("--by-op cannot be combined with --sensitivity")
    if by_op:
        refuse_given("--by-op", "rounds", "target")
    elif by_layer:
        refuse_given("--sensitivity", "rounds", "dtypes", "plot")
    elif target is not None:
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
