"""fbg serve: models over HTTP."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from fbg.cli.common import user_errors
from fbg.cli.options import CountOr, dtype_option, threads_option
from fbg.errors import ModelError
from fbg.server.settings import ModelSource, Settings

COUNT = click.IntRange(min=1)


def _setting(
    name: str, help: str, kind: Any = None, metavar: str | None = None
) -> Callable[[Any], Any]:
    """Return the option of a field of Settings, which has its default."""
    default = getattr(Settings, name.removeprefix("--").replace("-", "_"))
    return click.option(
        name, type=kind, default=default, show_default=True, help=help, metavar=metavar
    )


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@dtype_option("Default: that of a saved model, float32 for any other.")
@click.option(
    "--adapter",
    "adapters",
    multiple=True,
    metavar="[MODEL:]NAME=ADAPTER",
    help="A low-rank adapter beside a model, which requests name as they name models: a task of "
    "the model, or a folder that PEFT wrote; may be given several times. Default: none.",
)
@_setting("--host", "Address to listen at.")
@_setting("--port", "0: any free one, which the log names.", click.IntRange(0, 65535))
@click.option(
    "--uds",
    type=click.Path(),
    help="Listen at a Unix socket, instead of host and port. Default: none.",
)
@click.option(
    "--ssl-certfile",
    type=click.Path(exists=True, dir_okay=False),
    help="Speak TLS with the certificate in a PEM file. Default: none.",
)
@click.option(
    "--ssl-keyfile",
    type=click.Path(exists=True, dir_okay=False),
    help="A PEM file with its key. Default: that of the certificate.",
)
@threads_option("Of each process. Default: an equal share of the CPUs.")
@_setting(
    "--workers",
    "Processes, which share the weights; numa: one on each NUMA node, with its own weights.",
    CountOr("numa", 256),
    "N|numa",
)
@_setting(
    "--lanes",
    "Batches that a process computes at once, each with its share of the threads; auto: as many "
    "as are fastest. Default: one with all threads or several with one, as the load is.",
    CountOr("auto"),
    "N|auto",
)
@click.option("--pin", is_flag=True, help="Bind the threads of each lane to its own CPUs.")
@_setting("--max-concurrent-requests", "More requests than that at a time are answered 429.", COUNT)
@_setting(
    "--max-waiting-texts", "Texts in the queue, of all requests; more are answered 429.", COUNT
)
@_setting("--max-batch-tokens", "Tokens that are computed together.", click.IntRange(1, 1 << 20))
@_setting("--max-client-batch-size", "Texts of one request.", COUNT)
@_setting("--max-body", "Bytes of one request.", COUNT)
@_setting("--max-tensor-body", "Bytes of one request with tensors or pictures.", COUNT)
@click.option(
    "--idle-unload",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Load each model at its first request, and unload it after so many seconds without one. "
    "Default: load all at once, and keep them.",
)
@click.option(
    "--api-key-file",
    type=click.Path(exists=True, dir_okay=False),
    help="A file with a key in each line; any of them is accepted. The environment variable "
    "FBG_API_KEY adds one. Default: no key is needed.",
)
@click.option(
    "--cors-origin",
    "cors_origins",
    multiple=True,
    help='Web page that may call the server, or "*"; may be given several times. Default: none.',
)
@click.option("--access-log/--no-access-log", default=True, help="Log a line for each request.")
@click.option(
    "--tracing",
    is_flag=True,
    help="Send a span of OpenTelemetry for each request to the collector that "
    "OTEL_EXPORTER_OTLP_ENDPOINT names (pip install 'fbg[tracing]').",
)
def serve(
    models: tuple[str, ...], adapters: tuple[str, ...], api_key_file: str | None, **options: Any
) -> None:
    """Serve MODELs, directories, hub ids or ONNX files, over HTTP until SIGTERM.

    The interfaces are those of OpenAI (/v1/embeddings), of text-embeddings-inference (/embed,
    /rerank, ...), of Cohere and Jina (/v2/embed, /v2/rerank, ...), and of KServe for ONNX files
    (/v2/models/NAME/infer); docs/serving.md lists them.

    \b
    Examples:
      fbg serve sentence-transformers/all-MiniLM-L6-v2 --dtype int8
      fbg serve text=path/to/encoder rank=path/to/cross-encoder --port 9000
    """
    extra = "server"
    try:
        for needed in ("msgspec", "prometheus_client", "starlette", "uvicorn"):  # imported later
            if find_spec(needed) is None:
                raise ModuleNotFoundError(name=needed)
        from fbg.server.workers import serve as run

        if options["tracing"]:
            extra = "tracing"
            import fbg.server.tracing  # noqa: F401
    except ModuleNotFoundError as error:
        needs = f"fbg serve needs {error.name}; install it with: pip install 'fbg[{extra}]'"
        raise click.ClickException(needs) from None
    with user_errors():
        keys = _api_keys(api_key_file)
        try:
            sources = tuple(ModelSource.parse(text) for text in models)
            sources = ModelSource.with_adapters(sources, adapters)
            if options["workers"] == "numa":
                from fbg.topology import NODE, group_cpus, usable_cpus

                places = group_cpus(usable_cpus(), NODE)
                options |= {"workers": len(places), "places": places}
            settings = Settings(models=sources, api_keys=keys, **options)
        except ModelError:
            raise
        except ValueError as error:  # errors of the command line
            raise click.UsageError(str(error).removeprefix("serve: ")) from None
        code = run(settings)
    sys.exit(code)


def _api_keys(file: str | None) -> tuple[str, ...]:
    keys = [] if file is None else Path(file).read_text(encoding="utf-8").split()
    if file is not None and not keys:
        raise ValueError(f"{file}: holds no key")
    if os.environ.get("FBG_API_KEY"):
        keys.append(os.environ["FBG_API_KEY"])
    return tuple(keys)
