"""fbg encode: embeddings of the lines of a file."""

from __future__ import annotations

import json
from typing import TextIO

import click
import numpy as np

import fbg
from fbg import _fbg
from fbg.cli.common import user_errors
from fbg.loading import DTYPES


@click.command()
@click.argument("model")
@click.option("--text", "texts", multiple=True, help="A sentence; may be given several times.")
@click.option(
    "--input",
    "source",
    type=click.File(encoding="utf-8"),
    help="A text file with one sentence per line; - is standard input.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    help="Write a NumPy .npy file of shape (sentences, hidden); default: JSON, one line each.",
)
@click.option(
    "--dtype",
    type=click.Choice(DTYPES),
    help="Default: that of a saved model, float32 for any other.",
)
@click.option("--batch-size", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--threads", type=click.IntRange(1, _fbg.MAX_THREADS), help="Default: all CPUs.")
def encode(
    model: str,
    texts: tuple[str, ...],
    source: TextIO | None,
    output: str | None,
    dtype: str | None,
    batch_size: int,
    threads: int | None,
) -> None:
    """Embed sentences with MODEL, a directory or a hub id.

    \b
    Examples:
      fbg encode path/to/all-MiniLM-L6-v2 --text "A cat sits on the mat."
      fbg encode path/to/all-MiniLM-L6-v2 --input lines.txt --output embeddings.npy
    """
    if bool(texts) == (source is not None):
        raise click.UsageError("give either --text or --input")
    sentences = list(texts) if source is None else source.read().splitlines()
    with user_errors():
        loaded = fbg.load(model, dtype=dtype, num_threads=threads)
        embeddings = loaded.encode(
            sentences, batch_size=batch_size, show_progress_bar=output is not None
        )
        if output is not None:
            # Through a file object: np.save would add a suffix to a bare name.
            with open(output, "wb") as file:
                np.save(file, embeddings)
    if output is None:
        for row in embeddings:
            click.echo(json.dumps(row.tolist()))
    else:
        click.echo(f"{output}: {embeddings.shape[0]} embeddings of {embeddings.shape[1]}", err=True)
