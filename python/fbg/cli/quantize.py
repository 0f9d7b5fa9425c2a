"""fbg quantize: save a model as it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fbg.cli.common import refuse_given, shown_progress, user_errors
from fbg.cli.options import Dtypes, column_option, parse_shapes, read_input, shape_option
from fbg.graph.passes.precision import DEFAULT
from fbg.matmul.weights import QUANTIZED
from fbg.model.load import load, load_encoder
from fbg.model.load_net import check_quantization, is_net, percent
from fbg.networks.transformer import precision
from fbg.reports.inputs import read_feeds
from fbg.reports.machine import binary_size
from fbg.reports.measuring import require_unsaved
from fbg.saved_file import require_free


@click.command()
@click.argument("model")
@click.argument("out", type=click.Path())
@click.option("--dtype", type=Dtypes(), default="int8", show_default=True, help="Precision.")
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
@click.option(
    "--higher-precision",
    multiple=True,
    metavar="PATTERN",
    help="Linear layers that stay in bfloat16, or nodes of an ONNX file that stay in float32, by "
    'patterns of their names, such as "layers.0.*"; PATTERN=DTYPE chooses another dtype for '
    "linear layers. May be given several times; fbg compare --sensitivity proposes some.",
)
@click.option(
    "--equalize",
    is_flag=True,
    help="Give the channels between two convolutions of an ONNX file similar ranges first.",
)
@click.option(
    "--accuracy",
    type=click.FloatRange(0, 1, min_open=True),
    help="Keep as many nodes of an ONNX file in float32 as the outputs need to agree with float32 "
    "on the inputs of --calibrate: the least of their cosine and of the share of equal classes.",
)
@click.option(
    "--narrow-weights/--full-weights",
    default=None,
    help="Whether weights of an ONNX file are rounded so that CPUs without VNNI multiply them "
    "faster, with less than one bit less. Default: on such a CPU.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is a saved model.")
@shape_option
def quantize(
    model: str,
    out: str,
    overwrite: bool,
    column: str | None,
    shapes: tuple[str, ...],
    **options: Any,
) -> None:
    """Quantize MODEL and save it in the directory OUT.

    MODEL is a directory, a hub id or an ONNX file. fbg.load and the other commands accept OUT as a
    model and load it without quantizing again.

    \b
    Examples:
      fbg quantize path/to/bert-base bert-base-int8
      fbg quantize path/to/bert-base bert-base-int8 --higher-precision "layers.11.*"
      fbg quantize net.onnx net-int8 --calibrate images.npz
      fbg quantize net.onnx net-int8 --calibrate images.npz --accuracy 0.99
      fbg quantize net.onnx net-bfloat16 --dtype bfloat16
    """
    if Path(out).suffix == ".onnx":
        raise click.BadParameter(
            f"OUT is a directory that fbg writes: give it a name without .onnx, got {out}"
        )
    calibrate, dtype = options["calibrate"], options["dtype"]
    with user_errors():
        require_unsaved("quantize", model, "which is not quantized again")
        require_free(Path(out), overwrite)  # before slow steps
        if is_net(model):
            refuse_given("ONNX files", "no_smooth", "adapter", "column")
            if calibrate is None and dtype == "int8":
                raise click.UsageError(
                    "an ONNX file is calibrated on inputs similar to those that it will get: pass "
                    "--calibrate FILE.npz, with an array for each input, whose first axis counts "
                    "runs"
                )
            names = ("calibrate", "higher_precision", "equalize", "accuracy")
            given = [name for name in names if options[name]]
            given += ["narrow_weights"] * (options["narrow_weights"] is not None)
            check_quantization(model, dtype, given)
            _quantize_net(model, out, overwrite, parse_shapes(shapes), **options)
        else:
            refuse_given("encoders", "shapes", "equalize", "accuracy", "narrow_weights")
            if dtype not in QUANTIZED:
                refuse_given(f"--dtype {dtype}", "no_smooth")
            texts = read_input(calibrate, column, "--calibrate")
            _quantize_encoder(model, out, overwrite, **{**options, "calibrate": texts})


def _quantize_net(
    path: str,
    out: str,
    overwrite: bool,
    shapes: Mapping[str, tuple[int, ...]],
    *,
    calibrate: str | None,
    dtype: str,
    higher_precision: tuple[str, ...],
    equalize: bool,
    accuracy: float | None,
    narrow_weights: bool | None,
    **_: object,
) -> None:
    feeds = None if calibrate is None else read_feeds(calibrate, load(path, shapes=shapes))
    click.echo(f"quantizing {path} to {dtype} …", err=True)
    with shown_progress():
        quantized = load(
            path,
            dtype=dtype,
            calibrate=feeds,
            shapes=shapes,
            higher_precision=higher_precision,
            equalize=equalize,
            accuracy=accuracy,
            narrow_weights=narrow_weights,
        )
    quantized.save(out, overwrite=overwrite)
    told = ["bfloat16, " * (dtype == "bfloat16"), str(quantized.products)]
    if feeds is not None:
        told.append(f", calibrated on {len(feeds)} run{'s' * (len(feeds) > 1)}")
    if quantized.int8_error is not None:
        told.append(f"; the first run differs by {percent(quantized.int8_error)} from float32")
    if (narrow := quantized.narrow_products) > 0:
        told.append(f"\n{out}: narrow weights in {narrow} products, for CPUs without VNNI")
    if quantized.kept is not None:
        click.echo(quantized.kept, err=True)
    click.echo(f"{out}: {''.join(told)}", err=True)


def _quantize_encoder(
    model: str,
    out: str,
    overwrite: bool,
    *,
    dtype: str,
    calibrate: list[str] | None,
    no_smooth: bool,
    adapter: str | None,
    higher_precision: tuple[str, ...],
    **_: object,
) -> None:
    click.echo(f"quantizing {model} to {dtype} …", err=True)
    with shown_progress():
        loaded = load_encoder(
            model,
            dtype=dtype,
            smooth=not no_smooth,
            calibrate=calibrate,
            adapter=adapter,
            higher_precision=_layers(higher_precision),
        )
    click.echo(f"writing {out} …", err=True)
    loaded.save(out, overwrite=overwrite)
    report = loaded.memory_report()
    click.echo(
        f"{out}: {precision(loaded.network)}, {binary_size(report.packed_weights)} of packed "
        f"weights, {binary_size(report.embeddings)} of embeddings",
        err=True,
    )


def _layers(patterns: Sequence[str]) -> dict[str, str]:
    """Return the dtypes of linear layers by pattern, from PATTERN or PATTERN=DTYPE."""
    split = (text.partition("=") for text in patterns)
    return {pattern: dtype or DEFAULT for pattern, _, dtype in split}
