"""fbg quantize: save a model as it runs."""

from __future__ import annotations

import click

import fbg
from fbg.cli.common import binary_size, user_errors
from fbg.loading import DTYPES


@click.command()
@click.argument("model")
@click.argument("out", type=click.Path())
@click.option("--dtype", type=click.Choice(DTYPES), default="int8", show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace a saved model that OUT already is.")
def quantize(model: str, out: str, dtype: str, overwrite: bool) -> None:
    """Save MODEL, a directory or a hub id, as it runs, in the directory OUT.

    fbg.load and the other commands then take OUT, and start without quantizing.

    \b
    Example:
      fbg quantize path/to/bert-base bert-base-int8
    """
    with user_errors():
        click.echo(f"quantizing {model} to {dtype} …", err=True)
        loaded = fbg.load(model, dtype=dtype)
        click.echo(f"writing {out} …", err=True)
        loaded.save(out, overwrite=overwrite)
    report = loaded.memory_report()
    click.echo(
        f"{out}: {dtype}, {binary_size(report.packed_weights)} of packed weights, "
        f"{binary_size(report.embeddings)} of embeddings",
        err=True,
    )
