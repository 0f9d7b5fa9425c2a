"""What the targets share: a temporary folder of the process, and the inputs of small models."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import fbg
from fbg.checkpoints.weights import copy_floats
from helpers import tiny_bert

__all__ = ["checkpoint", "copy_all_floats", "file_in", "saved"]

SMALL = tiny_bert.Geometry(8, 1, 2, 12, vocab_size=90, max_position_embeddings=12)


@cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="fbg-fuzz-")


def file_in(folder, name):
    """Return the path of a file in a folder of this process, which goes when the process ends."""
    path = Path(_folder().name) / folder
    path.mkdir(exist_ok=True)
    return path / name


def copy_all_floats(tensors):
    """Read the elements of all tensors of floats, as loading a model does."""
    for tensor in tensors:
        if tensor.dtype in ("float32", "float16", "bfloat16"):
            copy_floats(tensor, 1)


@cache
def checkpoint(folder):
    """Write a checkpoint of a very small BERT; return its folder."""
    return tiny_bert.write_checkpoint(file_in(folder, "x").parent, SMALL)


@cache
def saved(folder, dtype):
    """Write the same as a saved model; return its folder."""
    path = file_in(folder, "x").parent
    fbg.load(checkpoint("to_save"), dtype=dtype).save(path, overwrite=True)
    return path
