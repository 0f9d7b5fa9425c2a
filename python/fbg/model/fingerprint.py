"""What tells whether embeddings would be the same again: input, model, options and machine."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from fbg import _fbg, isa
from fbg.files import open_regular
from fbg.model.model import Model

__all__ = ["fingerprint_file", "fingerprint_model"]


def fingerprint_file(path: Path) -> str:
    """Return a hash of the content of a file."""
    digest = hashlib.blake2b(digest_size=16)
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fingerprint_model(model: Model) -> dict[str, Any]:
    """Return JSON values that differ for models whose embeddings may differ in a bit.

    Files of the model count by size and time of change; weights are too large to read again.
    """
    files = {}
    for path in sorted(model.directory.rglob("*")):
        if path.suffix in (".json", ".safetensors") and path.is_file():
            status = path.stat()
            name = str(path.relative_to(model.directory))
            files[name] = [status.st_size, status.st_mtime_ns]
    return {
        "fbg": _fbg.__version__,
        "isa": [isa.active(), *isa.supported()],
        "directory": str(model.directory.resolve()),
        "dtype": model.dtype,
        "files": files,
    }
