"""fbg quantize: save a model as it runs."""

from __future__ import annotations

from pathlib import Path

import click

from fbg.checkpoints.saved_directory import require_free
from fbg.cli.common import user_errors
from fbg.model.load import DTYPES, load_encoder
from fbg.progress import progress_bars
from fbg.reports.machine import binary_size
from fbg.text.files import read_texts


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
    'or .jsonl or .parquet with a key or column "text". Makes int8 more accurate; takes seconds.',
)
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
def quantize(
    model: str,
    out: str,
    dtype: str,
    calibrate: str | None,
    no_smooth: bool,
    adapter: str | None,
    overwrite: bool,
) -> None:
    """Quantize MODEL and save it in the directory OUT.

    MODEL is a directory or a hub id. fbg.load and the other commands accept OUT as a model and load
    it without quantizing again.

    \b
    Example:
      fbg quantize path/to/bert-base bert-base-int8
    """
    with user_errors():
        require_free(Path(out), overwrite)  # before anything that takes time
        texts = None if calibrate is None else list(read_texts(Path(calibrate)))
        click.echo(f"quantizing {model} to {dtype} …", err=True)
        with progress_bars() as progress:
            loaded = load_encoder(
                model,
                dtype=dtype,
                smooth=not no_smooth,
                calibrate=texts,
                adapter=adapter,
                progress=progress,
            )
        click.echo(f"writing {out} …", err=True)
        loaded.save(out, overwrite=overwrite)
    report = loaded.memory_report()
    click.echo(
        f"{out}: {dtype}, {binary_size(report.packed_weights)} of packed weights, "
        f"{binary_size(report.embeddings)} of embeddings",
        err=True,
    )
