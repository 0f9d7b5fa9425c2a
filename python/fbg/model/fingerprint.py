"""Fingerprints of input, model, options and machine: if they agree, so do embeddings."""

from __future__ import annotations

import hashlib
import os
from dataclasses import astuple
from pathlib import Path
from typing import Any

from fbg import _fbg, isa
from fbg.files import open_regular
from fbg.model.model import Model


def fingerprint_file(path: Path) -> str:
    """Return a hash of the content of a file."""
    digest = hashlib.blake2b(digest_size=16)
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fingerprint_model(model: Model) -> dict[str, Any]:
    """Return JSON values that differ for models whose embeddings may differ in a bit.

    The files that were read to load it count by size and times of change at that moment;
    weights are too large to read again.
    """
    files = {
        os.path.relpath(path, model.directory): list(astuple(state))
        for path, state in sorted(model.reads.items())
    }
    return {
        "fbg": _fbg.__version__,
        "isa": [isa.active(), *isa.supported()],
        "directory": str(model.directory.resolve()),
        "dtype": model.dtype,
        "files": files,
    }
