"""fbg quantize: save a model as it runs."""

from __future__ import annotations

from pathlib import Path

import click

from fbg.checkpoints.saved_directory import require_free
from fbg.cli.common import require_none, shown_progress, user_errors
from fbg.cli.options import column_option, parse_shapes, read_input, shape_option
from fbg.model.load import DTYPES, load, load_encoder
from fbg.model.load_net import is_net
from fbg.networks.transformer import precision
from fbg.reports.machine import binary_size
from fbg.reports.net_feeds import read_feeds


@click.command()
@click.argument("model")
@click.argument("out", type=click.Path())
@click.option(
    "--dtype", type=click.Choice(DTYPES), default="int8", show_default=True, help="Precision."
)
@click.option(
    "--calibrate",
    type=click.Path(dir_okay=False),
    help="A file with about 100 texts similar to those that the model will process: one per line, "
    "or .jsonl or .parquet. Makes int8 more accurate; takes seconds. "
    "An ONNX file needs a .npz file with an array for each input, by name, whose first axis counts "
    "runs.",
)
@column_option
@click.option(
    "--no-smooth",
    is_flag=True,
    help="Round int8 weights directly, without equalizing the channels first.",
)
@click.option(
    "--adapter",
    help="A low-rank adapter to merge: a task of the model, or a folder that PEFT wrote.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is a saved model.")
@shape_option
def quantize(
    model: str,
    out: str,
    dtype: str,
    calibrate: str | None,
    column: str | None,
    no_smooth: bool,
    adapter: str | None,
    overwrite: bool,
    shapes: tuple[str, ...],
) -> None:
    """Quantize MODEL and save it in the directory OUT.

    MODEL is a directory, a hub id or an ONNX file. fbg.load and the other commands accept OUT as a
    model and load it without quantizing again.

    \b
    Examples:
      fbg quantize path/to/bert-base bert-base-int8
      fbg quantize net.onnx net-int8 --calibrate images.npz
    """
    if Path(out).suffix == ".onnx":
        raise click.BadParameter(
            f"OUT is a directory that fbg writes: give it a name without .onnx, got {out}"
        )
    if is_net(model):
        unfit = {"--no-smooth": no_smooth, "--adapter": adapter, "--column": column}
        require_none(unfit, "ONNX files")
        if calibrate is None and dtype == "int8":
            raise click.UsageError(
                "an ONNX file is calibrated on inputs similar to those that it will get: pass "
                "--calibrate FILE.npz, with an array for each input, whose first axis counts runs"
            )
    else:
        require_none({"--shape": shapes}, "encoders")
    with user_errors():
        require_free(Path(out), overwrite)  # before anything that takes time
        if is_net(model):
            _quantize_net(model, out, dtype, calibrate, overwrite, shapes)
        else:
            texts = read_input(calibrate, column, "--calibrate")
            _quantize_encoder(model, out, dtype, texts, no_smooth, adapter, overwrite)


def _quantize_net(
    path: str,
    out: str,
    dtype: str,
    calibrate: str | None,
    overwrite: bool,
    shapes: tuple[str, ...],
) -> None:
    given = parse_shapes(shapes)
    net = load(path, shapes=given)
    feeds = None if calibrate is None else read_feeds(calibrate, net)
    click.echo(f"quantizing {path} to {dtype} …", err=True)
    with shown_progress():
        quantized = load(path, dtype=dtype, calibrate=feeds, shapes=given)
    quantized.save(out, overwrite=overwrite)
    runs = "" if feeds is None else f", calibrated on {len(feeds)} runs"
    click.echo(f"{out}: {quantized.products}{runs}", err=True)


def _quantize_encoder(
    model: str,
    out: str,
    dtype: str,
    texts: list[str] | None,
    no_smooth: bool,
    adapter: str | None,
    overwrite: bool,
) -> None:
    click.echo(f"quantizing {model} to {dtype} …", err=True)
    with shown_progress():
        loaded = load_encoder(
            model, dtype=dtype, smooth=not no_smooth, calibrate=texts, adapter=adapter
        )
    click.echo(f"writing {out} …", err=True)
    loaded.save(out, overwrite=overwrite)
    report = loaded.memory_report()
    click.echo(
        f"{out}: {precision(loaded.network)}, {binary_size(report.packed_weights)} of packed "
        f"weights, {binary_size(report.embeddings)} of embeddings",
        err=True,
    )
