"""fbg encode: embeddings of texts, or of the texts of a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fbg
from fbg.cli.common import shows_progress, user_errors
from fbg.cli.options import (
    dtype_option,
    input_option,
    require_column,
    standard_input,
    threads_option,
)
from fbg.environment import INTERRUPTED
from fbg.files import require_free_file
from fbg.model.load import load_encoder
from fbg.model.save import fingerprint_file, fingerprint_model
from fbg.progress import progress_bar
from fbg.text.embedding_files import EmbeddingFile, output_kind
from fbg.text.files import TextRows, count_texts, input_kind, read_texts

if TYPE_CHECKING:
    from fbg.integrations.shards import ShardJob


@dataclass(frozen=True)
class Source:
    """texts: from the command line, a file or standard input.

    identity: differs for other texts, for JSON; None where they can be read only once.
    total: how many there are, if that is known. rows: the same texts, to be read again.
    """

    texts: Iterable[str]
    identity: Any
    total: int | None
    rows: TextRows | None = None


@click.command()
@click.argument("model")
@click.option("--text", "texts", multiple=True, help="A text; may be given several times.")
@input_option(
    "A .txt file with one text per line, or a .jsonl or .parquet file; - reads lines from standard "
    "input."
)
@click.option(
    "--output",
    help="A .npy or .parquet file to write; Parquet keeps the texts and their `id`, too. Default: "
    "print each embedding as a line of JSON.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing output file.")
@dtype_option("Precision. Default: the dtype of a saved model; float32 for any other model.")
@click.option("--prompt-name", help="Put this prompt of the model before each text.")
@click.option("--truncate-dim", type=click.IntRange(min=1), help="Keep only the first dimensions.")
@click.option(
    "--normalize/--no-normalize",
    "normalize_embeddings",
    default=None,
    help="Scale embeddings to length 1, or not. Default: what the model's modules.json says.",
)
@click.option(
    "--truncation/--no-truncation",
    default=True,
    help="Truncate long texts (default), or stop with an error at the first.",
)
@click.option(
    "--batch-size",
    type=click.IntRange(min=1),
    default=32,
    show_default=True,
    help="Texts per run, at most.",
)
@threads_option("Number of threads. Default: all CPUs. With --ray, each actor has one.")
@click.option(
    "--ray",
    "on_ray",
    is_flag=True,
    help="Embed the files of a directory, or of a pattern in quotes, on a Ray cluster; OUTPUT is a "
    "directory with a .parquet file for each. Both may be URLs.",
)
@click.option(
    "--address", help="Address of a running Ray cluster. Default: start one on this machine."
)
@click.option(
    "--actors", type=click.IntRange(min=1), help="Processes that embed. Default: one for each CPU."
)
def encode(
    model: str,
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    output: str | None,
    overwrite: bool,
    dtype: str | None,
    batch_size: int,
    num_threads: int | None,
    on_ray: bool,
    address: str | None,
    actors: int | None,
    **options: Any,
) -> None:
    """Embed texts with MODEL, a directory, a GGUF file or a hub id.

    OUTPUT appears when it is complete. If the command is interrupted, the embeddings computed so
    far are kept beside it, in files whose names contain .partial, and the same command resumes from
    there. With other texts, another model or other options it starts from the beginning.

    \b
    Examples:
      fbg encode path/to/all-MiniLM-L6-v2 --text "A cat sits on the mat."
      fbg encode path/to/all-MiniLM-L6-v2 --input texts.jsonl --output emb.npy
      fbg encode path/to/all-MiniLM-L6-v2 --ray --input texts/ --output rows/
    """
    if on_ray:
        from fbg.integrations.shards import ShardJob

        if texts or source is None or output is None:
            raise click.UsageError("--ray requires --input and --output")
        with user_errors():
            shared = fbg.EncodeOptions(batch_size, **options)
            job = ShardJob(model, output, dtype, column, shared)
            _encode_on_ray(job, source, address, actors)
        return
    _check_arguments(texts, source, column, output, address, actors)
    with user_errors():
        if output is not None:  # before slow steps
            output_kind(Path(output))
            require_free_file(output, overwrite)
        chosen = _source(texts, source, column)
        loaded = load_encoder(model, dtype=dtype, num_threads=num_threads)
        if output is None:
            for row in loaded.encode_stream(chosen.texts, batch_size, **options):
                click.echo(json.dumps(row.tolist()))
            return
        rows, columns = _write(loaded, chosen, Path(output), batch_size, options)
    click.echo(f"{output}: {rows} embeddings with {columns} dimensions", err=True)


def _check_arguments(
    texts: tuple[str, ...],
    source: str | None,
    column: str | None,
    output: str | None,
    address: str | None,
    actors: int | None,
) -> None:
    """Raise UsageError for options that do not go together."""
    if bool(texts) == (source is not None):
        raise click.UsageError("give either --text or --input")
    if address is not None or actors is not None:
        raise click.UsageError("--address and --actors require --ray")
    require_column(source, column)
    for option, path in (("--input", source), ("--output", output)):
        if path is not None and Path(path).is_dir():
            raise click.UsageError(f"{option} is a directory, which requires --ray: {path}")
    if source is not None and output is not None and _is_same(Path(source), Path(output)):
        raise click.UsageError(f"--output would replace the --input: {output}")


def _encode_on_ray(job: ShardJob, source: str, address: str | None, actors: int | None) -> None:
    from fbg.integrations.ray_encode import encode_shards
    from fbg.integrations.shards import find_shards

    shards = find_shards(source, job.output)
    with progress_bar(len(shards), "shard", show=shows_progress()) as advance:
        done = encode_shards(
            job, shards, address=address, actors=actors, advance=lambda _: advance(1)
        )
    rows, skipped = sum(each.rows for each in done), sum(each.skipped for each in done)
    click.echo(
        f"{job.output}: {rows} embeddings in {len(done)} files, {skipped} of which were there",
        err=True,
    )


def _is_same(source: Path, output: Path) -> bool:
    return source.exists() and output.exists() and source.samefile(output)


def _source(texts: tuple[str, ...], source: str | None, column: str | None) -> Source:
    if source is None:
        return Source(texts, list(texts), len(texts), TextRows(texts))
    if source == "-":
        return Source(standard_input(), None, None)
    path = Path(source)
    input_kind(path)
    if path.exists() and not path.is_file():  # a pipe: it cannot be read again
        return Source(read_texts(path, column), None, None)
    identity = [fingerprint_file(path), path.suffix, column]
    rows = TextRows(path, column)
    return Source(read_texts(path, column), identity, count_texts(path), rows)


def _write(
    model: fbg.Model, source: Source, output: Path, batch_size: int, options: dict[str, Any]
) -> tuple[int, int]:
    """Write an output, or its missing part; return its shape."""
    encoder = model.encoder(fbg.EncodeOptions(batch_size, **options))
    job = None
    if source.identity is not None:
        job = {
            "model": fingerprint_model(model.origin, model.dtype),
            "input": source.identity,
            "options": options,
        }
    with EmbeddingFile(output, encoder.dimension, job) as file:
        there = file.rows + len(file.done)
        if there > 0:
            click.echo(f"{output}: resuming after {there} embeddings", err=True)
        elif file.discarded:
            click.echo(f"starting over: {file.partial} was made with {file.discarded}", err=True)
        rest = islice(source.texts, file.rows, None)
        try:
            show = shows_progress()
            with progress_bar(source.total, "text", show=show, initial=there) as advance:
                for block in encoder.blocks(rest, first=file.rows, advance=advance, done=file.done):
                    file.append(block)
            file.finish(source.rows)
        except KeyboardInterrupt:
            click.echo(f"{output}: interrupted; {_kept(file, source)}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        return file.rows, encoder.dimension


def _kept(file: EmbeddingFile, source: Source) -> str:
    """Keep the results so far if they are of use; say what is kept, and how to go on."""
    if source.identity is None:
        return "this input cannot be read again, so nothing is kept"
    kept = file.keep()
    if kept == 0:
        return "nothing was computed yet. Run the same command again to begin anew."
    return f"{kept} embeddings are kept in {file.partial}*. Run the same command again to resume."
