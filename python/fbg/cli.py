"""Commands of the ``fbg`` program: each is one small function that calls the library and prints."""

from __future__ import annotations

import json
import platform
from importlib import metadata
from typing import Any, TextIO

import click
import numpy as np

import fbg
from fbg import _fbg
from fbg.loading import DTYPES


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(fbg.__version__, prog_name="fbg")
def main() -> None:
    """Quantized matrix products and BERT inference on CPUs."""


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(as_json: bool) -> None:
    """Show the CPU, its instruction sets and caches, threads and versions."""
    facts = _collect_info()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    cpu, isa, threads = facts["cpu"], facts["isa"], facts["threads"]
    rows = {
        "fbg": facts["versions"]["fbg"],
        "CPU": cpu["name"].strip(),
        "caches": ", ".join(
            f"{level} {_binary_size(cpu[key])}"
            for level, key in (("L1d", "l1d_bytes"), ("L2", "l2_bytes"), ("L3", "l3_bytes"))
        ),
        "ISAs": " ".join(isa["supported"]),
        "active ISA": isa["active"] + (f" (limit: {isa['limit']})" if isa["limit"] else ""),
        "threads": f"{threads['default']} ({threads['available_cpus']} CPUs available)",
    }
    rows |= {name: version for name, version in facts["versions"].items() if name != "fbg"}
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")


@main.command()
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
    """Embed sentences with MODEL, a directory or a hub id."""
    if bool(texts) == (source is not None):
        raise click.UsageError("give either --text or --input")
    sentences = list(texts) if source is None else source.read().splitlines()
    try:
        loaded = fbg.load(model, dtype=dtype, num_threads=threads)
        embeddings = loaded.encode(
            sentences, batch_size=batch_size, show_progress_bar=output is not None
        )
        if output is not None:
            # Through a file object: np.save would add a suffix to a bare name.
            with open(output, "wb") as file:
                np.save(file, embeddings)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    if output is None:
        for row in embeddings:
            click.echo(json.dumps(row.tolist()))
    else:
        click.echo(f"{output}: {embeddings.shape[0]} embeddings of {embeddings.shape[1]}", err=True)


@main.command()
@click.argument("model")
@click.argument("out", type=click.Path())
@click.option("--dtype", type=click.Choice(DTYPES), default="int8", show_default=True)
@click.option("--overwrite", is_flag=True, help="Replace a saved model that OUT already is.")
def quantize(model: str, out: str, dtype: str, overwrite: bool) -> None:
    """Save MODEL, a directory or a hub id, as it runs, in the directory OUT.

    fbg.load and the other commands then take OUT, and start without quantizing.
    """
    try:
        click.echo(f"quantizing {model} to {dtype} …", err=True)
        loaded = fbg.load(model, dtype=dtype)
        click.echo(f"writing {out} …", err=True)
        loaded.save(out, overwrite=overwrite)
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    report = loaded.memory_report()
    click.echo(
        f"{out}: {dtype}, {_binary_size(report.packed_weights)} of packed weights, "
        f"{_binary_size(report.embeddings)} of embeddings",
        err=True,
    )


def _collect_info() -> dict[str, Any]:
    return {
        "cpu": dict(_fbg.cpu_info()),
        "isa": {
            "supported": list(fbg.isa.supported()),
            "active": fbg.isa.active(),
            "limit": _fbg.isa_limit(),
        },
        "threads": {
            "default": fbg.get_num_threads(),
            "available_cpus": _fbg.available_cpus(),
        },
        "versions": {
            "fbg": fbg.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            **{name: _version(name) for name in ("numpy", "safetensors", "tokenizers")},
        },
    }


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"


def _binary_size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
