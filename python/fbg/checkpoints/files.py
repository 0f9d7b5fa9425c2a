"""Reading the JSON files of a model directory: any error in one becomes a ModelError.

A GGUF file counts as a directory, whose files are made of its metadata.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fbg.checkpoints.gguf.architectures import files_of
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.files import parse_json, read_regular, stand_in

LONGEST_NAME = "x" * 64  # no file of a module has a longer one


def is_gguf(path: Path) -> bool:
    """Whether a path names a GGUF file."""
    return path.suffix.lower() == ".gguf" and os.path.isfile(path)


def _in_gguf(path: Path) -> bytes | None:
    """Return a file of a directory that is a GGUF file; None for others. Raises ModelError."""
    parent = next((parent for parent in path.parents if is_gguf(parent)), None)
    if parent is None:
        return None
    return files_of(parent).get(path.relative_to(parent).as_posix())


def is_model_file(path: Path) -> bool:
    """Whether the directory of a model has a file; raises ModelError for a damaged GGUF file."""
    return path.is_file() or _in_gguf(path) is not None


def read_model_file(path: Path) -> bytes:
    """Return a file in the directory of a model; raises OSError, or ModelError as above, and for
    what another program has left in its place.
    """
    content = _in_gguf(path)
    if content is None:
        content = read_regular(path)
        if (what := stand_in(content)) is not None:
            raise ModelError(f"{path}: {what}")
    return content


def require_file(path: Path) -> Path:
    """Return `path`; raises ModelError unless it names a regular file."""
    if not os.path.isfile(path):  # False for names that are too long
        what = "not a regular file" if os.path.exists(path) else "no such file"
        raise ModelError(f"{path}: {what}")
    return path


def folder_within(path: Path, directory: Path, folder: str) -> str:
    """Return a folder in the directory of a model by its `path`; raises ModelError."""
    if Path(folder).is_absolute() or ".." in Path(folder).parts:
        raise ModelError(f"{path}: {folder!r:.80} is not a folder in the directory of the model")
    try:
        os.stat(directory / folder / LONGEST_NAME)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # it is too long, or not a name
        what = error.strerror if isinstance(error, OSError) else error
        raise ModelError(f"{path}: {folder!r:.80} cannot be a folder: {what}") from None
    return folder.rstrip("/")


def read_json(path: Path) -> Any:
    if not is_model_file(path):
        require_file(path)
    try:
        return parse_json(read_model_file(path).decode("utf-8"))
    except ModelError:
        raise
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: not readable as JSON: {error}") from None


def read_settings(path: Path) -> Settings:
    values = read_json(path)
    if not isinstance(values, dict):
        raise ModelError(f"{path}: must hold a JSON object, got {type(values).__name__}")
    return Settings(path, values)


def read_optional(path: Path) -> Settings:
    """Read settings from a file that need not be there: then they are empty."""
    return read_settings(path) if is_model_file(path) else Settings(path, {})
