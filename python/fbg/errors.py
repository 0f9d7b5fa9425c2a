"""Exceptions of the package, and messages about packages that are missing.

Everything else is a plain TypeError or ValueError.
"""

from collections.abc import Iterator
from contextlib import contextmanager

# The extra of pyproject.toml that brings a package, by the name under which it is imported.
EXTRAS = {
    **dict.fromkeys(
        ("tokenizers", "huggingface_hub", "ml_dtypes", "jinja2", "markupsafe"), "models"
    ),
    **dict.fromkeys(("click", "tqdm", "pyarrow"), "cli"),
    "matplotlib": "plot",
    **dict.fromkeys(("onnx", "google", "onnxruntime"), "onnx"),
    **dict.fromkeys(("starlette", "uvicorn", "msgspec", "prometheus_client"), "server"),
    "PIL": "vision",
    "semantic_text_splitter": "chunks",
    "opentelemetry": "tracing",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}


class ModelError(ValueError):
    """A model, a network or a file of it cannot be used, or a model cannot do what is asked.

    The message names the file and the tensor, node or key, or what the model lacks.
    """


class OverloadedError(RuntimeError):
    """More work waits than a queue may hold; the same call may succeed a moment later."""


class BusyError(RuntimeError):
    """Other runs keep the threads busy, so that nothing can be measured."""


class ClosedError(RuntimeError):
    """A queue was closed and takes no more work."""


def install_line(package: str | None) -> str:
    """Return the command that installs a package, perhaps with others that belong to it."""
    name = (package or "").partition(".")[0]
    extra = EXTRAS.get(name)
    return f"pip install {name}" if extra is None else f"pip install 'fbg[{extra}]'"


@contextmanager
def needed(what: str) -> Iterator[None]:
    """Import packages in the block that fbg can do without.

    what: a subject in the plural that needs them. Raises ModuleNotFoundError that says how to
    install the first one that is missing.

    >>> with needed("examples"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: examples need no_such_package: pip install no_such_package
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "fbg":
            raise
        message = f"{what} need {name}: {install_line(name)}"
        raise ModuleNotFoundError(message, name=name) from None
